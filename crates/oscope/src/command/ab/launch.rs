//! Starts the programs and the commands around them, with their input and output.

use super::programs::{self, needs_shell};
use crate::arguments::Common;
use crate::arguments::ab::{Ab, Codes, Programs};
use crate::exit::{WrongUse, code_of};
use crate::target::{Replaces, Target};
use anyhow::{Context, Result, anyhow, bail};
use files::names_standard_output;
use platform::file::{
    OpenMode, is_at, is_stream, open_without_waiting, open_write_without_waiting,
};
use platform::process::Exit;
use platform::program::{Output as Stream, Program, ProgramError, Ran, Starter};
use platform::signal::Interrupt;
use std::fs::{self, File, OpenOptions};
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Starts programs.
pub struct Launcher {
    /// The words of the shell; `None` to start programs directly.
    pub shell: Option<Vec<String>>,
    input: Option<PathBuf>,
    output: Output,
    ignored: Option<Codes>,
    interrupt: Interrupt,
    pub starter: Starter,
}

impl Launcher {
    /// Starts programs whose standard output goes to `output`.
    pub fn new(
        shell: Option<Vec<String>>,
        options: &Programs,
        output: Output,
        interrupt: Interrupt,
    ) -> Result<Self> {
        Ok(Self {
            shell,
            input: input(options).map(Path::to_owned),
            output,
            ignored: options.ignore_failure.clone(),
            interrupt,
            starter: Starter::new().context("cannot start the process that starts commands")?,
        })
    }

    /// Runs the command of a program once; `None` if the user asked to stop. True is a success,
    /// false a failure that is ignored, as that of a command that was stopped is.
    pub fn run(&self, text: &str) -> Result<Option<(Ran, bool)>> {
        let words = words_of(text, self.shell.as_deref())?;
        let (stdout, stderr) = match &self.output {
            Output::Null => (Stream::Null, Stream::Pipe),
            Output::Pipe => (Stream::Pipe, Stream::Pipe),
            Output::Inherit => (Stream::Inherit, Stream::Inherit),
            Output::Errors => (Stream::Errors, Stream::Inherit),
            Output::File(file) => {
                // Each run writes the file anew.
                if file.metadata()?.is_file() {
                    file.set_len(0)?;
                    let mut start = file;
                    start.rewind()?;
                }
                (Stream::File(file), Stream::Pipe)
            }
        };
        let stdin = self.stdin()?;
        let program = Program {
            words: &words,
            stdin: stdin.as_ref(),
            stdout,
            stderr,
        };
        let Some(ran) = self.complete(&program, text, self.interrupt.flag())? else {
            return Ok(None);
        };
        let is_success = ran.finished.exit.is_success();
        if !is_success && !self.is_ignored(ran.finished.exit) && !ran.was_stopped {
            bail!(
                "'{text}' failed with {}{}; `--ignore-failure` goes on",
                ran.finished.exit,
                quoted(&ran.stderr)
            );
        }
        Ok(Some((ran, is_success)))
    }

    /// Time of a command that does nothing, started in the same way; `None` if there is none.
    pub fn start_ns(&self) -> Option<f64> {
        let words = words_of("true", self.shell.as_deref()).ok()?;
        let ran = self
            .starter
            .run(&aside(&words), self.interrupt.flag())
            .ok()??;
        Some(ran.wall_ns as f64)
    }

    /// Runs a command around a measurement, such as a preparation, if there is one; false if the user asked to stop.
    pub fn run_around(&self, text: Option<&str>) -> Result<bool> {
        text.map_or(Ok(true), |text| self.auxiliary(text, self.interrupt.flag()))
    }

    /// Runs a command that undoes others, also when the user asked to stop.
    pub fn clean_up(&self, text: &str) -> Result<()> {
        self.auxiliary(text, &AtomicBool::new(false)).map(drop)
    }

    fn auxiliary(&self, text: &str, interrupted: &AtomicBool) -> Result<bool> {
        let usual = [String::from("sh")];
        let shell = match &self.shell {
            Some(shell) => Some(shell.as_slice()),
            None => needs_shell(text).then_some(usual.as_slice()),
        };
        let words = words_of(text, shell)?;
        let Some(ran) = self.complete(&aside(&words), text, interrupted)? else {
            return Ok(false);
        };
        if !ran.finished.exit.is_success() {
            let exit = ran.finished.exit;
            bail!("'{text}' failed with {exit}{}", quoted(&ran.stderr));
        }
        Ok(true)
    }

    /// Ends all processes that commands left behind; a sentence about them if there are any.
    pub fn end_all_leftovers(&self) -> Option<String> {
        let left = self.starter.end_all_leftovers();
        let processes = if left == 1 { "process" } else { "processes" };
        (left > 0)
            .then(|| format!("ended {left} {processes} that commands around the runs left behind"))
    }

    /// Runs a program to its end; `None` if `interrupted` became true.
    fn complete(
        &self,
        program: &Program<'_>,
        text: &str,
        interrupted: &AtomicBool,
    ) -> Result<Option<Ran>> {
        self.starter
            .run(program, interrupted)
            .map_err(|error| match error {
                ProgramError::Start(error) => {
                    let name = &program.words[0];
                    anyhow::Error::new(error).context(format!("cannot start '{name}' of '{text}'"))
                }
                error => anyhow::Error::new(error).context(format!("'{text}' did not end")),
            })
    }

    fn stdin(&self) -> Result<Option<File>> {
        let open = |path: &PathBuf| {
            File::open(path).with_context(|| format!("cannot read {}", path.display()))
        };
        self.input.as_ref().map(open).transpose()
    }

    fn is_ignored(&self, exit: Exit) -> bool {
        match &self.ignored {
            None => false,
            Some(Codes::All) => true,
            Some(Codes::These(codes)) => codes.contains(&code_of(exit)),
        }
    }
}

/// A program whose input is empty and whose output is discarded.
fn aside(words: &[String]) -> Program<'_> {
    Program {
        words,
        stdin: None,
        stdout: Stream::Null,
        stderr: Stream::Pipe,
    }
}

/// The name and the arguments of the program that `text` names.
fn words_of(text: &str, shell: Option<&[String]>) -> Result<Vec<String>, WrongUse> {
    match shell {
        Some(shell) => Ok([shell, &["-c".to_owned(), text.to_owned()]].concat()),
        None => programs::words(text),
    }
}

/// The last words of a program, if any.
fn quoted(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

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
    /// Opens what the command line names, after [`check`]. `has_data` is true if
    /// standard output carries data of oscope, which stays free of what the programs write.
    pub fn open(arguments: &Ab, has_data: bool) -> Result<Self> {
        let path = &arguments.programs.output;
        let is_inherited = arguments.programs.show_output || is_inherited(path);
        Ok(match path.to_str() {
            _ if is_inherited => {
                if has_data {
                    Self::Errors
                } else {
                    Self::Inherit
                }
            }
            Some("null") => Self::Null,
            Some("pipe") => Self::Pipe,
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
