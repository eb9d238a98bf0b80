//! The error number of C, which belongs to the kernel thread, and so to all its user threads.

use core::ffi::c_int;

/// The error number of the running thread, which is back when this is dropped.
#[derive(Debug)]
pub struct Errno {
    place: *mut c_int,
    own: c_int,
}

impl Errno {
    /// Remembers the error number.
    #[inline]
    pub fn keep() -> Self {
        // SAFETY: the address of this kernel thread's error number is valid.
        unsafe {
            let place = libc::__errno_location();
            let own = *place;
            Self { place, own }
        }
    }

    /// Sets the error number to that of a new thread, 0.
    #[inline]
    pub fn clear() {
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = 0 };
    }
}

impl Drop for Errno {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as above; a user thread stays on its kernel thread.
        unsafe { *self.place = self.own };
    }
}
