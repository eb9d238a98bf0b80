//! Small files whose writes wait for the device.

use crate::prelude::*;
use platform::file::{OpenMode, create};
use platform::storage::Storage;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The size of each write.
pub(super) const BLOCK_BYTES: u64 = 4 << 10;
/// The size at which a file begins anew.
pub(super) const FILE_BYTES: u64 = 4 << 20;

/// The content of a block.
pub(super) fn block() -> Vec<u8> {
    vec![0x5a; BLOCK_BYTES as usize]
}

/// The storage behind a directory, which must be a device.
pub(super) fn device_behind(directory: &Path) -> Result<Storage, MeasureError> {
    let storage = Storage::behind(directory)?;
    if storage.is_memory() {
        return Err(MeasureError::Unsupported(format!(
            "there is no device to wait for: {} is memory; name a directory on a disk",
            storage.file_system
        )));
    }
    Ok(storage)
}

/// A new file of so many blocks, which are on the device.
pub(super) fn make(path: &Path, blocks: u64) -> Result<File, MeasureError> {
    let mut file = create(path, OpenMode::Plain)?;
    let block = block();
    (0..blocks)
        .try_for_each(|_| file.write_all(&block))
        .map_err(MeasureError::system("make the scratch file"))?;
    file.sync_all()
        .map_err(MeasureError::system("put the scratch file on the device"))?;
    Ok(file)
}
