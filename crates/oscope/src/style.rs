//! The terminal's capabilities.

use crate::arguments::Common;
use crate::output;
use anyhow::Result;
use clap::ColorChoice;
use console::Term;
use report::document::Document;
use report::terminal::{self, Style};
use serde::Serialize;
use std::io::IsTerminal;

/// Table width if there is no terminal.
const WIDTH_WITHOUT_TERMINAL: usize = 100;

/// The style for standard output, with the colours that the command line asks for.
pub fn of_stdout(common: &Common) -> Style {
    of(&Term::stdout(), std::io::stdout().is_terminal(), common)
}

/// The same for standard error.
pub fn of_stderr(common: &Common) -> Style {
    of(&Term::stderr(), std::io::stderr().is_terminal(), common)
}

fn of(terminal: &Term, is_terminal: bool, common: &Common) -> Style {
    let size = terminal.size_checked().filter(|_| is_terminal);
    let paints = || paints(terminal);
    Style {
        width: size.map_or(WIDTH_WITHOUT_TERMINAL, |(_, columns)| columns.into()),
        colour: match common.color {
            ColorChoice::Always => {
                paints();
                true
            }
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                is_terminal && !is_dumb() && std::env::var_os("NO_COLOR").is_none() && paints()
            }
        },
        unicode: speaks_unicode(),
    }
}

/// A result for standard output: JSON if the command line asks for it, else a document.
pub fn text<'d, J: Serialize>(
    common: &Common,
    json: impl FnOnce() -> J,
    document: impl FnOnce() -> Document<'d>,
) -> Result<String> {
    if common.json {
        return output::json(&json());
    }
    Ok(painted(&document(), common))
}

/// Prints a result as [`text`].
pub fn show<'d, J: Serialize>(
    common: &Common,
    json: impl FnOnce() -> J,
    document: impl FnOnce() -> Document<'d>,
) -> Result<()> {
    output::show_painted(&text(common, json, document)?)
}

/// `document` for standard output.
pub fn painted(document: &Document<'_>, common: &Common) -> String {
    terminal::paint(document, &of_stdout(common), false)
}

/// True if standard error is a terminal on which a line can be drawn again.
pub fn is_stderr_live() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

/// True for a terminal that has no escape sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// True if this terminal paints escape sequences. A console of Windows does so once it was asked for, which this
/// does.
fn paints(terminal: &Term) -> bool {
    !cfg!(windows) || terminal.features().colors_supported()
}

/// Rows and columns of the terminal that standard error is.
pub fn size_of_stderr() -> Option<(usize, usize)> {
    let (rows, columns) = Term::stderr().size_checked()?;
    Some((rows.into(), columns.into()))
}

/// True if the locale is UTF-8. Without any locale, as in many containers, it counts as UTF-8,
/// because all current terminals support that.
fn speaks_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty());
    locale.is_none_or(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
