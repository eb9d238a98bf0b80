//! The C library's note that the process has one thread, `__libc_single_threaded`
//! (`sys/single_threaded.h`). While it holds, the C++ library counts the owners of a `shared_ptr` with plain
//! additions, which a tick would interrupt in the middle.

use core::mem;
use core::ptr;
use std::io;
use std::sync::OnceLock;

/// Ends the note for good, also in the child of a fork.
pub(super) fn end() -> io::Result<()> {
    static ENDED: OnceLock<Result<(), i32>> = OnceLock::new();
    let end = || {
        start_a_thread_that_stays()?;
        // SAFETY: the handler has this type, and stays.
        match unsafe { libc::pthread_atfork(None, None, Some(take_note_back)) } {
            0 => Ok(()),
            error => Err(error),
        }
    };
    ENDED.get_or_init(end).map_err(io::Error::from_raw_os_error)
}

/// With a second kernel thread the note ends, and does not come back as long as that lives. It gets no signals.
fn start_a_thread_that_stays() -> Result<(), i32> {
    const STACK_BYTES: usize = 16 << 10;
    // SAFETY: plain data, for which zeros are valid; all pointers are to locals.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let builder = std::thread::Builder::new().name("uthread-stays".into());
        let started = builder.stack_size(STACK_BYTES).spawn(|| {
            loop {
                std::thread::park();
            }
        });
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        match started {
            Ok(_) => Ok(()),
            Err(error) => Err(error.raw_os_error().unwrap_or(libc::EAGAIN)),
        }
    }
}

/// In the child of a fork, which has one thread, but may run user threads.
unsafe extern "C" fn take_note_back() {
    let note = crate::weak_symbol!("__libc_single_threaded");
    if !note.is_null() {
        // SAFETY: the C library declares it as a `char`, which any thread may read; here is only one.
        unsafe { note.cast_mut().cast::<u8>().write_volatile(0) };
    }
}
