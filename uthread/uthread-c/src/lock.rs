//! Locks and spin locks.

use core::ffi::{c_int, c_uint};
use core::mem::forget;
use std::sync::TryLockError;

use uthread::{Lock, LockGuard, Protocol, SpinGuard, SpinLock, TryLockResult};

use crate::call::{caught, created, destroy, finished, quickly};
use crate::error::{Errno, limit, object};
use crate::held::{Held, Waiters};
use crate::thread::priority_of;

/// `uthread_lock_t`.
pub struct CLock {
    /// While it is held, its guard is forgotten: the lock knows its owner.
    pub(crate) lock: Lock<()>,
    pub(crate) waiting: Waiters,
    /// Those that have let go of the lock to wait for a condition. Only the owner changes it.
    pub(crate) conditions: Waiters,
}

impl CLock {
    /// The guard of the running thread.
    ///
    /// # Errors
    /// `EPERM` if it does not hold the lock.
    pub(crate) fn guard(&self) -> Result<LockGuard<'_, ()>, Errno> {
        // SAFETY: each guard of this lock is forgotten, or dropped before the call that has it returns.
        unsafe { self.lock.guard_again() }.ok_or(libc::EPERM)
    }
}

fn lock_of(protocol: c_int) -> Result<Lock<()>, Errno> {
    let protocol = match protocol {
        0 => Protocol::None,
        1 => Protocol::Inheritance,
        2 => return Ok(Lock::fifo(())),
        // UTHREAD_CEILING(priority)
        3..=5 => Protocol::Ceiling(priority_of(protocol - 2)?),
        _ => return Err(libc::EINVAL),
    };
    Ok(Lock::with_protocol((), protocol))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_lock_create(protocol: c_int) -> *mut CLock {
    let Ok(lock) = lock_of(protocol) else {
        return core::ptr::null_mut();
    };
    created(|| CLock {
        lock,
        waiting: Waiters::none(),
        conditions: Waiters::none(),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_lock_destroy(lock: *mut CLock) -> c_int {
    // SAFETY: the header asks for a lock that nobody uses.
    unsafe {
        if lock
            .as_ref()
            .is_some_and(|lock| lock.lock.is_held() || lock.waiting.any() || lock.conditions.any())
        {
            return finished(-libc::EBUSY);
        }
        destroy(lock);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_lock(lock: *const CLock) -> c_int {
    let wait = || {
        caught(|| {
            // SAFETY: the header asks for a lock that lives until it is unlocked.
            let lock = unsafe { object(lock) }?;
            let _waiting = lock.waiting.enter();
            forget(lock.lock.lock());
            Ok(0)
        })
    };
    quickly(lock, |lock| lock.lock.take_quickly(), wait)
}

/// Keeps the lock of an attempt; else the error is `refused`. No panic of C's poisons a lock.
pub(crate) fn keep<G>(attempt: TryLockResult<G>, refused: Errno) -> Result<c_int, Errno> {
    if let Err(TryLockError::WouldBlock) = attempt {
        return Err(refused);
    }
    forget(attempt);
    Ok(0)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_trylock(lock: *const CLock) -> c_int {
    let attempt = || {
        caught(|| {
            // SAFETY: as above.
            let lock = unsafe { object(lock) }?;
            keep(lock.lock.try_lock(), libc::EBUSY)
        })
    };
    quickly(lock, |lock| lock.lock.take_quickly(), attempt)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_lock_timed(lock: *const CLock, microseconds: c_uint) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let lock = unsafe { object(lock) }?;
        let _waiting = lock.waiting.enter();
        keep(lock.lock.lock_timeout(limit(microseconds)), libc::ETIMEDOUT)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_unlock(lock: *const CLock) -> c_int {
    let hand_over = || {
        caught(|| {
            // SAFETY: as above.
            drop(unsafe { object(lock) }?.guard()?);
            Ok(0)
        })
    };
    // SAFETY: the guard was forgotten.
    quickly(lock, |lock| unsafe { lock.lock.free_quickly() }, hand_over)
}

/// `uthread_spinlock_t`.
pub struct CSpinLock {
    lock: SpinLock<()>,
    held: Held<SpinGuard<'static, ()>>,
    waiting: Waiters,
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_spinlock_create() -> *mut CSpinLock {
    created(|| CSpinLock {
        lock: SpinLock::new(()),
        held: Held::nothing(),
        waiting: Waiters::none(),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_spinlock_destroy(lock: *mut CSpinLock) -> c_int {
    // SAFETY: the header asks for a lock that nobody uses.
    unsafe {
        if lock
            .as_ref()
            .is_some_and(|lock| lock.held.is_some() || lock.waiting.any())
        {
            return finished(-libc::EBUSY);
        }
        destroy(lock);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_spinlock_lock(lock: *const CSpinLock) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a lock that lives until it is unlocked.
        let lock: &'static CSpinLock = unsafe { object(lock) }?;
        let guard = lock.lock.try_lock().unwrap_or_else(|| {
            let _waiting = lock.waiting.enter();
            lock.lock.lock()
        });
        lock.held.put(guard);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_spinlock_trylock(lock: *const CSpinLock) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let lock: &'static CSpinLock = unsafe { object(lock) }?;
        lock.held.put(lock.lock.try_lock().ok_or(libc::EBUSY)?);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_spinlock_unlock(lock: *const CSpinLock) -> c_int {
    caught(|| {
        // SAFETY: as above.
        drop(unsafe { object(lock) }?.held.take()?);
        Ok(0)
    })
}
