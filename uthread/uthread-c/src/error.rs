//! Error numbers instead of panics.

use core::ffi::{CStr, c_char, c_int, c_uint};
use core::time::Duration;
use std::any::Any;

use uthread::{Cancelled, Gone};

/// A positive number of errno(3).
pub(crate) type Errno = c_int;

/// A time limit of the header.
pub(crate) fn limit(microseconds: c_uint) -> Duration {
    Duration::from_micros(microseconds.into())
}

/// The object behind a pointer from C.
///
/// # Safety
/// The pointer must be null, or to an object that lives as long as it is used.
pub(crate) unsafe fn object<'a, T>(pointer: *const T) -> Result<&'a T, Errno> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_ref() }.ok_or(libc::EINVAL)
}

/// The misuse that a panic of `uthread` reports, or the cancelled wait.
pub(crate) fn errno_of(payload: &(dyn Any + Send)) -> Errno {
    if payload.is::<Cancelled>() {
        return libc::ECANCELED;
    }
    if payload.is::<Gone>() {
        return libc::ESRCH;
    }
    let message = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or_default();
    let has = |words: &str| message.contains(words);
    if has("deadlock") || has("that it holds") || has("joins itself") || has("cannot run meanwhile")
    {
        libc::EDEADLK
    } else if has("outside a uthread runtime")
        || has("does not hold")
        || has("holds preemption off")
        || has("only the first thread")
    {
        libc::EPERM
    } else if has("too many permits") {
        libc::EOVERFLOW
    } else if has("a runtime was started inside") {
        libc::EBUSY
    } else if has("ceiling") || has("another runtime") || has("with another lock") {
        libc::EINVAL
    } else {
        libc::ENOTRECOVERABLE
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_strerror(error: c_int) -> *const c_char {
    let text: &CStr = match error.saturating_abs() {
        0 => c"success",
        libc::EDEADLK => c"the thread would wait for itself, or for a circle of threads",
        libc::EPERM => c"only a user thread, or the owner of the lock, may do this",
        libc::EBUSY => c"it is in use, or a runtime runs already",
        libc::EOVERFLOW => c"the semaphore has as many permits as it can count",
        libc::ESRCH => {
            c"the thread was joined, or is not in this process, or it was detached or not created here and has ended"
        }
        libc::EAGAIN => {
            c"there is nothing now, or a thread that ends sets its values again and again"
        }
        libc::EINVAL => c"a value is out of its range",
        libc::ECANCELED => c"the wait was cancelled",
        libc::ENOMEM => c"there is no memory for a stack",
        libc::ENOEXEC => c"a program that contains its C library, or a malloc of its own, has no time slices",
        libc::ETIMEDOUT => c"the time was up",
        libc::EPIPE => c"the channel is closed",
        libc::ENOTRECOVERABLE => c"a thread or the library failed; its message says why",
        // SAFETY: the call takes any number, and its result lives until the next call.
        number => return unsafe { libc::strerror(number) },
    };
    text.as_ptr()
}
