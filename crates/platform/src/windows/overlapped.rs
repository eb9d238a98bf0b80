//! Handles for overlapped transfers, whose ends the system reports later.

use std::fs::File;
use std::os::windows::io::{AsRawHandle, FromRawHandle};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_INFORMATION_CLASS, FILE_NO_INTERMEDIATE_BUFFERING, FILE_WRITE_THROUGH,
    FileAccessInformation, FileModeInformation, NtQueryInformationFile,
};
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_APPEND_DATA, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_FLAG_WRITE_THROUGH,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_WRITE_DATA, ReOpenFile,
};
use windows_sys::Win32::System::IO::{IO_STATUS_BLOCK, OVERLAPPED, OVERLAPPED_0_0};

use super::outcome::{check_status, failed};
use crate::error::Result;

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
    // SAFETY: the handle is open.
    let handle = unsafe { ReOpenFile(file.as_raw_handle(), access, SHARED, flags) };
    if handle == INVALID_HANDLE_VALUE {
        return Err(failed("open a file again for overlapped transfers"));
    }
    // SAFETY: a new handle without another owner.
    Ok(unsafe { File::from_raw_handle(handle) })
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
