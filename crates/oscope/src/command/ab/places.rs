//! The places of the programs' input and output.

use crate::arguments::Common;
use crate::arguments::ab::{Ab, Programs};
use crate::exit::WrongUse;
use crate::target::{Replaces, Target};
use anyhow::{Context, Result, anyhow};
use files::names_standard_output;
use platform::file::{
    OpenMode, is_at, is_stream, open_without_waiting, open_write_without_waiting,
};
use std::fs::{self, File, OpenOptions};
use std::io::Seek;
use std::path::Path;

/// Standard output of the programs.
pub enum Output {
    Null,
    Pipe,
    Inherit,
    /// Standard error, where standard output carries data of oscope.
    Errors,
    File(File),
}

impl Output {
    /// Opens what the command line names, after [`check`]. `has_data` says that
    /// standard output carries data of oscope, which stays free of what the programs write.
    pub fn open(arguments: &Ab, has_data: bool) -> Result<Self> {
        let path = &arguments.programs.output;
        Ok(match path.to_str() {
            Some("null") => Self::Null,
            Some("pipe") => Self::Pipe,
            _ if is_inherited(path) => {
                if has_data {
                    Self::Errors
                } else {
                    Self::Inherit
                }
            }
            _ => {
                let file = open_file(path)?;
                // Under another name, too: each run writes it anew.
                if input(&arguments.programs).is_some_and(|input| is_at(&file, input)) {
                    let path = path.display();
                    return Err(WrongUse(format!(
                        "{path} is the input as well: name another file"
                    ))
                    .into());
                }
                Self::File(file)
            }
        })
    }
}

fn is_inherited(path: &Path) -> bool {
    path == Path::new("inherit") || names_standard_output(path)
}

/// The file for the programs' output.
pub fn output_file(options: &Programs) -> Option<&Path> {
    let path = options.output.as_path();
    let is_file = !is_inherited(path) && path != Path::new("null") && path != Path::new("pipe");
    is_file.then_some(path)
}

/// The file that each run reads.
pub fn input(options: &Programs) -> Option<&Path> {
    let path = options.input.as_path();
    (path != Path::new("null")).then_some(path)
}

/// Checks that the output can be written, and that each run can read the input from its start.
pub fn check(arguments: &Ab, common: &Common) -> Result<()> {
    if let Some(path) = output_file(&arguments.programs) {
        Target::new(path, Replaces::with(arguments.results.force), common)?;
    }
    input(&arguments.programs).map_or(Ok(()), check_input)
}

fn check_input(path: &Path) -> Result<()> {
    let cannot_read = || format!("cannot read {}", path.display());
    let refused = |what: &str| {
        WrongUse(format!(
            "{what} cannot be read by each run from its start: name a file with `--input`"
        ))
    };
    if path == Path::new("-") {
        return Err(refused("standard input").into());
    }
    let (mut file, metadata) = open_without_waiting(path).with_context(cannot_read)?;
    if metadata.is_dir() || file.rewind().is_err() {
        return Err(refused(&path.display().to_string()).into());
    }
    Ok(())
}

fn open_file(path: &Path) -> Result<File> {
    let cannot_write = || format!("cannot write {}", path.display());
    let is_stream = fs::metadata(path).is_ok_and(|metadata| is_stream(&metadata));
    // Held until the file is open, so that the reader of a pipe sees no end.
    let _held = match is_stream.then(|| open_write_without_waiting(path, OpenMode::Plain)) {
        None => None,
        Some(opened) => Some(opened?.ok_or_else(|| {
            let path = path.display();
            anyhow!("no program reads the pipe {path}: start one before the comparison")
        })?),
    };
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).open(path);
    file.with_context(cannot_write)
}
