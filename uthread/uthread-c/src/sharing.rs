//! Recursive locks, and locks of readers and writers.

use core::ffi::{c_int, c_uint};
use core::mem::forget;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, TryLockError};

use uthread::{
    RecursiveLock, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockResult, current_key,
};

use crate::call::{caught, created, destroy, finished};
use crate::error::{Errno, limit, object};
use crate::held::Waiters;

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
pub struct CRwLock {
    lock: RwLock<()>,
    /// The key of the writer, or 0.
    writer: AtomicUsize,
    readers: AtomicUsize,
}

impl CRwLock {
    fn reads(&self, guard: RwLockReadGuard<'_, ()>) -> c_int {
        self.readers.fetch_add(1, Ordering::Relaxed);
        forget(guard);
        0
    }

    fn writes(&self, guard: RwLockWriteGuard<'_, ()>) -> c_int {
        self.writer.store(current_key(), Ordering::Relaxed);
        forget(guard);
        0
    }

    /// Forgets the running thread's guard. Returns whether it was that of a writer.
    ///
    /// # Errors
    /// `EPERM` if another thread writes, or nobody holds the lock.
    fn let_go(&self) -> Result<bool, Errno> {
        match self.writer.load(Ordering::Relaxed) {
            0 => {
                let order = Ordering::Relaxed;
                let less = |readers: usize| readers.checked_sub(1);
                let was_held = self.readers.fetch_update(order, order, less);
                was_held.map(|_| false).map_err(|_| libc::EPERM)
            }
            writer if writer == current_key() => {
                self.writer.store(0, Ordering::Relaxed);
                Ok(true)
            }
            _ => Err(libc::EPERM),
        }
    }
}

/// The guard of an attempt; else the error is `refused`. No panic of C's poisons the lock.
fn got<G>(attempt: TryLockResult<G>, refused: Errno) -> Result<G, Errno> {
    match attempt {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
        Err(TryLockError::WouldBlock) => Err(refused),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_create() -> *mut CRwLock {
    created(|| CRwLock {
        lock: RwLock::new(()),
        writer: AtomicUsize::new(0),
        readers: AtomicUsize::new(0),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_destroy(lock: *mut CRwLock) -> c_int {
    // SAFETY: the header asks for a lock that nobody uses afterwards.
    unsafe { crate::call::destroy_unless(lock, |lock| lock.lock.is_used()) }
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
        let guard = lock.lock.read();
        Ok(lock.reads(guard.unwrap_or_else(PoisonError::into_inner)))
    };
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_tryread(lock: *const CRwLock) -> c_int {
    // SAFETY: as the header asks.
    unsafe {
        with(lock, |lock| {
            Ok(lock.reads(got(lock.lock.try_read(), libc::EBUSY)?))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_read_timed(
    lock: *const CRwLock,
    microseconds: c_uint,
) -> c_int {
    let work = |lock: &CRwLock| {
        let attempt = lock.lock.read_timeout(limit(microseconds));
        Ok(lock.reads(got(attempt, libc::ETIMEDOUT)?))
    };
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_write(lock: *const CRwLock) -> c_int {
    let work = |lock: &CRwLock| {
        let guard = lock.lock.write();
        Ok(lock.writes(guard.unwrap_or_else(PoisonError::into_inner)))
    };
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_trywrite(lock: *const CRwLock) -> c_int {
    // SAFETY: as the header asks.
    unsafe {
        with(lock, |lock| {
            Ok(lock.writes(got(lock.lock.try_write(), libc::EBUSY)?))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_write_timed(
    lock: *const CRwLock,
    microseconds: c_uint,
) -> c_int {
    let work = |lock: &CRwLock| {
        let attempt = lock.lock.write_timeout(limit(microseconds));
        Ok(lock.writes(got(attempt, libc::ETIMEDOUT)?))
    };
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_rwlock_unlock(lock: *const CRwLock) -> c_int {
    let work = |lock: &CRwLock| {
        let writes = lock.let_go()?;
        // SAFETY: the guard was forgotten, and the thread holds the lock in this way.
        unsafe { lock.lock.force_unlock(writes) };
        Ok(0)
    };
    // SAFETY: as the header asks.
    unsafe { with(lock, work) }
}
