//! Values of the registry of this machine.

use std::ptr;

use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, REG_ROUTINE_FLAGS, RRF_RT_REG_DWORD, RRF_RT_REG_SZ, RegGetValueW,
};

use super::outcome::{text, wide};

/// A number; `None` if there is none.
pub(super) fn number(key: &str, name: &str) -> Option<u32> {
    let mut value = [0];
    // SAFETY: numbers of this type have 32 bits, which may be any.
    let is_there = unsafe { read(key, name, RRF_RT_REG_DWORD, &mut value) };
    is_there.then_some(value[0])
}

/// A text, without white space around it; `None` if there is none or it is empty.
pub(super) fn word(key: &str, name: &str) -> Option<String> {
    let mut value = [0_u16; 512];
    // SAFETY: texts consist of units of 16 bits, which may be any.
    let is_there = unsafe { read(key, name, RRF_RT_REG_SZ, &mut value) };
    let word = is_there.then(|| text(&value).trim().to_owned())?;
    Some(word).filter(|word| !word.is_empty())
}

/// Reads a value of one kind; `false` if there is none, or it is longer.
///
/// # Safety
/// Whatever a value of this kind holds must be valid for `T`.
unsafe fn read<T>(key: &str, name: &str, kind: REG_ROUTINE_FLAGS, value: &mut [T]) -> bool {
    let mut len_bytes = size_of_val(value) as u32;
    // SAFETY: both names end with a zero, and the buffer has the given length.
    let outcome = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            wide(key).as_ptr(),
            wide(name).as_ptr(),
            kind,
            ptr::null_mut(),
            value.as_mut_ptr().cast(),
            &raw mut len_bytes,
        )
    };
    outcome == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_by_its_kind() {
        const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
        assert!(word(VERSION, "CurrentVersion").is_some());
        assert_eq!(number(VERSION, "CurrentVersion"), None);
        assert_eq!(word(VERSION, "oscope has no value"), None);
    }
}
