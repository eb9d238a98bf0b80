//! Files that the user asked for: complete, or not there at all.

use crate::arguments::Output;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Whether a line for standard error could not be written there.
static HAS_LOST_WORDS: AtomicBool = AtomicBool::new(false);

/// Says a line on standard error, [`harmless`] to a terminal. What cannot be said stops no work: see
/// [`has_lost_words`]. That nobody listens any more is no error.
pub fn say(line: &str) {
    match writeln!(io::stderr(), "{}", harmless(line)) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            HAS_LOST_WORDS.store(true, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// Whether something could not be said, as on a disk that is full.
pub fn has_lost_words() -> bool {
    HAS_LOST_WORDS.load(Ordering::Relaxed)
}

/// Writes text for people to standard output, [`harmless`] to their terminal.
pub fn show(text: &str) -> Result<()> {
    print(harmless(text).as_bytes())
}

/// `text` without the control characters that could make a terminal do things: names and reasons
/// may come from a file that somebody else made. Line breaks and colours stay.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_control() && c != '\n') {
        shown += &rest[..at];
        rest = &rest[at..];
        let kept = colour_length(rest);
        shown += &rest[..kept];
        if kept == 0 {
            shown.push(char::REPLACEMENT_CHARACTER);
        }
        let control = rest.chars().next().map_or(0, char::len_utf8);
        rest = &rest[kept.max(control)..];
    }
    shown + rest
}

/// Length of the colour sequence that `text` begins with, such as `ESC [ 1 m`; zero if it begins
/// with none.
fn colour_length(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let length = parameters
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b';')
        .count();
    let is_colour = parameters.as_bytes().get(length) == Some(&b'm');
    if is_colour {
        "\u{1b}[m".len() + length
    } else {
        0
    }
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
    use super::{harmless, write};
    use crate::arguments::Output;
    use std::fs;

    #[test]
    fn only_colours_and_line_breaks_reach_the_terminal() {
        let coloured = "\u{1b}[1;31mbroken\u{1b}[0m\n";
        assert_eq!(harmless(coloured), coloured);
        assert_eq!(
            harmless("a\u{1b}]0;title\u{7}b"),
            "a\u{fffd}]0;title\u{fffd}b"
        );
        assert_eq!(harmless("\u{1b}[2J"), "\u{fffd}[2J");
        assert_eq!(harmless("\r\u{9b}6n"), "\u{fffd}\u{fffd}6n");
    }

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
