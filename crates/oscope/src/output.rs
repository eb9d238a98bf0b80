//! The two output streams: results go to standard output, everything else to standard error. Where
//! standard output carries data, such as a file written to `-`, results go to standard error too.

use crate::arguments::Common;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if a line for standard error could not be written.
static HAS_LOST_WORDS: AtomicBool = AtomicBool::new(false);

/// True if standard output had no reader.
static HAS_NO_READER: AtomicBool = AtomicBool::new(false);

/// Set if standard output carries data: true if results are not wanted on standard error.
static CARRIES_DATA: OnceLock<bool> = OnceLock::new();

/// Keeps standard output for data, if `target` is where it goes: from now on, results go to
/// standard error. With `--quiet`, which silences that, only those of `--json` do.
pub fn keep_for(target: &Path, common: &Common) {
    if files::is_standard_output(target) {
        CARRIES_DATA.get_or_init(|| common.quiet && !common.json);
    }
}

/// Prints a line on standard error, [on one line](on_one_line): it may contain names with line breaks. A write error
/// stops no work: see [`has_lost_words`]. A closed pipe is no error.
pub fn say(line: &str) {
    say_text(&on_one_line(line));
}

/// As [`say`], unless the user wants quiet.
pub fn note(common: &Common, line: &str) {
    if !common.quiet {
        say(line);
    }
}

/// As [`say`], for text of several lines.
pub fn say_text(text: &str) {
    write_error(&(harmless(text) + "\n"));
}

/// The same with colours, for text that ends with a line break.
pub fn say_painted(text: &str) {
    write_error(&painted(text));
}

fn write_error(text: &str) {
    match io::stderr().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            HAS_LOST_WORDS.store(true, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// True if a line could not be written, for example because the disk is full.
pub fn has_lost_words() -> bool {
    HAS_LOST_WORDS.load(Ordering::Relaxed)
}

/// True if standard output was a pipe whose reader went away.
pub fn has_no_reader() -> bool {
    HAS_NO_READER.load(Ordering::Relaxed)
}

/// Prints results, made [`harmless`] for a terminal.
pub fn show(text: &str) -> Result<()> {
    show_clean(&harmless(text))
}

/// Prints a value as indented JSON.
pub fn show_json(value: &impl Serialize) -> Result<()> {
    show(&json(value)?)
}

/// A value as indented JSON, with a line break at the end.
pub fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// The same as [`show`], but keeps colours. The caller has already [sanitised](crate::sanitise) all
/// text from elsewhere.
pub fn show_painted(text: &str) -> Result<()> {
    show_clean(&painted(text))
}

fn show_clean(text: &str) -> Result<()> {
    match CARRIES_DATA.get() {
        None => print(text.as_bytes())?,
        Some(true) => {}
        Some(false) => write_error(text),
    }
    Ok(())
}

/// `text` as [`harmless`] makes it, with its colours.
pub fn painted(text: &str) -> String {
    cleaned(text, colour_length)
}

/// `text` without escape sequences and other characters that control a terminal or change the order
/// of the text: names and reasons may come from other people's files. Keeps line breaks.
pub fn harmless(text: &str) -> String {
    cleaned(text, |_| 0)
}

/// `text` made [`harmless`], on a single line.
pub fn on_one_line(text: &str) -> String {
    harmless(text).replace('\n', "\u{fffd}")
}

/// Bytes that are checked together.
const PIECE: usize = 4096;

/// True if [`harmless`] changes nothing.
pub fn is_harmless(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, further) = rest.split_at(rest.floor_char_boundary(PIECE));
        // Nearly all text is plain, and a check without a branch for each byte is many times as fast.
        let is_plain = |byte: &u8| (b' '..0x7f).contains(byte) || *byte == b'\n';
        let is_all_plain = piece
            .as_bytes()
            .iter()
            .fold(true, |all, byte| all & is_plain(byte));
        if !is_all_plain && piece.contains(does_harm) {
            return false;
        }
        rest = further;
    }
    true
}

/// True for characters that change the display of the text around them.
fn does_harm(character: char) -> bool {
    // The last two ranges change the direction of the text.
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || character.is_control() && character != '\n'
}

/// `text` without harmful characters, except for those that `kept_length` keeps: it returns the
/// number of bytes to keep at the start of its argument.
fn cleaned(text: &str, kept_length: fn(&str) -> usize) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(does_harm) {
        shown += &rest[..at];
        rest = &rest[at..];
        let kept = kept_length(rest);
        shown += &rest[..kept];
        if kept == 0 {
            shown.push(char::REPLACEMENT_CHARACTER);
        }
        let harmful = rest.chars().next().map_or(0, char::len_utf8);
        rest = &rest[kept.max(harmful)..];
    }
    shown + rest
}

/// Length in bytes of the colour sequence at the start of `text`, such as `ESC [ 1 m`; zero if
/// there is none.
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

/// Writes data to standard output. A reader that closes the pipe early is no error; a
/// standard output that was never open is one.
pub fn print(contents: &[u8]) -> Result<()> {
    if !contents.is_empty() && !platform::startup::had_standard_output() {
        bail!("cannot write to standard output: it is not open for writing");
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(contents).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        Err(_) => {
            HAS_NO_READER.store(true, Ordering::Relaxed);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{cleaned, colour_length, harmless};

    #[test]
    fn only_line_breaks_reach_the_terminal() {
        let coloured = "\u{1b}[1;31mbroken\u{1b}[0m\n";
        assert_eq!(cleaned(coloured, colour_length), coloured);
        assert_eq!(harmless(coloured), "\u{fffd}[1;31mbroken\u{fffd}[0m\n");
        for clean in [harmless, |text: &str| cleaned(text, colour_length)] {
            assert_eq!(clean("a\u{1b}]0;title\u{7}b"), "a\u{fffd}]0;title\u{fffd}b");
            assert_eq!(clean("\u{1b}[2J"), "\u{fffd}[2J");
            assert_eq!(clean("\r\u{9b}6n"), "\u{fffd}\u{fffd}6n");
            assert_eq!(clean("exe.\u{202e}txt"), "exe.\u{fffd}txt");
        }
    }
}
