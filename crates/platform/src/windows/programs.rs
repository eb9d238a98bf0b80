use std::mem::offset_of;

use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SystemProcessInformation,
};
use windows_sys::Win32::Foundation::STATUS_INFO_LENGTH_MISMATCH;
use windows_sys::Win32::System::WindowsProgramming::SYSTEM_PROCESS_INFORMATION;

use crate::programs::Program;

/// Times of a process in the record, in steps of 100 ns. `windows-sys` does not name them.
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

/// `None` for the idle process, which is none.
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
/// There are so many units, or the address is null.
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
        let mut needed_bytes = 0;
        // SAFETY: the buffer has the given length.
        let status = unsafe {
            NtQuerySystemInformation(
                SystemProcessInformation,
                records.as_mut_ptr().cast(),
                size_of_val(&records[..]) as u32,
                &raw mut needed_bytes,
            )
        };
        if status != STATUS_INFO_LENGTH_MISMATCH {
            return (status >= 0).then_some(records);
        }
        let words = (needed_bytes as usize).div_ceil(size_of::<u64>());
        // Room for processes that start in between.
        records.resize(words.max(records.len()) * 5 / 4, 0);
    }
    None
}
