use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use crate::error::{Error, Result};

/// Creates a thread that exits at once, and joins it: one `pthread_create` and `pthread_join`, or
/// `CreateThread` and a wait for its end.
///
/// # Errors
/// If no thread can be created.
#[inline]
pub fn thread_create_join() -> Result<()> {
    extern "C" fn end_at_once(nothing: *mut c_void) -> *mut c_void {
        nothing
    }
    let mut thread = MaybeUninit::uninit();
    // SAFETY: `thread` has room for the handle, and the new thread touches nothing.
    check("start a thread", unsafe {
        libc::pthread_create(
            thread.as_mut_ptr(),
            ptr::null(),
            end_at_once,
            ptr::null_mut(),
        )
    })?;
    // SAFETY: the call succeeded, so the handle was written, and nothing else joins the thread.
    check("wait for a thread", unsafe {
        libc::pthread_join(thread.assume_init(), ptr::null_mut())
    })
}

/// These calls return their error instead of setting errno.
#[inline]
fn check(action: &'static str, errno: libc::c_int) -> Result<()> {
    match errno {
        0 => Ok(()),
        errno => Err(Error::os(action)(io::Error::from_raw_os_error(errno))),
    }
}
