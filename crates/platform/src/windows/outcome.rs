//! The outcomes of system calls as this crate's results.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::io::{self, ErrorKind};
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{FromRawHandle, OwnedHandle};
use std::path::Path;

use windows_sys::Win32::Foundation::{
    HANDLE, INVALID_HANDLE_VALUE, NTSTATUS, RtlNtStatusToDosError,
};
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

/// The handle that a call returned: 0 and -1 mean that it failed.
///
/// # Safety
/// The handle is new, and nothing else has it.
#[inline]
pub(super) unsafe fn owned(handle: HANDLE, action: &'static str) -> Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(failed(action));
    }
    // SAFETY: the caller's contract.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
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

/// A path as [`wide`] text. A long one takes the form that the system does not shorten to 260 units, as the
/// standard library gives it
/// ([limits of paths](https://learn.microsoft.com/en-us/windows/win32/fileio/maximum-file-path-limitation)).
pub(super) fn wide_path(path: &Path) -> Vec<u16> {
    // A directory must leave room for the short name of a file.
    const LONGEST: usize = 247;
    let plain = wide(path);
    let Ok(whole) = std::path::absolute(path) else {
        return plain;
    };
    let whole = wide(whole);
    let starts_with = |start: &str| {
        start
            .encode_utf16()
            .eq(whole.iter().copied().take(start.len()))
    };
    if whole.len() <= LONGEST || starts_with(r"\\?\") || starts_with(r"\\.\") {
        return plain;
    }
    let (prefix, skipped) = if starts_with(r"\\") {
        (r"\\?\UNC\", 2)
    } else {
        (r"\\?\", 0)
    };
    let rest = whole[skipped..].iter().copied();
    prefix.encode_utf16().chain(rest).collect()
}

/// The text before the first zero.
pub(super) fn text(wide: &[u16]) -> String {
    let end = wide.iter().position(|unit| *unit == 0);
    String::from_utf16_lossy(&wide[..end.unwrap_or(wide.len())])
}

// The errors of the C library.

// The C library is in every program, by the standard library.
unsafe extern "C" {
    /// The place of this thread's `errno`.
    fn _errno() -> *mut c_int;
    fn strerror(errno: c_int) -> *const c_char;
}

/// The error of the C library's last call. Its numbers are not those of the system.
#[cold]
pub(crate) fn c_failed(action: &'static str) -> Error {
    // SAFETY: the place belongs to this thread and always exists.
    Error::os(action)(c_error(unsafe { *_errno() }))
}

fn c_error(errno: c_int) -> io::Error {
    // SAFETY: the text belongs to this thread and is read before the next call.
    let words = unsafe { CStr::from_ptr(strerror(errno)) };
    io::Error::new(c_error_kind(errno), words.to_string_lossy().into_owned())
}

/// The kind of the errors that these calls give
/// ([errno constants](https://learn.microsoft.com/en-us/cpp/c-runtime-library/errno-constants)).
fn c_error_kind(errno: c_int) -> ErrorKind {
    match errno {
        2 => ErrorKind::NotFound,
        12 => ErrorKind::OutOfMemory,
        13 => ErrorKind::PermissionDenied,
        17 => ErrorKind::AlreadyExists,
        28 => ErrorKind::StorageFull,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_are_not_shortened() {
        let of = |path: &str| text(&wide_path(Path::new(path)));
        let long = "x".repeat(250);
        assert_eq!(of(r"C:\a\b"), r"C:\a\b");
        assert_eq!(of("a"), "a");
        assert_eq!(of(&format!(r"C:\{long}")), format!(r"\\?\C:\{long}"));
        let share = format!(r"\\server\share\{long}");
        assert_eq!(of(&share), format!(r"\\?\UNC\server\share\{long}"));
        let verbatim = format!(r"\\?\C:\{long}");
        assert_eq!(of(&verbatim), verbatim);
    }

    #[test]
    fn errors_of_the_c_library_have_its_words_and_a_kind() {
        let missing = c_error(2);
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert_eq!(missing.to_string(), "No such file or directory");
    }
}
