//! Files that the user asked for: complete, or not there at all.

use crate::arguments::Output;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes `contents` where the user asked for it.
pub fn write(output: &Output, contents: &[u8]) -> Result<()> {
    if output.output == Path::new("-") {
        return print(contents);
    }
    if output.output.exists() && !output.force {
        bail!(
            "{} is there already; `--force` writes over it",
            output.output.display()
        );
    }
    replace(&output.output, contents)
}

/// Writes `contents` to standard output. A reader that has seen enough is no error.
pub fn print(contents: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(contents).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Puts a file with `contents` at `path`, whole or not at all.
pub fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let name = path
        .file_name()
        .with_context(|| format!("{} names no file", path.display()))?;
    // A device or a pipe takes what it is given; there is nothing to put in its place.
    if path.exists() && !path.is_file() {
        return fs::write(path, contents).with_context(|| cannot_write(path));
    }
    let partial = directory.join(format!(
        ".{}.{}.part",
        name.to_string_lossy(),
        std::process::id()
    ));
    let written = File::create(&partial)
        .and_then(|mut file| file.write_all(contents))
        .and_then(|()| fs::rename(&partial, path));
    written
        .inspect_err(|_| drop(fs::remove_file(&partial)))
        .with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::write;
    use crate::arguments::Output;
    use std::fs;

    #[test]
    fn a_file_that_is_there_stays_without_force() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.html");
        let output = |force| Output {
            output: path.clone(),
            force,
        };
        write(&output(false), b"first").unwrap();
        let error = write(&output(false), b"second").unwrap_err().to_string();
        assert!(error.contains("--force"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(&output(true), b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let output = Output {
            output: "/nonexistent/page.html".into(),
            force: false,
        };
        let error = format!("{:#}", write(&output, b"").unwrap_err());
        assert!(error.contains("/nonexistent/page.html"), "{error}");
    }
}
