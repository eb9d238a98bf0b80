use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::windows::fs::FileExt;

use windows_sys::Win32::Storage::FileSystem::{FILE_STORAGE_INFO, FileStorageInfo};

use super::identity::information;
use crate::block_io::DirectAlignment;
pub(crate) use crate::block_io::lacking::*;
use crate::error::{Error, Result};

/// Unlike `pread`, the call moves the file's position.
#[inline]
pub(crate) fn read_at(file: &File, block: &mut [u8], offset: u64) -> Result<usize> {
    file.seek_read(block, offset)
        .map_err(Error::os("read a file"))
}

/// As [`read_at`], it moves the file's position.
#[inline]
pub(crate) fn write_at(file: &File, mut block: &[u8], mut offset: u64) -> Result<()> {
    while !block.is_empty() {
        let count = file
            .seek_write(block, offset)
            .and_then(|count| match count {
                0 => Err(io::Error::from(ErrorKind::WriteZero)),
                count => Ok(count),
            })
            .map_err(Error::os("write a file"))?;
        block = &block[count..];
        offset += count as u64;
    }
    Ok(())
}

/// Offsets, lengths and addresses must be multiples of the sector
/// ([File buffering](https://learn.microsoft.com/en-us/windows/win32/fileio/file-buffering)).
#[expect(clippy::unnecessary_wraps, reason = "other systems refuse some files")]
pub(crate) fn direct_alignment(file: &File) -> Result<Option<DirectAlignment>> {
    // SAFETY: the class has this type.
    let told: Result<FILE_STORAGE_INFO> = unsafe { information(file, FileStorageInfo) };
    let sector = told.map_or(0, |told| told.LogicalBytesPerSector);
    Ok((sector > 0).then_some(DirectAlignment {
        memory_bytes: sector,
        offset_bytes: sector,
    }))
}
