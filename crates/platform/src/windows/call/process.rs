use std::ffi::{CStr, CString};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::{io, ptr};

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Threading::{
    CreateProcessA, GetCurrentProcess, GetExitCodeProcess, INFINITE, PROCESS_BASIC_INFORMATION,
    PROCESS_INFORMATION, STARTUPINFOA, WaitForSingleObject,
};

use crate::error::{Error, Result};
use crate::os::outcome::{check, check_status, failed};

/// The id of a process is in its own memory, where `GetCurrentProcessId` reads it. This call enters the
/// kernel.
#[inline]
pub fn getpid_syscall() -> Result<u32> {
    let mut told = PROCESS_BASIC_INFORMATION::default();
    // SAFETY: there is room for the result, and the size is given.
    let status = unsafe {
        NtQueryInformationProcess(
            GetCurrentProcess(),
            ProcessBasicInformation,
            (&raw mut told).cast(),
            size_of_val(&told) as u32,
            ptr::null_mut(),
        )
    };
    check_status(status, "ask for the process id")?;
    Ok(told.UniqueProcessId as u32)
}

/// Windows has no program as short as `true`. The command interpreter is on every installation. Its
/// directory may contain spaces.
pub fn program_that_does_nothing() -> Result<CString> {
    let what = "a program that does nothing (cmd.exe)";
    let root = std::env::var("SystemRoot").map_err(|_| Error::NotSupported { what })?;
    CString::new(format!("\"{root}\\System32\\cmd.exe\" /d /c exit"))
        .map_err(|_| Error::NotSupported { what })
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
        code => Err(Error::os("end a program in peace")(io::Error::other(
            format!("its exit code is {code}"),
        ))),
    }
}

/// Waits for the end of a thread or a process.
#[inline]
pub(super) fn wait(ending: &OwnedHandle, action: &'static str) -> Result<()> {
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
    fn the_id_is_of_this_process() {
        assert_eq!(getpid_syscall().unwrap(), std::process::id());
    }

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
