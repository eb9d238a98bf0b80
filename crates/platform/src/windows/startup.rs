use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_UNKNOWN, GetFileType};
use windows_sys::Win32::System::Console::{GetStdHandle, STD_OUTPUT_HANDLE};

pub(crate) use crate::startup::lacking::*;

/// Nothing takes the place of a closed standard stream here, so there is no need to look before `main`.
pub(crate) fn had_standard_output() -> bool {
    // SAFETY: neither call touches memory; a handle that is not open has an unknown type.
    unsafe {
        let output = GetStdHandle(STD_OUTPUT_HANDLE);
        !output.is_null()
            && output != INVALID_HANDLE_VALUE
            && GetFileType(output) != FILE_TYPE_UNKNOWN
    }
}
