//! Locks and spin locks.

use core::ffi::{c_int, c_uint};
use std::sync::{PoisonError, TryLockError};

use uthread::{Lock, LockGuard, Protocol, SpinGuard, SpinLock, TryLockResult};

use crate::call::{caught, created, destroy};
use crate::error::{Errno, limit, object};
use crate::held::Held;
use crate::thread::priority_of;

/// `uthread_lock_t`.
pub struct CLock {
    pub(crate) lock: Lock<()>,
    pub(crate) held: Held<LockGuard<'static, ()>>,
}

fn lock_of(protocol: c_int) -> Result<Lock<()>, Errno> {
    let protocol = match protocol {
        0 => Protocol::None,
        1 => Protocol::Inheritance,
        // UTHREAD_CEILING(priority)
        2..=4 => Protocol::Ceiling(priority_of(protocol - 2)?),
        5 => return Ok(Lock::barging(())),
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
        held: Held::nothing(),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_lock_destroy(lock: *mut CLock) -> c_int {
    // SAFETY: the header asks for a lock that nobody uses.
    unsafe {
        if lock.as_ref().is_some_and(|lock| lock.held.is_used()) {
            return -libc::EBUSY;
        }
        destroy(lock);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_lock(lock: *const CLock) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a lock that lives until it is unlocked.
        let lock: &'static CLock = unsafe { object(lock) }?;
        keep(lock, lock.lock.try_lock(), libc::EBUSY).or_else(|_| {
            let waiting = lock.held.wait();
            let guard = lock.lock.lock().unwrap_or_else(PoisonError::into_inner);
            lock.held.put(guard);
            drop(waiting);
            Ok(0)
        })
    })
}

/// Keeps the guard of an attempt to lock; else the error is `refused`.
fn keep(
    lock: &'static CLock,
    attempt: TryLockResult<LockGuard<'static, ()>>,
    refused: Errno,
) -> Result<c_int, Errno> {
    let guard = match attempt {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return Err(refused),
    };
    lock.held.put(guard);
    Ok(0)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_trylock(lock: *const CLock) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let lock: &'static CLock = unsafe { object(lock) }?;
        keep(lock, lock.lock.try_lock(), libc::EBUSY)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_lock_timed(lock: *const CLock, microseconds: c_uint) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let lock: &'static CLock = unsafe { object(lock) }?;
        let _waiting = lock.held.wait();
        let attempt = lock.lock.lock_timeout(limit(microseconds));
        keep(lock, attempt, libc::ETIMEDOUT)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_unlock(lock: *const CLock) -> c_int {
    caught(|| {
        // SAFETY: as above.
        drop(unsafe { object(lock) }?.held.take()?);
        Ok(0)
    })
}

/// `uthread_spinlock_t`.
pub struct CSpinLock {
    lock: SpinLock<()>,
    held: Held<SpinGuard<'static, ()>>,
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_spinlock_create() -> *mut CSpinLock {
    created(|| CSpinLock {
        lock: SpinLock::new(()),
        held: Held::nothing(),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_spinlock_destroy(lock: *mut CSpinLock) -> c_int {
    // SAFETY: the header asks for a lock that nobody uses.
    unsafe {
        if lock.as_ref().is_some_and(|lock| lock.held.is_used()) {
            return -libc::EBUSY;
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
            let _waiting = lock.held.wait();
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
