use std::path::Path;

use super::refuse;
use crate::Result;

#[derive(Debug)]
pub(crate) enum Group {}

impl Group {
    pub(crate) fn create(_limit_bytes: u64, _scratch: &Path) -> Result<Self> {
        refuse("limiting the memory of a worker")
    }

    pub(crate) fn forbid_swap(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        match *self {}
    }
}

#[derive(Debug)]
pub(crate) enum SwapFile {}

impl SwapFile {
    pub(crate) fn create(_len_bytes: u64, _scratch: &Path) -> Result<Self> {
        refuse("a temporary swap file")
    }
}

pub(crate) fn can_limit_memory() -> bool {
    false
}

pub(crate) fn free_swap_bytes() -> u64 {
    0
}

pub(crate) fn is_record(_name: &str) -> bool {
    false
}

/// Nothing to undo: nothing can be created here.
#[expect(clippy::unnecessary_wraps, reason = "other systems may fail")]
pub(crate) fn undo(_scratch: &Path) -> Result<()> {
    Ok(())
}
