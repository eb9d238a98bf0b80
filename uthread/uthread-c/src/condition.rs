//! Condition variables.

use core::any::Any;
use core::cell::Cell;
use core::ffi::{c_int, c_uint};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::PoisonError;

use uthread::{Cancelled, Condvar, LockGuard, LockResult, catch_unwind};

use crate::call::{caught, created, destroy_unless, outcome_or, quickly};
use crate::error::{errno_of, limit, object};
use crate::lock::CLock;

/// Lets go of the lock's guard, works with it, and keeps what comes back. A thread whose wait is
/// cancelled has lost the guard, and takes the lock again. If it `waits`, it holds the lock afterwards.
///
/// # Safety
/// Both pointers must be null, or to objects that live until this returns.
unsafe fn with(
    condition: *const Condvar,
    lock: *const CLock,
    waits: bool,
    work: impl FnOnce(&'static Condvar, LockGuard<'static, ()>) -> Option<LockGuard<'static, ()>>,
) -> c_int {
    // SAFETY: the caller's contract.
    let objects = unsafe { object(condition).and_then(|condition| Ok((condition, object(lock)?))) };
    let (condition, lock): (&'static Condvar, &'static CLock) = match objects {
        Ok(objects) => objects,
        Err(errno) => return -errno,
    };
    let begun = Cell::new(false);
    let work = || {
        let guard = lock.guard()?;
        if waits {
            lock.conditions.add_alone(1);
            begun.set(true);
        }
        let guard = work(condition, guard);
        if waits {
            lock.conditions.add_alone(-1);
        }
        core::mem::forget(guard);
        Ok(0)
    };
    let mend = |payload: Box<dyn Any + Send>| {
        if payload.is::<Cancelled>() {
            core::mem::forget(lock_again(lock));
        }
        if begun.get() {
            // Misuse has cost the lock, so this may be at the same time as a change by its owner.
            lock.conditions.remove();
        }
        errno_of(&*payload)
    };
    outcome_or(work, mend).unwrap_or_else(|errno| -errno)
}

/// Works with both without a wait.
///
/// # Safety
/// Both pointers must be null, or to objects that live until this returns.
unsafe fn at_once(
    condition: *const Condvar,
    lock: *const CLock,
    work: impl FnOnce(&Condvar, &LockGuard<'_, ()>),
) -> c_int {
    caught(|| {
        // SAFETY: the caller's contract.
        let (condition, lock) = unsafe { (object(condition)?, object(lock)?) };
        let guard = lock.guard()?;
        work(condition, &guard);
        core::mem::forget(guard);
        Ok(0)
    })
}

/// Notifies waiters: with the caller's lock, or without a lock if that is null.
///
/// # Safety
/// As above.
unsafe fn notify(
    condition: *const Condvar,
    lock: *const CLock,
    inside: impl FnOnce(&Condvar, &LockGuard<'_, ()>),
    outside: impl FnOnce(&Condvar),
) -> c_int {
    if !lock.is_null() {
        // SAFETY: the caller's contract.
        return unsafe { at_once(condition, lock, inside) };
    }
    caught(|| {
        // SAFETY: the caller's contract.
        outside(unsafe { object(condition) }?);
        Ok(0)
    })
}

/// Takes a lock. Requests to cancel that come meanwhile count as the one that led here.
fn lock_again(lock: &'static CLock) -> LockGuard<'static, ()> {
    loop {
        match catch_unwind(AssertUnwindSafe(|| whole(lock.lock.lock()))) {
            Ok(guard) => return guard,
            Err(payload) if payload.is::<Cancelled>() => {}
            Err(payload) => resume_unwind(payload),
        }
    }
}

fn whole(result: LockResult<LockGuard<'static, ()>>) -> LockGuard<'static, ()> {
    result.unwrap_or_else(PoisonError::into_inner)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_create() -> *mut Condvar {
    created(Condvar::new)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_destroy(condition: *mut Condvar) -> c_int {
    // SAFETY: the header asks for a condition that nobody uses afterwards.
    unsafe { destroy_unless(condition, Condvar::is_awaited) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_wait(
    condition: *const Condvar,
    lock: *const CLock,
) -> c_int {
    // SAFETY: the header asks for both.
    unsafe {
        with(condition, lock, true, |condition, guard| {
            Some(whole(condition.wait(guard)))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_wait_timed(
    condition: *const Condvar,
    lock: *const CLock,
    microseconds: c_uint,
) -> c_int {
    let mut timed_out = false;
    // SAFETY: the header asks for both.
    let result = unsafe {
        with(condition, lock, true, |condition, guard| {
            let waited = condition.wait_timeout(guard, limit(microseconds));
            let (guard, result) = waited.unwrap_or_else(PoisonError::into_inner);
            timed_out = result.timed_out();
            Some(guard)
        })
    };
    if result == 0 && timed_out {
        -libc::ETIMEDOUT
    } else {
        result
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_signal(
    condition: *const Condvar,
    lock: *const CLock,
) -> c_int {
    // SAFETY: the header asks for both.
    unsafe {
        with(condition, lock, true, |condition, guard| {
            Some(whole(condition.signal(guard)))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_signal_unlock(
    condition: *const Condvar,
    lock: *const CLock,
) -> c_int {
    // SAFETY: the header asks for both.
    unsafe {
        with(condition, lock, false, |condition, guard| {
            condition.signal_exit(guard);
            None
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_broadcast(
    condition: *const Condvar,
    lock: *const CLock,
) -> c_int {
    // SAFETY: the header asks for both.
    unsafe { at_once(condition, lock, Condvar::broadcast) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_notify(
    condition: *const Condvar,
    lock: *const CLock,
) -> c_int {
    // SAFETY: the header asks for null or a living lock.
    let locked = unsafe { lock.as_ref() };
    let at_once =
        |condition: &Condvar| locked.is_some_and(|lock| condition.notify_quickly(&lock.lock));
    quickly(condition, at_once, || {
        // SAFETY: the header asks for both.
        unsafe { notify(condition, lock, Condvar::notify, Condvar::notify_outside) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_cond_notify_all(
    condition: *const Condvar,
    lock: *const CLock,
) -> c_int {
    // SAFETY: the header asks for both.
    unsafe {
        notify(
            condition,
            lock,
            Condvar::notify_all,
            Condvar::notify_all_outside,
        )
    }
}
