use std::path::Path;

use super::refuse;
use crate::Result;
use crate::storage::{LoopFile, Storage};

pub(crate) fn behind(_path: &Path) -> Result<Storage> {
    refuse("the storage behind a path")
}

pub(crate) fn free_bytes(_path: &Path) -> Result<u64> {
    refuse("the space behind a path")
}

pub(crate) fn loop_file(_block_device: &str) -> Option<LoopFile> {
    None
}
