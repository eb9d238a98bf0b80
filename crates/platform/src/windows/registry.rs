//! Values of the registry of this machine.

use std::ptr;

use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, RRF_RT_REG_DWORD, RRF_RT_REG_SZ, RegGetValueW,
};

use super::outcome::{text, wide};

/// A number; `None` if there is none.
pub(super) fn number(key: &str, name: &str) -> Option<u32> {
    let mut value = 0_u32;
    let mut len_bytes = size_of_val(&value) as u32;
    // SAFETY: both names end with a zero, and the value has the given length.
    let outcome = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            wide(key).as_ptr(),
            wide(name).as_ptr(),
            RRF_RT_REG_DWORD,
            ptr::null_mut(),
            (&raw mut value).cast(),
            &raw mut len_bytes,
        )
    };
    (outcome == 0).then_some(value)
}

/// A text, without white space around it; `None` if there is none or it is empty.
pub(super) fn word(key: &str, name: &str) -> Option<String> {
    let mut value = [0_u16; 512];
    let mut len_bytes = size_of_val(&value) as u32;
    // SAFETY: both names end with a zero, and the buffer has the given length.
    let outcome = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            wide(key).as_ptr(),
            wide(name).as_ptr(),
            RRF_RT_REG_SZ,
            ptr::null_mut(),
            value.as_mut_ptr().cast(),
            &raw mut len_bytes,
        )
    };
    if outcome != 0 {
        return None;
    }
    Some(text(&value).trim().to_owned()).filter(|value| !value.is_empty())
}
