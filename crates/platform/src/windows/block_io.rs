use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::windows::fs::FileExt;
use std::os::windows::io::AsRawHandle;
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_STORAGE_INFO, FILE_TYPE_PIPE, FileStorageInfo, GetFileType,
};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;

use super::identity::information;
use crate::block_io::{DirectAlignment, ReadManner};
use crate::error::{Error, Result, refuse};

/// Unlike `pread`, the call moves the file's position.
#[inline]
pub fn read_at(file: &File, block: &mut [u8], offset: u64) -> Result<usize> {
    file.seek_read(block, offset)
        .map_err(Error::os("read a file"))
}

/// As [`read_at`], it moves the file's position.
#[inline]
pub fn write_at(file: &File, mut block: &[u8], mut offset: u64) -> Result<()> {
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

/// A pipe is asked again and again: Windows has no wait for its data that takes none of it.
pub fn wait_readable(file: &File, timeout: Duration) -> Result<bool> {
    const PAUSE: Duration = Duration::from_millis(1);
    // SAFETY: the handle is open.
    if unsafe { GetFileType(file.as_raw_handle()) } != FILE_TYPE_PIPE {
        return Ok(true);
    }
    let deadline = Instant::now() + timeout;
    loop {
        let mut waiting_bytes = 0;
        let (none, zero) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the handle is open, there is room for the number, and nothing else is asked for.
        let outcome = unsafe {
            PeekNamedPipe(
                file.as_raw_handle(),
                none,
                0,
                zero,
                &raw mut waiting_bytes,
                ptr::null_mut(),
            )
        };
        // A pipe without a writer says so at the next read.
        if outcome == 0 || waiting_bytes > 0 {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
}

/// Offsets, lengths and addresses must be multiples of the sector
/// ([File buffering](https://learn.microsoft.com/en-us/windows/win32/fileio/file-buffering)).
pub fn direct_alignment(file: &File) -> Result<Option<DirectAlignment>> {
    // SAFETY: the class has this type.
    let told: Result<FILE_STORAGE_INFO> = unsafe { information(file, FileStorageInfo) };
    let sector = told.map_or(0, |told| told.LogicalBytesPerSector);
    Ok((sector > 0).then_some(DirectAlignment {
        memory_bytes: sector,
        offset_bytes: sector,
    }))
}

pub fn read_at_as(
    _file: &File,
    _block: &mut [u8],
    _offset: u64,
    _manner: ReadManner,
) -> Result<Option<usize>> {
    refuse("reading in another manner")
}

pub fn copy_range(_from: &File, _to: &File, _len: usize) -> Result<usize> {
    refuse("copying within the kernel")
}

pub fn share_blocks(_from: &File, _to: &File) -> Result<()> {
    refuse("sharing blocks between files")
}

pub fn wait_writable(_file: &File, _timeout: Duration) -> Result<bool> {
    refuse("waiting for a file")
}
