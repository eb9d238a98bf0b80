use std::io;
use std::os::windows::io::{AsHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION};

use super::{snapshot, usage};
use crate::programs::Program;

pub(crate) fn running() -> Vec<Program> {
    let processes = snapshot::processes().unwrap_or_default();
    let program = |(id, name)| {
        let process = open(id).ok()?;
        let cpu_ns = usage::cpu_ns(process.as_handle()).ok()?;
        Some(Program { id, name, cpu_ns })
    };
    processes.into_iter().filter_map(program).collect()
}

/// It fails for processes of the system, and for those that have exited.
fn open(process: u32) -> io::Result<OwnedHandle> {
    // SAFETY: the call takes three numbers.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nothing else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}
