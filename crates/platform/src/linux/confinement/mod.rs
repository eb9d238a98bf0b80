//! Control groups with a limit and temporary swap, and their removal.

mod group;
mod swap_file;

use std::io;
use std::path::Path;
use std::time::Duration;

pub use group::{MemoryGroup, can_limit_memory};
pub use swap_file::SwapFile;

use super::system_memory::SystemMemory;
use crate::error::Result;

/// Free swap space, in bytes.
pub fn free_swap_bytes() -> u64 {
    SystemMemory::read().swap_free.unwrap_or(0)
}

/// True for the names of the files that tell [`undo`] what to undo.
pub(crate) fn is_record(name: &str) -> bool {
    [group::RECORD, swap_file::NAME].contains(&name)
}

/// Undoes everything created for a scratch directory.
// The order matters: a running process would read its pages back from swap, the limit would prevent the
// kernel from reading them back, and an active swap file cannot be removed.
pub(crate) fn undo(scratch: &Path, exit_wait: Duration) -> Result<()> {
    let group = group::recorded(scratch)?;
    if let Some(group) = &group {
        group.empty(exit_wait)?;
    }
    swap_file::remove(scratch)?;
    match group {
        Some(group) => group.remove(scratch, exit_wait),
        None => Ok(()),
    }
}

/// Accepts an error that says that the object is gone already.
fn unless_missing(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
