//! The state of this process at its start.

use std::io;
use std::path::PathBuf;

use crate::os;

/// The file of this program, to start it once more: also where there is no `/proc` to ask, if the working
/// directory is still the one in which it was started.
///
/// # Errors
/// If the system does not tell.
pub fn program() -> io::Result<PathBuf> {
    std::env::current_exe().or_else(|error| os::startup::started_as().ok_or(error))
}

face! {
    os::startup;

    /// True if standard input was open for reading when this process started. Otherwise reads of it end
    /// at once, without an error, for the same reason as in [`had_standard_output`].
    pub fn had_standard_input() -> bool = true;

    /// True if standard output was open for writing when this process started. Otherwise output is lost
    /// without an error: before `main`, the standard library opens `/dev/null` in place of a closed
    /// standard stream, and it reports success for writes to a stream that is open for reading only.
    pub fn had_standard_output() -> bool = true;

    // The file of this program, as its first argument names it.
    fn started_as() -> Option<PathBuf> = None;
}
