//! The Windows implementation of the calls whose cost is measured. Each function makes Windows' own call
//! in place of the one that Linux has.

use std::ffi::{CStr, CString, c_int, c_void};
use std::fs::File;
use std::hint::black_box;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::{io, ptr};

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::{
    CloseHandle, GENERIC_READ, GENERIC_WRITE, INVALID_HANDLE_VALUE, NTSTATUS, WAIT_OBJECT_0,
};
use windows_sys::Win32::Storage::FileSystem::{
    CREATE_NEW, CreateFileW, DeleteFileW, FILE_CREATION_DISPOSITION, FILE_CURRENT,
    FILE_FLAG_WRITE_THROUGH, FILE_FLAGS_AND_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE, GetFileAttributesExW, GetFileExInfoStandard, OPEN_ALWAYS, OPEN_EXISTING,
    ReadFile, SetFilePointerEx, WIN32_FILE_ATTRIBUTE_DATA, WriteFile,
};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::Performance::QueryPerformanceCounter;
use windows_sys::Win32::System::Threading::{
    CreateProcessA, CreateThread, GetCurrentProcess, GetExitCodeProcess, INFINITE,
    PROCESS_BASIC_INFORMATION, PROCESS_INFORMATION, STARTUPINFOA, WaitForSingleObject,
};

use super::outcome::{self, check, check_status, failed, owned, wide_path};
use crate::error::{Error, Result, absent, refuse};
use crate::stdio::CStream;

absent! {
    fn fork_exit_wait() -> Result<()> = refuse("fork");
    fn vfork_exit_wait() -> Result<()> = refuse("vfork");
    fn fork_exec_wait(&CStr) -> Result<()> = refuse("fork");
}

absent! {
    enum SignalProbe = refuse("sigaction") => {
        fn new() -> Result<Self>;
        fn install(&self) -> Result<()>;
        fn deliver(&self) -> Result<()>;
    }
}

#[link(name = "ntdll")]
unsafe extern "system" {
    /// The system call behind `QueryPerformanceCounter`, which usually avoids it.
    fn NtQueryPerformanceCounter(counter: *mut i64, frequency: *mut i64) -> NTSTATUS;
}

#[inline]
pub fn clock_gettime() -> Result<()> {
    let mut ticks = 0;
    // SAFETY: there is room for the result.
    let outcome = unsafe { QueryPerformanceCounter(&raw mut ticks) };
    black_box(ticks);
    check(outcome, "read the clock")
}

#[inline]
pub fn clock_gettime_syscall() -> Result<()> {
    let mut ticks = 0;
    // SAFETY: there is room for the result, and the frequency may be left out.
    let status = unsafe { NtQueryPerformanceCounter(&raw mut ticks, ptr::null_mut()) };
    black_box(ticks);
    check_status(status, "read the clock by a system call")
}

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

#[inline]
pub fn malloc_free(bytes: usize) -> Result<()> {
    // Opaque on both sides, or the compiler would remove the pair.
    // SAFETY: any size is valid.
    let memory = black_box(unsafe { malloc(black_box(bytes)) });
    if memory.is_null() && bytes > 0 {
        return Err(outcome::c_failed("take memory"));
    }
    // SAFETY: it came from malloc above.
    unsafe { free(memory) };
    Ok(())
}

#[inline]
pub fn map_unmap(bytes: usize) -> Result<()> {
    // SAFETY: the system selects a free range, so no existing memory is touched.
    let start =
        unsafe { VirtualAlloc(ptr::null(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    if start.is_null() {
        return Err(failed("map memory"));
    }
    // SAFETY: the range was allocated above, and nothing else uses it.
    let outcome = unsafe { VirtualFree(start, 0, MEM_RELEASE) };
    check(outcome, "unmap memory")
}

/// In UTF-16, for calls whose names end with `W`: those with `A` convert a path first.
pub struct CallPath(Vec<u16>);

impl CallPath {
    pub fn new(path: &Path) -> Result<Self> {
        let units = wide_path(path);
        match units.iter().position(|unit| *unit == 0) {
            Some(zero) if zero + 1 == units.len() => Ok(Self(units)),
            _ => Err(Error::os("convert a path")(io::ErrorKind::InvalidInput)),
        }
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *const u16 {
        self.0.as_ptr()
    }
}

#[inline]
pub fn thread_create_join() -> Result<()> {
    /// The thread ends when this function returns.
    unsafe extern "system" fn end_at_once(_: *mut c_void) -> u32 {
        0
    }
    // SAFETY: the thread gets no memory of this one, and the handle is new.
    let thread = unsafe {
        let (usual, nothing, no_id) = (ptr::null(), ptr::null(), ptr::null_mut());
        let thread = CreateThread(usual, 0, Some(end_at_once), nothing, 0, no_id);
        owned(thread, "start a thread")?
    };
    wait(&thread, "wait for a thread")
}

unsafe extern "C" {
    fn _wfopen(path: *const u16, mode: *const u16) -> *mut CStream;
    fn fclose(stream: *mut CStream) -> c_int;
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
    let mut info = WIN32_FILE_ATTRIBUTE_DATA::default();
    // SAFETY: the path ends with a zero, and there is room for the result.
    let outcome = unsafe {
        GetFileAttributesExW(path.as_ptr(), GetFileExInfoStandard, (&raw mut info).cast())
    };
    check(outcome, "ask for the status of a file")
}

/// Opens with `mode` and closes.
#[inline]
fn open_stream(path: &CallPath, mode: &[u16; 3]) -> Result<()> {
    // SAFETY: both strings end with a zero.
    let stream = unsafe { _wfopen(path.as_ptr(), mode.as_ptr()) };
    if stream.is_null() {
        return Err(outcome::c_failed("open a stream"));
    }
    // SAFETY: the stream was opened above, and nothing else uses it.
    if unsafe { fclose(stream) } != 0 {
        return Err(outcome::c_failed("close a stream"));
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

/// The id of a process is in its own memory, where `GetCurrentProcessId` reads it. This call enters the
/// kernel.
#[inline]
pub fn getpid_syscall() -> Result<u32> {
    let mut info = PROCESS_BASIC_INFORMATION::default();
    // SAFETY: there is room for the result, and the size is given.
    let status = unsafe {
        NtQueryInformationProcess(
            GetCurrentProcess(),
            ProcessBasicInformation,
            (&raw mut info).cast(),
            size_of_val(&info) as u32,
            ptr::null_mut(),
        )
    };
    check_status(status, "ask for the process id")?;
    Ok(info.UniqueProcessId as u32)
}

/// Windows has no program as short as `true`. The command interpreter is on every installation. Its
/// directory may contain spaces.
pub fn program_that_does_nothing() -> Result<CString> {
    let what = "a program that does nothing (cmd.exe)";
    let root = std::env::var("SystemRoot").map_err(|_| Error::NotSupported(what))?;
    CString::new(format!("\"{root}\\System32\\cmd.exe\" /d /c exit"))
        .map_err(|_| Error::NotSupported(what))
}

#[inline]
pub fn spawn_wait(program: &CStr) -> Result<()> {
    let start = STARTUPINFOA {
        cb: size_of::<STARTUPINFOA>() as u32,
        ..STARTUPINFOA::default()
    };
    let mut started = PROCESS_INFORMATION::default();
    // SAFETY: the command line ends with a zero, and only `CreateProcessW` would write to it. There is
    // room for the result.
    let outcome = unsafe {
        CreateProcessA(
            ptr::null(),
            program.as_ptr().cast_mut().cast(),
            ptr::null(),
            ptr::null(),
            0,
            0,
            ptr::null(),
            ptr::null(),
            &raw const start,
            &raw mut started,
        )
    };
    check(outcome, "start a program")?;
    // SAFETY: both handles are new, and nothing else has them.
    let (process, _thread) = unsafe {
        (
            OwnedHandle::from_raw_handle(started.hProcess),
            OwnedHandle::from_raw_handle(started.hThread),
        )
    };
    wait(&process, "wait for a program")?;
    let mut code = 0;
    // SAFETY: the handle is open, and there is room for the result.
    let outcome = unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) };
    check(outcome, "ask how a program ended")?;
    match code {
        0 => Ok(()),
        code => Err(Error::os("run a program")(io::Error::other(format!(
            "its exit code is {code}"
        )))),
    }
}

/// Waits for the end of a thread or a process.
#[inline]
fn wait(ending: &OwnedHandle, action: &'static str) -> Result<()> {
    // SAFETY: the handle is open.
    match unsafe { WaitForSingleObject(ending.as_raw_handle(), INFINITE) } {
        WAIT_OBJECT_0 => Ok(()),
        _ => Err(failed(action)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_or_fails_is_an_error() {
        let nothing = program_that_does_nothing().unwrap();
        spawn_wait(&nothing).unwrap();
        let failing = [nothing.to_str().unwrap(), " 7"].concat();
        let error = spawn_wait(&CString::new(failing).unwrap()).unwrap_err();
        assert!(error.to_string().contains("exit code is 7"), "{error}");
        spawn_wait(c"C:\\nothing\\is\\there.exe").unwrap_err();
    }
}
