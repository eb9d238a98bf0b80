//! The outcomes of system calls as this crate's results.

use std::ffi::OsStr;
use std::io;
use std::os::windows::ffi::OsStrExt;

use windows_sys::core::BOOL;

use crate::error::{Error, Result};

/// The error of the last call of this thread.
pub(super) fn failed(action: &'static str) -> Error {
    Error::os(action)(io::Error::last_os_error())
}

/// Turns the outcome of a call into a result: 0 means that it failed.
pub(super) fn check(outcome: BOOL, action: &'static str) -> Result<()> {
    match outcome {
        0 => Err(failed(action)),
        _ => Ok(()),
    }
}

/// UTF-16 with a zero at the end.
pub(super) fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// The text before the first zero.
pub(super) fn text(wide: &[u16]) -> String {
    let end = wide.iter().position(|unit| *unit == 0);
    String::from_utf16_lossy(&wide[..end.unwrap_or(wide.len())])
}
