use std::path::PathBuf;

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_UNKNOWN, GetFileType};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};
use windows_sys::Win32::System::Threading::GetCurrentThreadStackLimits;

use crate::error::absent;

pub fn had_standard_input() -> bool {
    is_open(STD_INPUT_HANDLE)
}

pub fn had_standard_output() -> bool {
    is_open(STD_OUTPUT_HANDLE)
}

/// Nothing takes the place of a closed standard stream here, so there is no need to look before `main`.
fn is_open(stream: STD_HANDLE) -> bool {
    // SAFETY: neither call touches memory; a handle that is not open has an unknown type.
    unsafe {
        let handle = GetStdHandle(stream);
        !handle.is_null()
            && handle != INVALID_HANDLE_VALUE
            && GetFileType(handle) != FILE_TYPE_UNKNOWN
    }
}

absent! {
    fn has_small_stack() -> bool = false;
    fn started_as() -> Option<PathBuf> = None;
}

pub fn left_bytes() -> Option<u64> {
    let (mut lowest, mut highest) = (0, 0);
    // SAFETY: there is room for both results.
    unsafe { GetCurrentThreadStackLimits(&raw mut lowest, &raw mut highest) };
    let here = (&raw const lowest).addr();
    Some(here.saturating_sub(lowest) as u64)
}
