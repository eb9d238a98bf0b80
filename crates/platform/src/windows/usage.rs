use std::mem::offset_of;
use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::sync::{LazyLock, Mutex, PoisonError};

use windows_sys::Wdk::System::SystemInformation::{
    SystemProcessInformation, SystemProcessorPerformanceInformation,
};
use windows_sys::Win32::Foundation::{FILETIME, HANDLE, STATUS_INFO_LENGTH_MISMATCH};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessIoCounters, GetProcessTimes, GetThreadTimes,
    IO_COUNTERS,
};
use windows_sys::Win32::System::WindowsProgramming::{
    SYSTEM_PROCESS_INFORMATION, SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION,
};

use super::outcome::check;
use super::query::query;
use super::topology;
use crate::Result;
use crate::error::absent;
use crate::load::{CpuTime, Interruptions};
use crate::programs::Program;
use crate::usage::{Consumption, Usage};

pub use super::file::storage_read_bytes;

/// All processes that this one has waited for.
static CHILDREN: LazyLock<Mutex<Consumption>> = LazyLock::new(Mutex::default);

impl Usage {
    pub fn of_process() -> Result<Usage> {
        usage(this_process())
    }

    /// The system counts page faults for a process only, so those of all its threads are included.
    pub fn of_thread() -> Result<Usage> {
        Ok(from_times(&times(None)?, &memory(this_process())?))
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

/// Usage of a child that has exited, with that of all that it started as its job counts it, and its own
/// consumption. From now on it counts with the children of this process.
pub(super) fn of_exited(child: BorrowedHandle<'_>, of_job: Usage) -> Result<(Usage, Consumption)> {
    let child = child.as_raw_handle();
    let used = consumption(child)?;
    let alone = usage(child)?;
    let is_known = of_job.user_ns + of_job.system_ns > 0;
    let together = if is_known { of_job } else { alone };
    let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    children.cpu_ns += together.user_ns + together.system_ns;
    children.read_bytes += used.read_bytes;
    children.written_bytes += used.written_bytes;
    children.child_peak_bytes = children.child_peak_bytes.max(used.own_peak_bytes);
    Ok((together, used))
}

/// Resident memory of this process, in bytes.
pub(super) fn resident_bytes() -> Result<u64> {
    memory(this_process()).map(|memory| memory.WorkingSetSize as u64)
}

fn usage(process: HANDLE) -> Result<Usage> {
    Ok(from_times(&times(Some(process))?, &memory(process)?))
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
    let [_, _, system, user] = times(Some(process))?;
    Ok(Consumption {
        cpu_ns: in_ns(system) + in_ns(user),
        read_bytes: counters.ReadTransferCount,
        written_bytes: counters.WriteTransferCount,
        own_peak_bytes: memory(process)?.PeakWorkingSetSize as u64,
        child_peak_bytes: 0,
    })
}

/// Times of creation and exit, and in the kernel and in user mode: of a process, or of the calling thread.
fn times(process: Option<HANDLE>) -> Result<[FILETIME; 4]> {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, system, user] = &mut times;
    // SAFETY: there is room for the results, and the caller holds the process open.
    let outcome = unsafe {
        match process {
            Some(process) => GetProcessTimes(process, created, exited, system, user),
            None => GetThreadTimes(GetCurrentThread(), created, exited, system, user),
        }
    };
    check(outcome, "ask for the times of a process or thread")?;
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

/// A `FILETIME` counts in units of 100 ns.
fn in_ns(time: FILETIME) -> u64 {
    ((u64::from(time.dwHighDateTime) << 32) | u64::from(time.dwLowDateTime)) * 100
}

absent! {
    fn load_average() -> Option<[f64; 3]> = None;
    fn interruptions(usize) -> Option<Interruptions> = None;
}

impl CpuTime {
    /// `None` on machines with more than one group of processors: the call counts those of one group only.
    pub fn read() -> Option<CpuTime> {
        let count = topology::topology().threads?;
        if count > topology::GROUP_CPUS {
            return None;
        }
        // All of these count in units of 100 ns.
        let ns = |steps: i64| steps.cast_unsigned() * 100;
        let mut total = CpuTime::default();
        for processor in processors(count)? {
            total.cpus += 1;
            total.idle_ns += ns(processor.IdleTime);
            // The kernel's time includes that of the idle loop.
            let kernel = (processor.KernelTime - processor.IdleTime).max(0);
            total.busy_ns += ns(processor.UserTime + kernel);
        }
        Some(total)
    }
}

/// The counts of at most `count` processors.
fn processors(count: usize) -> Option<Vec<SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION>> {
    let mut processors = vec![SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION::default(); count];
    // SAFETY: the class has this type.
    let (status, written) =
        unsafe { query(SystemProcessorPerformanceInformation, &mut processors) };
    processors.truncate(written / size_of::<SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION>());
    (status == 0).then_some(processors)
}

/// Times of a process in the record, in units of 100 ns. `windows-sys` does not name them.
const USER_TIME_AT: usize = 40;
const KERNEL_TIME_AT: usize = 48;
/// The list grows while it is read, but not for long.
const ATTEMPTS: usize = 8;

/// Also processes of the system, which this one may not open.
pub fn running() -> Vec<Program> {
    let records = records().unwrap_or_default();
    let mut programs = Vec::new();
    let mut at = 0;
    while at + size_of::<SYSTEM_PROCESS_INFORMATION>() <= size_of_val(&records[..]) {
        // SAFETY: a record of the system starts here, with room for all of it. Wine does not align them.
        let record = unsafe {
            let record = records.as_ptr().byte_add(at);
            record.cast::<SYSTEM_PROCESS_INFORMATION>().read_unaligned()
        };
        programs.extend(program(&record));
        if record.NextEntryOffset == 0 {
            break;
        }
        at += record.NextEntryOffset as usize;
    }
    programs
}

/// `None` for the idle process, which is no program.
fn program(record: &SYSTEM_PROCESS_INFORMATION) -> Option<Program> {
    let id = record.UniqueProcessId.addr() as u32;
    let time = |at: usize| {
        let at = at - offset_of!(SYSTEM_PROCESS_INFORMATION, Reserved1);
        let steps = record.Reserved1[at..].first_chunk()?;
        Some(u64::from_ne_bytes(*steps) * 100)
    };
    let name = &record.ImageName;
    // SAFETY: the name lies behind its record, in memory that lives as long.
    let name = unsafe { text(name.Buffer, usize::from(name.Length) / size_of::<u16>()) };
    (id != 0).then_some(Program {
        id,
        name,
        cpu_ns: time(USER_TIME_AT)? + time(KERNEL_TIME_AT)?,
    })
}

/// # Safety
/// The text has this number of units, or the address is null.
unsafe fn text(units: *const u16, len: usize) -> String {
    if units.is_null() {
        return String::new();
    }
    // SAFETY: the caller's contract.
    String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(units, len) })
}

/// The records of all processes, in words, since the system wants them aligned.
fn records() -> Option<Vec<u64>> {
    let mut records = vec![0_u64; 32 << 10];
    for _ in 0..ATTEMPTS {
        // SAFETY: any bits are a valid word.
        let (status, needed) = unsafe { query(SystemProcessInformation, &mut records) };
        if status != STATUS_INFO_LENGTH_MISMATCH {
            return (status >= 0).then_some(records);
        }
        let words = needed.div_ceil(size_of::<u64>());
        // Room for processes that start in between.
        records.resize(words.max(records.len()) * 5 / 4, 0);
    }
    None
}
