//! The threads of the system at one moment
//! ([tool help](https://learn.microsoft.com/en-us/windows/win32/toolhelp/tool-help-library)).

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};

/// The id of a thread of a process.
pub(super) fn thread_of(process: u32) -> io::Result<u32> {
    let snapshot = take()?;
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

fn take() -> io::Result<OwnedHandle> {
    // SAFETY: the call takes two numbers.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nothing else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(snapshot) })
}
