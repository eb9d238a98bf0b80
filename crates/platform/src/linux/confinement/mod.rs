//! Control groups with a limit and temporary swap, and how they are undone.

mod group;
mod swap_file;

use std::io;
use std::path::Path;

pub(crate) use group::{Group, can_limit_memory};
pub(crate) use swap_file::SwapFile;

use super::parse::{colon_field, kibibytes};
use super::read::text;
use crate::error::Result;

pub(crate) fn free_swap_bytes() -> u64 {
    text("/proc/meminfo")
        .and_then(|meminfo| colon_field(&meminfo, "SwapFree").and_then(kibibytes))
        .unwrap_or(0)
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
