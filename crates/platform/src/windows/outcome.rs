//! The outcomes of system calls as this crate's results.

use std::ffi::OsStr;
use std::io;
use std::os::windows::ffi::OsStrExt;

use windows_sys::Win32::Foundation::{NTSTATUS, RtlNtStatusToDosError};
use windows_sys::core::BOOL;

use crate::error::{Error, Result};

/// The error of the last call of this thread. Apart from the path of calls that are measured.
#[cold]
pub(super) fn failed(action: &'static str) -> Error {
    Error::os(action)(io::Error::last_os_error())
}

/// Turns the outcome of a call into a result: 0 means that it failed.
#[inline]
pub(super) fn check(outcome: BOOL, action: &'static str) -> Result<()> {
    match outcome {
        0 => Err(failed(action)),
        _ => Ok(()),
    }
}

/// As [`check`], for a call of the kernel itself: a negative status means that it failed.
#[inline]
pub(super) fn check_status(status: NTSTATUS, action: &'static str) -> Result<()> {
    if status >= 0 {
        return Ok(());
    }
    // SAFETY: the call takes any status.
    let code = unsafe { RtlNtStatusToDosError(status) };
    Err(Error::os(action)(io::Error::from_raw_os_error(
        code.cast_signed(),
    )))
}

/// The system's code of an error.
pub(super) fn code(error: &io::Error) -> Option<u32> {
    error.raw_os_error().map(i32::cast_unsigned)
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
