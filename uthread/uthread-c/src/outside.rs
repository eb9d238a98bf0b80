//! Wake-ups from kernel threads outside and from signal handlers.

use core::ffi::c_int;
use std::sync::Arc;

use uthread::{External, Poster, Semaphore, external};

use crate::call::{created, destroy};
use crate::error::object;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_external_open() -> *mut External {
    created(external)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_external_close(external: *mut External) {
    // SAFETY: the header asks for a handle that nobody uses afterwards.
    unsafe { destroy(external) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_poster_create(semaphore: *const Semaphore) -> *mut Poster {
    if semaphore.is_null() {
        return core::ptr::null_mut();
    }
    // SAFETY: the header asks for a living semaphore, which `uthread_sem_create` made of an `Arc`.
    let semaphore = unsafe {
        Arc::increment_strong_count(semaphore);
        Arc::from_raw(semaphore)
    };
    created(|| Poster::new(semaphore))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_poster_destroy(poster: *mut Poster) {
    // SAFETY: the header asks for a poster that nobody uses afterwards.
    unsafe { destroy(poster) }
}

/// In a signal handler: nothing here may panic, lock or allocate.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_poster_post(poster: *const Poster) -> c_int {
    // SAFETY: the header asks for a living poster.
    match unsafe { object(poster) }.map(Poster::post) {
        Ok(Ok(())) => 0,
        Ok(Err(_)) => -libc::ESRCH,
        Err(errno) => -errno,
    }
}
