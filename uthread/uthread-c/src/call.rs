//! Calls from C: error numbers instead of panics, and the points at which a terminated thread ends and deferred ticks take
//! effect.

use core::any::Any;
use core::ffi::c_int;
use std::panic::AssertUnwindSafe;

use uthread::{Errno as ErrorNumber, Exceptions, is_tick_deferred, no_preempt};

use crate::error::{Errno, errno_of};
use crate::record::obeys_terminate;
use crate::unwind::unwind;

/// The result of `work` as C sees it: a value, or a negative error number. This is where a terminated
/// thread ends.
pub(crate) fn caught(work: impl FnOnce() -> Result<c_int, Errno>) -> c_int {
    outcome(work).unwrap_or_else(|errno| -errno)
}

/// The value of `work`, which may wait, or an error number. A terminated thread does not return.
pub(crate) fn outcome<T>(work: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    outcome_or(work, |payload| errno_of(&*payload))
}

/// The same, with the error number that `mend` finds for a panic, and may wait for.
pub(crate) fn outcome_or<T>(
    work: impl FnOnce() -> Result<T, Errno>,
    mend: impl FnOnce(Box<dyn Any + Send>) -> Errno,
) -> Result<T, Errno> {
    let _back_at_the_end = ErrorNumber::keep();
    let exceptions = Exceptions::put_aside();
    let result = uthread::catch_unwind(AssertUnwindSafe(work));
    let result = finished(result.unwrap_or_else(|payload| Err(mend(payload))));
    drop(exceptions);
    if matches!(result, Err(libc::ECANCELED)) && obeys_terminate() {
        drop(result);
        unwind();
    }
    result
}

/// Does what may switch, but neither fails nor unwinds.
#[inline]
pub(crate) fn switching<T>(work: impl FnOnce() -> T) -> T {
    let _back_at_the_end = (ErrorNumber::keep(), Exceptions::put_aside());
    work()
}

/// Does what needs neither a switch nor an error. Otherwise, or if a tick was deferred meanwhile, calls what keeps
/// the thread's own state over a switch: all that takes several times as long.
#[inline]
pub(crate) fn quickly<T>(
    object: *const T,
    quick: impl FnOnce(&T) -> bool,
    slow: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the header asks for null or a living object.
    if !unsafe { object.as_ref() }.is_some_and(quick) {
        return out_of_line(slow);
    }
    finished(0)
}

/// The end of a call. A tick during the call was deferred, since it came in this library; a loop of short calls may get no
/// other. So it takes effect now.
#[inline]
pub(crate) fn finished<T>(result: T) -> T {
    if is_tick_deferred() {
        make_tick();
    }
    result
}

/// Not if the thread holds preemption off: the end of that makes the tick.
#[cold]
#[inline(never)]
fn make_tick() {
    let _back_at_the_end = ErrorNumber::keep();
    drop(no_preempt());
}

/// Keeps what is seldom needed from taking registers where it is not.
#[cold]
#[inline(never)]
pub(crate) fn out_of_line<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// The same for functions that return a new object.
pub(crate) fn created<T>(work: impl FnOnce() -> T) -> *mut T {
    let _back_at_the_end = ErrorNumber::keep();
    finished(match uthread::catch_unwind(AssertUnwindSafe(work)) {
        Ok(object) => Box::into_raw(Box::new(object)),
        Err(_) => core::ptr::null_mut(),
    })
}

/// Drops an object that `created` returned.
///
/// # Safety
/// Nobody may use it afterwards.
pub(crate) unsafe fn destroy<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller's contract.
        let object = unsafe { Box::from_raw(object) };
        caught(move || {
            drop(object);
            Ok(0)
        });
    }
}

/// The same, unless threads wait for the object: then it stays, and the result is `-EBUSY`.
///
/// # Safety
/// Nobody may use it after a result of 0.
pub(crate) unsafe fn destroy_unless<T>(
    object: *mut T,
    is_awaited: impl FnOnce(&T) -> bool,
) -> c_int {
    // SAFETY: the caller's contract.
    unsafe {
        let refused = busy_if(object, is_awaited);
        if refused == 0 {
            destroy(object);
        }
        refused
    }
}

/// `-EBUSY` if threads wait for the object, else 0.
///
/// # Safety
/// The pointer must be null or to a living object.
pub(crate) unsafe fn busy_if<T>(object: *const T, is_awaited: impl FnOnce(&T) -> bool) -> c_int {
    // SAFETY: the caller's contract.
    caught(|| match unsafe { object.as_ref() } {
        Some(object) if is_awaited(object) => Err(libc::EBUSY),
        _ => Ok(0),
    })
}

#[cfg(test)]
mod tests {
    use uthread::Cancelled;

    use super::{caught, errno_of};

    #[test]
    fn a_panic_becomes_an_error_number() {
        assert_eq!(caught(|| panic!("deadlock: a circle")), -libc::EDEADLK);
        assert_eq!(errno_of(&"thread 1 joins itself"), libc::EDEADLK);
        assert_eq!(errno_of(&7), libc::ENOTRECOVERABLE);
        assert_eq!(errno_of(&Cancelled), libc::ECANCELED);
        assert_eq!(caught(|| Err(libc::EIO)), -libc::EIO);
        assert_eq!(caught(|| Ok(3)), 3);
    }
}
