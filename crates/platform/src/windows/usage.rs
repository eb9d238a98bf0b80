use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::sync::{Mutex, PoisonError};

use windows_sys::Win32::Foundation::{FILETIME, HANDLE};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessIoCounters, GetProcessTimes, GetThreadTimes,
    IO_COUNTERS,
};

use super::outcome::check;
pub use super::page_cache::storage_read_bytes;
use crate::Result;
use crate::usage::{Consumption, Usage};

/// All processes that this one has waited for.
static CHILDREN: Mutex<Consumption> = Mutex::new(Consumption {
    cpu_ns: 0,
    read_bytes: 0,
    written_bytes: 0,
    own_peak_bytes: 0,
    child_peak_bytes: 0,
});

impl Usage {
    pub fn of_process() -> Result<Usage> {
        usage(this_process())
    }

    /// The system counts page faults for a process only, so those of all its threads are included.
    pub fn of_thread() -> Result<Usage> {
        Ok(from_times(&thread_times()?, &memory(this_process())?))
    }
}

impl Consumption {
    pub fn read() -> Result<Consumption> {
        let own = consumption(this_process())?;
        let children = *CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Consumption {
            cpu_ns: own.cpu_ns + children.cpu_ns,
            read_bytes: own.read_bytes + children.read_bytes,
            written_bytes: own.written_bytes + children.written_bytes,
            own_peak_bytes: own.own_peak_bytes,
            child_peak_bytes: children.child_peak_bytes,
        })
    }
}

/// Usage of a child that has exited, with that of all that it started as its job counts it, and its own peak
/// resident memory in bytes. From now on it counts with the children of this process.
pub(super) fn of_exited(child: BorrowedHandle<'_>, of_job: Usage) -> Result<(Usage, u64)> {
    let child = child.as_raw_handle();
    let used = consumption(child)?;
    let alone = usage(child)?;
    let is_told = of_job.user_ns + of_job.system_ns > 0;
    let together = if is_told { of_job } else { alone };
    let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    children.cpu_ns += together.user_ns + together.system_ns;
    children.read_bytes += used.read_bytes;
    children.written_bytes += used.written_bytes;
    children.child_peak_bytes = children.child_peak_bytes.max(used.own_peak_bytes);
    Ok((together, used.own_peak_bytes))
}

/// Resident memory of this process, in bytes.
pub(super) fn resident_bytes() -> Result<u64> {
    memory(this_process()).map(|memory| memory.WorkingSetSize as u64)
}

fn usage(process: HANDLE) -> Result<Usage> {
    Ok(from_times(&times(process)?, &memory(process)?))
}

/// Only soft and hard page faults together are known. Most are soft.
fn from_times(times: &[FILETIME; 4], memory: &PROCESS_MEMORY_COUNTERS) -> Usage {
    let [_, _, system, user] = *times;
    Usage {
        user_ns: in_ns(user),
        system_ns: in_ns(system),
        minor_faults: memory.PageFaultCount.into(),
        ..Usage::default()
    }
}

/// The system counts the bytes of all read and write calls, whether a cache or a disk served them.
fn consumption(process: HANDLE) -> Result<Consumption> {
    let mut counters = IO_COUNTERS::default();
    // SAFETY: there is room for the result, and the caller holds the process open.
    let outcome = unsafe { GetProcessIoCounters(process, &raw mut counters) };
    check(outcome, "ask for the input and output of a process")?;
    let [_, _, system, user] = times(process)?;
    Ok(Consumption {
        cpu_ns: in_ns(system) + in_ns(user),
        read_bytes: counters.ReadTransferCount,
        written_bytes: counters.WriteTransferCount,
        own_peak_bytes: memory(process)?.PeakWorkingSetSize as u64,
        child_peak_bytes: 0,
    })
}

/// Times of creation and exit, and in the kernel and in user mode.
fn times(process: HANDLE) -> Result<[FILETIME; 4]> {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, system, user] = &mut times;
    // SAFETY: there is room for the results, and the caller holds the process open.
    let outcome = unsafe { GetProcessTimes(process, created, exited, system, user) };
    check(outcome, "ask for the times of a process")?;
    Ok(times)
}

/// As [`times`], of the calling thread.
fn thread_times() -> Result<[FILETIME; 4]> {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, system, user] = &mut times;
    // SAFETY: there is room for the results, and the handle stands for the calling thread.
    let outcome = unsafe { GetThreadTimes(GetCurrentThread(), created, exited, system, user) };
    check(outcome, "ask for the times of a thread")?;
    Ok(times)
}

fn memory(process: HANDLE) -> Result<PROCESS_MEMORY_COUNTERS> {
    let mut memory = PROCESS_MEMORY_COUNTERS::default();
    let len = size_of_val(&memory) as u32;
    // SAFETY: the result has the given length, and the caller holds the process open.
    let outcome = unsafe { K32GetProcessMemoryInfo(process, &raw mut memory, len) };
    check(outcome, "ask for the memory of a process")?;
    Ok(memory)
}

fn this_process() -> HANDLE {
    // SAFETY: it returns a constant, which is never closed.
    unsafe { GetCurrentProcess() }
}

/// Such times count steps of 100 ns.
fn in_ns(time: FILETIME) -> u64 {
    ((u64::from(time.dwHighDateTime) << 32) | u64::from(time.dwLowDateTime)) * 100
}

pub fn counts_storage() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use crate::clock::now_ns;
    use crate::usage::{Consumption, Usage};

    #[test]
    fn work_counts() {
        let (process, thread) = (Usage::of_process().unwrap(), Usage::of_thread().unwrap());
        let start = now_ns();
        // Longer than a tick of the system's timer.
        while now_ns() < start + 60_000_000 {}
        let process = Usage::of_process().unwrap().since(&process);
        let thread = Usage::of_thread().unwrap().since(&thread);
        assert!(process.user_ns + process.system_ns > 0, "{process:?}");
        assert!(thread.user_ns + thread.system_ns > 0, "{thread:?}");
        assert!(Consumption::read().unwrap().own_peak_bytes > 0);
    }
}
