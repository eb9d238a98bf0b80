use std::path::Path;

use crate::error::{Result, refuse};
pub(crate) use crate::storage::lacking::*;
use crate::storage::{LoopFile, Storage};

pub(crate) fn behind(_path: &Path) -> Result<Storage> {
    refuse("the storage behind a path")
}

pub(crate) fn loop_file(_block_device: &str) -> Option<LoopFile> {
    None
}
