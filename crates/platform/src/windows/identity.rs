//! The identity of an open file, and other facts that only its handle tells.

use std::fs::File;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS, FILE_STANDARD_INFO,
    FileIdInfo, FileStandardInfo, GetFileInformationByHandle, GetFileInformationByHandleEx,
};

use super::outcome::check;
use crate::Result;

/// True if both handles are of the same file.
pub(super) fn is_same(one: &File, other: &File) -> Result<bool> {
    match (long_identity(one), long_identity(other)) {
        (Ok(one), Ok(other)) => Ok(one == other),
        // FAT and some shares have no such identity.
        _ => Ok(short_identity(one)? == short_identity(other)?),
    }
}

/// The volume, and the file within it.
fn long_identity(file: &File) -> Result<(u64, [u8; 16])> {
    // SAFETY: the class has this type.
    let told: FILE_ID_INFO = unsafe { information(file, FileIdInfo) }?;
    Ok((told.VolumeSerialNumber, told.FileId.Identifier))
}

/// The same on any file system; on a large one of `ReFS`, two files may have the same.
fn short_identity(file: &File) -> Result<(u32, u32, u32)> {
    let mut told = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and there is room for the result.
    let outcome = unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut told) };
    check(outcome, "ask for the identity of a file")?;
    Ok((
        told.dwVolumeSerialNumber,
        told.nFileIndexHigh,
        told.nFileIndexLow,
    ))
}

/// The size, the allocation and the number of names of a file.
pub(super) fn standard(file: &File) -> Result<FILE_STANDARD_INFO> {
    // SAFETY: the class has this type.
    unsafe { information(file, FileStandardInfo) }
}

/// An information about an open file.
///
/// # Safety
/// `T` must be the type of the class.
pub(super) unsafe fn information<T: Default>(
    file: &File,
    class: FILE_INFO_BY_HANDLE_CLASS,
) -> Result<T> {
    let mut told = T::default();
    // SAFETY: there is room for the result, as the caller vouches.
    let outcome = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            class,
            (&raw mut told).cast(),
            size_of::<T>() as u32,
        )
    };
    check(outcome, "ask for the state of a file")?;
    Ok(told)
}
