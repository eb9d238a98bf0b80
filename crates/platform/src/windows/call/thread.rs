use std::ffi::c_void;
use std::os::windows::io::{FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::System::Threading::CreateThread;

use super::process::wait;
use crate::error::Result;
use crate::os::outcome::failed;

#[inline]
pub fn thread_create_join() -> Result<()> {
    /// The thread ends when this function returns.
    unsafe extern "system" fn end_at_once(_: *mut c_void) -> u32 {
        0
    }
    // SAFETY: the thread gets no memory of this one.
    let thread = unsafe {
        CreateThread(
            ptr::null(),
            0,
            Some(end_at_once),
            ptr::null(),
            0,
            ptr::null_mut(),
        )
    };
    if thread.is_null() {
        return Err(failed("start a thread"));
    }
    // SAFETY: the handle is new, and nothing else has it.
    let thread = unsafe { OwnedHandle::from_raw_handle(thread) };
    wait(&thread, "wait for a thread")
}
