//! Threads.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::Ordering;
use std::io::ErrorKind;
use std::panic::AssertUnwindSafe;

use uthread::{Builder, Errno as ErrorNumber, JoinHandle, Priority, Thread, no_preempt};

use crate::call::{caught, finished, out_of_line, switching};
use crate::error::{Errno, errno_of, limit};
use crate::record::{self, CThread, Handle, Joining, Pointer, Share, Termination, with_own};
use crate::unwind::{Function, Terminated, enclose};

/// The payload with which `uthread_exit` unwinds.
pub(crate) struct Exit(pub(crate) Pointer);

/// The value of a thread that was terminated, `UTHREAD_TERMINATED`.
const TERMINATED: Pointer = Pointer(ptr::without_provenance_mut(usize::MAX));

/// `uthread_attr_t`.
#[repr(C)]
pub struct Attributes {
    pub(crate) name: *const c_char,
    pub(crate) stack_size: usize,
    pub(crate) priority: c_int,
}

pub(crate) fn priority_of(number: c_int) -> Result<Priority, Errno> {
    match number {
        1 => Ok(Priority::Green),
        2 => Ok(Priority::Orange),
        3 => Ok(Priority::Red),
        _ => Err(libc::EINVAL),
    }
}

fn number_of(priority: Priority) -> c_int {
    match priority {
        Priority::Green => 1,
        Priority::Orange => 2,
        Priority::Red => 3,
    }
}

/// Runs a function of C to its end, or to `uthread_exit`, or until the thread is terminated.
///
/// # Safety
/// The function must take this argument.
pub(crate) unsafe fn call(function: Function, argument: Pointer) -> Result<Pointer, Errno> {
    // SAFETY: the caller's contract.
    let work = || Pointer(unsafe { enclose(function, argument.0) });
    uthread::catch_unwind(AssertUnwindSafe(work)).or_else(|payload| {
        match payload.downcast::<Exit>() {
            Ok(exit) => Ok(exit.0),
            Err(payload) if payload.is::<Terminated>() => Ok(TERMINATED),
            Err(payload) => Err(errno_of(&*payload)),
        }
    })
}

unsafe fn builder_of(attributes: *const Attributes) -> Result<Builder, Errno> {
    let mut builder = Builder::new();
    // SAFETY: the header asks for null or valid attributes, whose name is null or a string.
    if let Some(attributes) = unsafe { attributes.as_ref() } {
        if !attributes.name.is_null() {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(attributes.name) };
            builder = builder.name(&name.to_string_lossy());
        }
        if attributes.stack_size > 0 {
            builder = builder.stack_size(attributes.stack_size);
        }
        if attributes.priority != 0 {
            builder = builder.priority(priority_of(attributes.priority)?);
        }
    }
    Ok(builder)
}

/// # Safety
/// As the header asks.
unsafe fn create(
    place: *mut *const CThread,
    attributes: *const Attributes,
    function: Option<Function>,
    argument: *mut c_void,
) -> Result<c_int, Errno> {
    let function = function.ok_or(libc::EINVAL)?;
    // SAFETY: the header asks for null or valid attributes.
    let builder = unsafe { builder_of(attributes) }?;
    let argument = Pointer(argument);
    let work = move || {
        let argument = argument;
        ErrorNumber::clear();
        // SAFETY: the thread was lent to C. The header asks for a function that takes this argument.
        unsafe { Share::of_running(|| call(function, argument)) }
    };
    let lend = |joins| {
        let handle = record::lend(joins);
        // SAFETY: the header asks for null or a place for a pointer.
        match unsafe { place.as_mut() } {
            Some(place) => *place = handle,
            None => record::take(handle).into_iter().for_each(Joining::detach),
        }
    };
    let spawned = builder.spawn_with(work, lend);
    spawned.map(|()| 0).map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => libc::EINVAL,
        _ => libc::ENOMEM,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_create(
    thread: *mut *const CThread,
    attributes: *const Attributes,
    function: Option<Function>,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: as the header asks.
    let create = || unsafe { create(thread, attributes, function, argument) };
    if !uthread::is_user_thread() {
        return caught(create);
    }
    // Nothing in it switches or panics.
    let _back_at_the_end = ErrorNumber::keep();
    finished(create().unwrap_or_else(|errno| -errno))
}

/// Joins a thread, if `wait` says that it has ended. Otherwise C keeps the thread.
///
/// # Safety
/// The place must be null or valid.
unsafe fn join(
    thread: *const CThread,
    value: *mut *mut c_void,
    wait: impl FnOnce(&mut Handle) -> bool,
) -> c_int {
    caught(|| {
        if !uthread::is_user_thread() {
            return Err(libc::EPERM);
        }
        if record::is_own(thread) {
            return Err(libc::EDEADLK);
        }
        let mut joining = record::take(thread)?;
        if !wait(joining.handle()) {
            return Err(libc::ETIMEDOUT);
        }
        let left = joining.left()?;
        if !value.is_null() {
            // SAFETY: the caller's contract.
            unsafe { value.write(left.0) };
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_join(thread: *const CThread, value: *mut *mut c_void) -> c_int {
    let wait = |handle: &mut JoinHandle<_>| {
        handle.wait();
        true
    };
    // SAFETY: as the header asks.
    unsafe { join(thread, value, wait) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_join_timed(
    thread: *const CThread,
    value: *mut *mut c_void,
    microseconds: c_uint,
) -> c_int {
    // SAFETY: as the header asks.
    unsafe {
        join(thread, value, |handle| {
            handle.wait_timeout(limit(microseconds))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_detach(thread: *const CThread) -> c_int {
    caught(|| {
        record::take(thread)?.detach();
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_self() -> *const CThread {
    if !uthread::is_user_thread() {
        return ptr::null();
    }
    let _back_at_the_end = ErrorNumber::keep();
    let find = || record::own().unwrap_or_else(record::adopt).handle();
    finished(uthread::catch_unwind(find).unwrap_or(ptr::null()))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_id() -> u64 {
    if uthread::is_user_thread() {
        finished(uthread::current().id().number())
    } else {
        0
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_yield() -> c_int {
    let waits = || {
        uthread::yield_now();
        Ok(0)
    };
    if switching(uthread::yield_quickly) {
        0
    } else {
        out_of_line(|| caught(waits))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_suspend() -> c_int {
    caught(|| {
        uthread::suspend();
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_suspend_timed(microseconds: c_uint) -> c_int {
    caught(|| {
        let resumed = uthread::suspend_timeout(limit(microseconds));
        if resumed { Ok(0) } else { Err(libc::ETIMEDOUT) }
    })
}

/// Works with the thread behind a handle.
fn with(thread: *const CThread, work: impl FnOnce(&Thread) -> Result<c_int, Errno>) -> c_int {
    caught(|| work(&record::with(thread, |state| state.thread())?))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_resume(thread: *const CThread) -> c_int {
    with(thread, |thread| {
        thread.resume();
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cancel(thread: *const CThread) -> c_int {
    caught(|| {
        record::with(thread, |state| {
            if state.termination != Termination::Obeyed {
                state.thread()?.cancel();
            }
            Ok(0)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_testcancel() -> c_int {
    caught(|| {
        if uthread::take_cancel() {
            Err(libc::ECANCELED)
        } else {
            Ok(0)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_terminate(thread: *const CThread) -> c_int {
    caught(|| {
        record::with(thread, |state| match state.termination {
            Termination::Impossible => Err(libc::EINVAL),
            Termination::Possible => {
                state.thread()?.cancel();
                state.termination = Termination::Requested;
                Ok(0)
            }
            Termination::Requested | Termination::Obeyed => Ok(0),
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_terminate_disable() {
    let _back_at_the_end = ErrorNumber::keep();
    finished(with_own(|own| own.held_off.fetch_add(1, Ordering::Relaxed)));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_terminate_enable() {
    let _back_at_the_end = ErrorNumber::keep();
    with_own(|own| {
        let held_off = own.held_off.load(Ordering::Relaxed);
        // One call too many must not wrap, and so hold termination off for good.
        own.held_off
            .store(held_off.saturating_sub(1), Ordering::Relaxed);
        let last = held_off == 1;
        // A wait may have obeyed the request meanwhile: the next one is to do so again.
        own.with(|state| {
            if last && state.termination == Termination::Requested {
                uthread::current().cancel();
            }
        });
    });
    finished(());
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_priority(thread: *const CThread) -> c_int {
    with(thread, |thread| Ok(number_of(thread.priority())))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_set_priority(thread: *const CThread, priority: c_int) -> c_int {
    with(thread, |thread| {
        thread.set_priority(priority_of(priority)?);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sleep(microseconds: c_uint) -> c_int {
    caught(|| {
        uthread::io::sleep(limit(microseconds));
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_may_wait() -> c_int {
    finished(c_int::from(uthread::may_wait()))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_preempt_disable() {
    core::mem::forget(no_preempt());
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_preempt_enable() {
    let _back_at_the_end = ErrorNumber::keep();
    let guard = no_preempt();
    // SAFETY: a guard is nothing but a count; this is the one that `uthread_preempt_disable` forgot.
    drop(unsafe { ptr::read(&raw const guard) });
    drop(guard);
}
