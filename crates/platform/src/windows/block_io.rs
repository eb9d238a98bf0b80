use std::ffi::{c_char, c_int};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::RangeInclusive;
use std::os::windows::fs::FileExt;
use std::os::windows::io::{AsRawHandle, IntoRawHandle};
use std::ptr::NonNull;
use std::time::{Duration, Instant};
use std::{ptr, thread};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_INFORMATION_CLASS, FILE_NO_INTERMEDIATE_BUFFERING, FILE_WRITE_THROUGH,
    FileAccessInformation, FileModeInformation, NtQueryInformationFile,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_APPEND_DATA, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_FLAG_WRITE_THROUGH,
    FILE_READ_DATA, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STORAGE_INFO,
    FILE_TYPE_PIPE, FILE_WRITE_DATA, FileStorageInfo, GetFileType, ReOpenFile,
};
use windows_sys::Win32::System::IO::{IO_STATUS_BLOCK, OVERLAPPED, OVERLAPPED_0_0};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;

use super::outcome::{check_status, owned};
use super::private::information;
use crate::block_io::{DirectAlignment, ReadManner};
use crate::error::{Error, Result, absent, refuse};
use crate::stdio::CStream;

pub(crate) use super::outcome::c_failed as failed_in_c;

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
        // A pipe without a writer is found at the next read.
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
    let info: Result<FILE_STORAGE_INFO> = unsafe { information(file, FileStorageInfo) };
    let sector = info.map_or(0, |info| info.LogicalBytesPerSector);
    Ok((sector > 0).then_some(DirectAlignment {
        memory_bytes: sector,
        offset_bytes: sector,
    }))
}

absent! {
    fn read_at_as(&File, &mut [u8], u64, ReadManner) -> Result<Option<usize>> = refuse("reading in another manner");
    fn copy_range(&File, &File, usize) -> Result<usize> = refuse("copying within the kernel");
    fn share_blocks(&File, &File) -> Result<()> = refuse("sharing blocks between files");
    fn wait_writable(&File, Duration) -> Result<bool> = refuse("waiting for a file");
}

/// Opens the same file again for overlapped transfers, with the same rights and the same way around the cache.
pub(super) fn reopen(file: &File) -> Result<File> {
    const SHARED: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const SAME: [(u32, u32); 2] = [
        (FILE_NO_INTERMEDIATE_BUFFERING, FILE_FLAG_NO_BUFFERING),
        (FILE_WRITE_THROUGH, FILE_FLAG_WRITE_THROUGH),
    ];
    let access = fact(file, FileAccessInformation)?;
    let mode = fact(file, FileModeInformation)?;
    let same = SAME.iter().filter(|(of_mode, _)| mode & of_mode != 0);
    let flags = same.fold(FILE_FLAG_OVERLAPPED, |flags, (_, flag)| flags | flag);
    // Unbuffered handles cannot append. The right to write, as the file was opened with, contains the right to.
    let access = match flags & FILE_FLAG_NO_BUFFERING {
        0 => access,
        _ if access & FILE_WRITE_DATA == 0 => access,
        _ => access & !FILE_APPEND_DATA,
    };
    // SAFETY: the handle is open, and the other one is new.
    let again = unsafe {
        let again = ReOpenFile(file.as_raw_handle(), access, SHARED, flags);
        owned(again, "open a file again for overlapped transfers")?
    };
    Ok(again.into())
}

/// A fact about an open file that is a number.
fn fact(file: &File, class: FILE_INFORMATION_CLASS) -> Result<u32> {
    let mut state = IO_STATUS_BLOCK::default();
    let mut fact = 0_u32;
    // SAFETY: there is room for the result of both classes that are asked for.
    let status = unsafe {
        NtQueryInformationFile(
            file.as_raw_handle(),
            &raw mut state,
            (&raw mut fact).cast(),
            size_of_val(&fact) as u32,
            class,
        )
    };
    check_status(status, "ask for the mode of a file")?;
    Ok(fact)
}

/// The description of a transfer at an offset.
pub(super) fn positioned(offset: u64) -> OVERLAPPED {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous = OVERLAPPED_0_0 {
        Offset: offset as u32,
        OffsetHigh: (offset >> 32) as u32,
    };
    place
}

// Names and constants of Microsoft's C library.
pub(crate) const IOFBF: c_int = 0;
pub(crate) const IONBF: c_int = 4;
const SEEK_SET: c_int = 0;
const O_RDONLY: c_int = 0;
const O_WRONLY: c_int = 1;
const O_RDWR: c_int = 2;
const O_BINARY: c_int = 0x8000;
pub(crate) const STREAM_BUFFER_BYTES: RangeInclusive<usize> = 2..=i32::MAX as usize;

// SAFETY: the C library declares them so.
unsafe extern "C" {
    fn _open_osfhandle(handle: isize, flags: c_int) -> c_int;
    fn _close(descriptor: c_int) -> c_int;
    fn _fdopen(descriptor: c_int, mode: *const c_char) -> *mut CStream;
    fn _fseeki64(stream: *mut CStream, offset: i64, origin: c_int) -> c_int;
}

pub(crate) fn open_stream(file: File) -> Result<NonNull<CStream>> {
    let access = fact(&file, FileAccessInformation)?;
    let (flags, mode) = match (access & FILE_READ_DATA, access & FILE_WRITE_DATA) {
        (_, 0) => (O_RDONLY, c"rb"),
        (0, _) => (O_WRONLY, c"wb"),
        _ => (O_RDWR, c"r+b"),
    };
    // SAFETY: the handle is open.
    let descriptor = unsafe { _open_osfhandle(file.as_raw_handle() as isize, flags | O_BINARY) };
    if descriptor == -1 {
        return Err(failed_in_c("open a stream"));
    }
    // From here on, the descriptor owns the handle.
    let _ = file.into_raw_handle();
    // SAFETY: the descriptor is open and the mode ends with a zero byte.
    let stream = unsafe { _fdopen(descriptor, mode.as_ptr()) };
    NonNull::new(stream).ok_or_else(|| {
        let error = failed_in_c("open a stream");
        // SAFETY: the descriptor is open, and no stream has it.
        unsafe { _close(descriptor) };
        error
    })
}

/// # Safety
/// The stream must be open.
#[inline]
pub(crate) unsafe fn seek_stream(stream: *mut CStream, position: i64) -> c_int {
    // SAFETY: as the caller guarantees.
    unsafe { _fseeki64(stream, position, SEEK_SET) }
}
