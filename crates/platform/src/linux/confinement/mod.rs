//! Control groups with a limit and temporary swap, and how they are undone.

mod group;
mod swap_file;

use std::io;
use std::path::Path;

pub(crate) use group::{Group, can_limit_memory};
pub(crate) use swap_file::SwapFile;

use super::system_memory::SystemMemory;
use crate::error::Result;

pub(crate) fn free_swap_bytes() -> u64 {
    SystemMemory::read().swap_free.unwrap_or(0)
}

/// True for the names of the files by which [`undo`] finds its work.
pub(crate) fn is_record(name: &str) -> bool {
    [group::RECORD, swap_file::NAME].contains(&name)
}

/// Undoes what was made for a scratch directory. The order matters: a process that still runs would
/// fetch its pages back, the limit would keep the kernel from fetching them, and a file in use as
/// swap cannot be removed.
pub(crate) fn undo(scratch: &Path) -> Result<()> {
    let group = group::recorded(scratch)?;
    if let Some(group) = &group {
        group.empty()?;
    }
    swap_file::remove(scratch)?;
    match group {
        Some(group) => group.remove(scratch),
        None => Ok(()),
    }
}

/// For what may be gone already.
fn unless_missing(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
