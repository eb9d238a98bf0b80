//! The C library's note that the process has one thread, `__libc_single_threaded`
//! (`sys/single_threaded.h`). While it holds, the C++ library counts the owners of a `shared_ptr` with plain
//! additions, which a tick would interrupt in the middle.

use core::ffi::c_void;
use core::mem;
use core::ptr;
use std::io;
use std::sync::OnceLock;

use super::watch;

/// Ends the note for good, also in the child of a fork.
pub(super) fn end() -> io::Result<()> {
    static ENDED: OnceLock<Result<(), i32>> = OnceLock::new();
    let end = || {
        watch::prepare().map_err(|error| error.raw_os_error().unwrap_or(libc::EMFILE))?;
        start_a_thread_that_stays()?;
        // SAFETY: the handler has this type, and stays.
        match unsafe { libc::pthread_atfork(None, None, Some(in_child)) } {
            0 => Ok(()),
            error => Err(error),
        }
    };
    ENDED.get_or_init(end).map_err(io::Error::from_raw_os_error)
}

/// With a second kernel thread the note ends, and does not come back as long as that lives. It gets no signals,
/// allocates nothing, and waits for events.
fn start_a_thread_that_stays() -> Result<(), i32> {
    const STACK_BYTES: usize = 64 << 10;
    // SAFETY: plain data, for which zeros are valid; all pointers are to locals, and the attributes are destroyed
    // once.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (mem::zeroed(), mem::zeroed());
        let mut attributes: libc::pthread_attr_t = mem::zeroed();
        let error = libc::pthread_attr_init(&raw mut attributes);
        if error != 0 {
            return Err(error);
        }
        libc::pthread_attr_setstacksize(&raw mut attributes, STACK_BYTES);
        libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let mut thread = mem::zeroed();
        let error = libc::pthread_create(
            &raw mut thread,
            &raw const attributes,
            stay,
            ptr::null_mut(),
        );
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        libc::pthread_attr_destroy(&raw mut attributes);
        if error == 0 { Ok(()) } else { Err(error) }
    }
}

extern "C" fn stay(_: *mut c_void) -> *mut c_void {
    // SAFETY: the name is a string.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"uthread-stays".as_ptr()) };
    watch::wait_for_ever();
}

/// In the child of a fork, which has one thread, but may run user threads.
unsafe extern "C" fn in_child() {
    watch::leave_to_parent();
    let note = crate::weak_symbol!("__libc_single_threaded");
    if !note.is_null() {
        // SAFETY: the C library declares it as a `char`, which any thread may read; here is only one.
        unsafe { note.cast_mut().cast::<u8>().write_volatile(0) };
    }
}
