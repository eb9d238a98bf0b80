//! The processes and threads of the system at one moment
//! ([tool help](https://learn.microsoft.com/en-us/windows/win32/toolhelp/tool-help-library)).

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CREATE_TOOLHELP_SNAPSHOT_FLAGS, CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW,
    Process32NextW, TH32CS_SNAPPROCESS, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First,
    Thread32Next,
};

use super::outcome::text;

/// The id and the name of each process.
pub(super) fn processes() -> io::Result<Vec<(u32, String)>> {
    let snapshot = take(TH32CS_SNAPPROCESS)?;
    let mut entry = PROCESSENTRY32W {
        dwSize: size_of::<PROCESSENTRY32W>() as u32,
        ..PROCESSENTRY32W::default()
    };
    let mut found = Vec::new();
    // SAFETY: the entry has the size that it names.
    let mut has_more = unsafe { Process32FirstW(snapshot.as_raw_handle(), &raw mut entry) };
    while has_more != 0 {
        found.push((entry.th32ProcessID, text(&entry.szExeFile)));
        // SAFETY: as above.
        has_more = unsafe { Process32NextW(snapshot.as_raw_handle(), &raw mut entry) };
    }
    Ok(found)
}

/// The id of a thread of a process.
pub(super) fn thread_of(process: u32) -> io::Result<u32> {
    let snapshot = take(TH32CS_SNAPTHREAD)?;
    let mut entry = THREADENTRY32 {
        dwSize: size_of::<THREADENTRY32>() as u32,
        ..THREADENTRY32::default()
    };
    // SAFETY: the entry has the size that it names.
    let mut has_more = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) };
    while has_more != 0 {
        if entry.th32OwnerProcessID == process {
            return Ok(entry.th32ThreadID);
        }
        // SAFETY: as above.
        has_more = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) };
    }
    Err(io::ErrorKind::NotFound.into())
}

fn take(flags: CREATE_TOOLHELP_SNAPSHOT_FLAGS) -> io::Result<OwnedHandle> {
    // SAFETY: the call takes two numbers.
    let snapshot = unsafe { CreateToolhelp32Snapshot(flags, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nothing else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(snapshot) })
}
