//! Information that the kernel gives about the system.

use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS,
};
use windows_sys::Win32::Foundation::NTSTATUS;

/// Asks for information about the system. The result is the kernel's status, and the number of bytes written, or
/// needed if there is too little room.
///
/// # Safety
/// Whatever the information holds must be valid for `T`.
pub(super) unsafe fn query<T>(
    class: SYSTEM_INFORMATION_CLASS,
    into: &mut [T],
) -> (NTSTATUS, usize) {
    let mut bytes = 0;
    // SAFETY: the buffer has the given length; the rest is the caller's contract.
    let status = unsafe {
        let len = size_of_val(into) as u32;
        NtQuerySystemInformation(class, into.as_mut_ptr().cast(), len, &raw mut bytes)
    };
    (status, bytes as usize)
}
