//! The C library's note that the process has one thread, `__libc_single_threaded`
//! (`sys/single_threaded.h`). While it holds, the C++ library counts the owners of a `shared_ptr` with plain
//! additions, which a tick would interrupt in the middle.

use std::io;
use std::sync::OnceLock;

use super::watch;

static ENDED: OnceLock<Result<(), i32>> = OnceLock::new();

/// Ends the note for good: with a second kernel thread, which stays, as long as that lives.
pub(super) fn end() -> io::Result<()> {
    let end = || watch::start().map_err(|error| error.raw_os_error().unwrap_or(libc::EMFILE));
    ENDED.get_or_init(end).map_err(io::Error::from_raw_os_error)
}

/// Ends the note in the child of a fork, which has one kernel thread, but may run user threads.
pub(super) fn end_again() {
    let note = crate::weak_symbol!("__libc_single_threaded");
    if ENDED.get().is_some() && !note.is_null() {
        // SAFETY: the C library declares it as a `char`, which any thread may read; here is only one.
        unsafe { note.cast_mut().cast::<u8>().write_volatile(0) };
    }
}
