//! Recursive locks, and locks of readers and writers.

use core::ffi::{c_int, c_uint};
use core::mem::forget;

use uthread::{RecursiveLock, RwLock};

use crate::call::{caught, created, destroy, finished};
use crate::error::{Errno, limit, object};
use crate::held::Waiters;
use crate::lock::keep;

/// `uthread_reclock_t`. The guards are forgotten: the lock knows its owner.
pub struct CRecursiveLock {
    lock: RecursiveLock<()>,
    waiting: Waiters,
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_reclock_create() -> *mut CRecursiveLock {
    created(|| CRecursiveLock {
        lock: RecursiveLock::new(()),
        waiting: Waiters::none(),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_reclock_destroy(lock: *mut CRecursiveLock) -> c_int {
    // SAFETY: the header asks for a lock that nobody uses.
    unsafe {
        if lock
            .as_ref()
            .is_some_and(|lock| lock.lock.is_held() || lock.waiting.any())
        {
            return finished(-libc::EBUSY);
        }
        destroy(lock);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_reclock_lock(lock: *const CRecursiveLock) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a lock that lives until it is unlocked.
        let lock = unsafe { object(lock) }?;
        let _waiting = lock.waiting.enter();
        forget(lock.lock.lock());
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_reclock_trylock(lock: *const CRecursiveLock) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let attempt = unsafe { object(lock) }?.lock.try_lock();
        forget(attempt.ok_or(libc::EBUSY)?);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_reclock_lock_timed(
    lock: *const CRecursiveLock,
    microseconds: c_uint,
) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let lock = unsafe { object(lock) }?;
        let _waiting = lock.waiting.enter();
        let attempt = lock.lock.lock_timeout(limit(microseconds));
        forget(attempt.ok_or(libc::ETIMEDOUT)?);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_reclock_unlock(lock: *const CRecursiveLock) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let unlocked = unsafe { object(lock) }?.lock.unlock_forgotten();
        if unlocked { Ok(0) } else { Err(libc::EPERM) }
    })
}

/// `uthread_rwlock_t`. The guards are forgotten.
type CRwLock = RwLock<()>;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_create() -> *mut CRwLock {
    created(|| RwLock::new(()))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_destroy(lock: *mut CRwLock) -> c_int {
    // SAFETY: the header asks for a lock that nobody uses afterwards.
    unsafe { crate::call::destroy_unless(lock, CRwLock::is_used) }
}

/// Works with a lock of C.
///
/// # Safety
/// The pointer must be null, or to a lock that lives until it is unlocked.
unsafe fn with(lock: *const CRwLock, work: impl FnOnce(&CRwLock) -> Result<c_int, Errno>) -> c_int {
    // SAFETY: the caller's contract.
    caught(|| work(unsafe { object(lock) }?))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_read(lock: *const CRwLock) -> c_int {
    let work = |lock: &CRwLock| {
        forget(lock.read());
        Ok(0)
    };
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_tryread(lock: *const CRwLock) -> c_int {
    // SAFETY: as the header asks.
    unsafe { with(lock, |lock| keep(lock.try_read(), libc::EBUSY)) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_read_timed(
    lock: *const CRwLock,
    microseconds: c_uint,
) -> c_int {
    let work = |lock: &CRwLock| keep(lock.read_timeout(limit(microseconds)), libc::ETIMEDOUT);
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_write(lock: *const CRwLock) -> c_int {
    let work = |lock: &CRwLock| {
        forget(lock.write());
        Ok(0)
    };
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_trywrite(lock: *const CRwLock) -> c_int {
    // SAFETY: as the header asks.
    unsafe { with(lock, |lock| keep(lock.try_write(), libc::EBUSY)) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_write_timed(
    lock: *const CRwLock,
    microseconds: c_uint,
) -> c_int {
    let work = |lock: &CRwLock| keep(lock.write_timeout(limit(microseconds)), libc::ETIMEDOUT);
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_unlock(lock: *const CRwLock) -> c_int {
    let work = |lock: &CRwLock| {
        // SAFETY: the guard was forgotten.
        let unlocked = unsafe { lock.unlock_forgotten() };
        if unlocked { Ok(0) } else { Err(libc::EPERM) }
    };
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}
