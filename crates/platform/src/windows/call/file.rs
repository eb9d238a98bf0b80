use std::ffi::c_int;
use std::fs::File;
use std::os::windows::io::AsRawHandle;
use std::ptr;

use windows_sys::Win32::Foundation::{
    CloseHandle, GENERIC_READ, GENERIC_WRITE, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    CREATE_NEW, CreateFileW, DeleteFileW, FILE_CREATION_DISPOSITION, FILE_CURRENT,
    FILE_FLAG_WRITE_THROUGH, FILE_FLAGS_AND_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE, GetFileAttributesExW, GetFileExInfoStandard, OPEN_ALWAYS, OPEN_EXISTING,
    ReadFile, SetFilePointerEx, WIN32_FILE_ATTRIBUTE_DATA, WriteFile,
};

use crate::call::CallPath;
use crate::error::Result;
use crate::os::errno;
use crate::os::outcome::{check, failed};
use crate::os::stdio::Opaque;

unsafe extern "C" {
    fn _wfopen(path: *const u16, mode: *const u16) -> *mut Opaque;
    fn fclose(stream: *mut Opaque) -> c_int;
}

#[inline]
pub fn read_byte(file: &File) -> Result<Option<u8>> {
    let (mut byte, mut count) = (0_u8, 0);
    // SAFETY: `byte` has room for the 1 byte requested.
    let outcome = unsafe {
        ReadFile(
            file.as_raw_handle(),
            &raw mut byte,
            1,
            &raw mut count,
            ptr::null_mut(),
        )
    };
    check(outcome, "read a byte")?;
    Ok((count == 1).then_some(byte))
}

#[inline]
pub fn write_byte(file: &File) -> Result<()> {
    let mut count = 0;
    // SAFETY: the string has the 1 byte to write.
    let outcome = unsafe {
        WriteFile(
            file.as_raw_handle(),
            c"x".as_ptr().cast(),
            1,
            &raw mut count,
            ptr::null_mut(),
        )
    };
    check(outcome, "write a byte")
}

#[inline]
pub fn seek(file: &File) -> Result<u64> {
    let mut position = 0;
    // SAFETY: there is room for the result.
    let outcome =
        unsafe { SetFilePointerEx(file.as_raw_handle(), 1, &raw mut position, FILE_CURRENT) };
    check(outcome, "move the position of a file")?;
    Ok(position.cast_unsigned())
}

#[inline]
pub fn open_close(path: &CallPath) -> Result<()> {
    open_and_close(path, GENERIC_READ, OPEN_EXISTING, 0)
}

#[inline]
pub fn open_sync_close(path: &CallPath) -> Result<()> {
    const ACCESS: u32 = GENERIC_READ | GENERIC_WRITE;
    open_and_close(path, ACCESS, OPEN_ALWAYS, FILE_FLAG_WRITE_THROUGH)
}

#[inline]
pub fn create_sync_delete(path: &CallPath) -> Result<()> {
    open_sync_close(path)?;
    delete(path)
}

#[inline]
pub fn create_delete(path: &CallPath) -> Result<()> {
    open_and_close(path, GENERIC_WRITE, CREATE_NEW, 0)?;
    delete(path)
}

#[inline]
fn open_and_close(
    path: &CallPath,
    access: u32,
    creation: FILE_CREATION_DISPOSITION,
    flags: FILE_FLAGS_AND_ATTRIBUTES,
) -> Result<()> {
    const SHARED: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    // SAFETY: the path ends with a zero.
    let handle = unsafe {
        CreateFileW(
            path.as_ptr(),
            access,
            SHARED,
            ptr::null(),
            creation,
            flags,
            ptr::null_mut(),
        )
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(failed("open a file"));
    }
    // SAFETY: the handle was opened above, and nothing else uses it.
    check(unsafe { CloseHandle(handle) }, "close a file")
}

#[inline]
fn delete(path: &CallPath) -> Result<()> {
    // SAFETY: the path ends with a zero.
    check(unsafe { DeleteFileW(path.as_ptr()) }, "delete a file")
}

#[inline]
pub fn stat(path: &CallPath) -> Result<()> {
    let mut told = WIN32_FILE_ATTRIBUTE_DATA::default();
    // SAFETY: the path ends with a zero, and there is room for the result.
    let outcome = unsafe {
        GetFileAttributesExW(path.as_ptr(), GetFileExInfoStandard, (&raw mut told).cast())
    };
    check(outcome, "ask for the status of a file")
}

/// Opens with `mode` and closes.
#[inline]
fn open_stream(path: &CallPath, mode: &[u16; 3]) -> Result<()> {
    // SAFETY: both strings end with a zero.
    let stream = unsafe { _wfopen(path.as_ptr(), mode.as_ptr()) };
    if stream.is_null() {
        return Err(errno::failed("open a stream"));
    }
    // SAFETY: the stream was opened above, and nothing else uses it.
    if unsafe { fclose(stream) } != 0 {
        return Err(errno::failed("close a stream"));
    }
    Ok(())
}

#[inline]
pub fn fopen_fclose(path: &CallPath) -> Result<()> {
    open_stream(path, &[b'r'.into(), b'b'.into(), 0])
}

#[inline]
pub fn fopen_write_fclose(path: &CallPath) -> Result<()> {
    open_stream(path, &[b'w'.into(), b'b'.into(), 0])
}
