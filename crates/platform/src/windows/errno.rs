//! The errors of the C library.

use std::ffi::{CStr, c_char, c_int};
use std::io::{self, ErrorKind};

use crate::error::Error;

// The C library is in every program, by the standard library.
unsafe extern "C" {
    /// The place of this thread's `errno`.
    fn _errno() -> *mut c_int;
    fn strerror(errno: c_int) -> *const c_char;
}

/// The error of the C library's last call. Its numbers are not those of the system.
#[cold]
pub(super) fn failed(action: &'static str) -> Error {
    // SAFETY: the place belongs to this thread and always exists.
    Error::os(action)(error(unsafe { *_errno() }))
}

fn error(errno: c_int) -> io::Error {
    // SAFETY: the text belongs to this thread and is read before the next call.
    let words = unsafe { CStr::from_ptr(strerror(errno)) };
    io::Error::new(kind(errno), words.to_string_lossy().into_owned())
}

/// The kind of the errors that these calls give
/// ([errno constants](https://learn.microsoft.com/en-us/cpp/c-runtime-library/errno-constants)).
fn kind(errno: c_int) -> ErrorKind {
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
    fn errors_of_the_c_library_have_its_words_and_a_kind() {
        let missing = error(2);
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert_eq!(missing.to_string(), "No such file or directory");
    }
}
