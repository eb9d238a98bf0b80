//! Windows has no control groups and no swap files.

use std::path::Path;
use std::time::Duration;

use crate::Result;
use crate::error::refuse;

pub fn can_limit_memory() -> bool {
    false
}

pub fn free_swap_bytes() -> u64 {
    0
}

pub(crate) fn is_record(_name: &str) -> bool {
    false
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(crate) fn undo(_scratch: &Path, _exit_wait: Duration) -> Result<()> {
    Ok(())
}

#[derive(Debug)]
pub enum MemoryGroup {}

impl MemoryGroup {
    pub fn create(_limit_bytes: u64, _scratch: &Path, _exit_wait: Duration) -> Result<Self> {
        refuse("limiting the memory of a worker")
    }

    pub fn forbid_swap(&self) -> Result<()> {
        match *self {}
    }

    pub fn peak_bytes(&self) -> Option<u64> {
        match *self {}
    }
}

#[derive(Debug)]
pub enum SwapFile {}

impl SwapFile {
    pub fn create(_len_bytes: u64, _scratch: &Path) -> Result<Self> {
        refuse("a temporary swap file")
    }
}
