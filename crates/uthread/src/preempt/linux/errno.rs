//! The error number of C, which belongs to the kernel thread, and so to all its user threads.

use core::ffi::c_int;

/// The error number of the running thread, which is back when this is dropped.
#[derive(Debug)]
pub struct Errno(c_int);

impl Errno {
    /// Remembers the error number.
    #[inline]
    pub fn keep() -> Self {
        // SAFETY: the address of this kernel thread's error number is valid.
        Self(unsafe { *libc::__errno_location() })
    }

    /// Sets the error number to that of a new thread, 0.
    pub fn clear() {
        drop(Self(0));
    }
}

impl Drop for Errno {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as above; a user thread stays on its kernel thread.
        unsafe { *libc::__errno_location() = self.0 };
    }
}
