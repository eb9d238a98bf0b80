//! Reads the small text files of `/proc` and `/sys`.

use std::fs;
use std::path::Path;
use std::str::FromStr;

/// The whole text, trimmed; `None` if it cannot be read.
pub(super) fn text(path: impl AsRef<Path>) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// As [`text`]; also `None` if it is empty.
pub(super) fn word(path: impl AsRef<Path>) -> Option<String> {
    text(path).filter(|text| !text.is_empty())
}

/// The text as a number.
pub(super) fn number<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    text(path)?.parse().ok()
}
