//! The state in which this process was started.

use crate::os;

/// True if standard output was open for writing when this process started. If it was not, output is lost
/// without an error: before `main`, the standard library opens `/dev/null` in place of a closed standard
/// stream, and it reports success for writes to one that is open for reading only.
pub fn had_standard_output() -> bool {
    os::startup::had_standard_output()
}
