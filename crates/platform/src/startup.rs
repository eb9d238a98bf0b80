//! The state of this process at its start.

use std::io;
use std::path::PathBuf;

use crate::os;

pub use crate::os::startup::{had_standard_input, had_standard_output, has_small_stack};

/// The file of this program, to start it once more: also where there is no `/proc` to ask, if the working
/// directory is still the one in which it was started.
///
/// # Errors
/// If the system does not tell.
pub fn program() -> io::Result<PathBuf> {
    std::env::current_exe().or_else(|error| os::startup::started_as().ok_or(error))
}
