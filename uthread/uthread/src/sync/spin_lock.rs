//! Locks that spin instead of blocking.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicPtr, Ordering};
use core::{fmt, hint, ptr};

use crate::thread::Control;
use crate::worker::{Home, Worker, depth, enter, leave, require_worker};

/// Control blocks begin with a cache line, so the lower bits of their addresses are free.
const LINE_BYTES: usize = 64;

/// In the place of the index of a worker that has too large a one.
const SOMEWHERE: usize = LINE_BYTES - 1;

/// The running thread as an owner: the address of its control block, and the index of its worker. A thread on another
/// worker may free the lock and end at any time, so only its mark can be read.
#[inline]
fn mark(worker: &Worker) -> *mut Control {
    let index = worker.index.min(SOMEWHERE);
    ptr::from_ref(worker.current())
        .cast_mut()
        .map_addr(|address| address | index)
}

/// The thread of a mark.
#[inline]
fn thread_of(mark: *mut Control) -> *mut Control {
    mark.map_addr(|address| address & !SOMEWHERE)
}

/// A spin lock. Waiting threads get it in no particular order.
///
/// A plain spin lock ([`SpinLock::new`]) lets its owner be preempted; a waiting thread then wastes
/// the rest of its slice. A spin lock that disables preemption
/// ([`SpinLock::holding_preemption_off`]) is for short sections: with one worker no time is wasted,
/// but nothing may block inside.
///
/// # Panics
/// Locking is a panic that names the threads if the running thread already holds the lock, or if waiting would never
/// end: the owner is on the same worker of a cooperative runtime, so it never runs; or no thread can run but those of this
/// worker that spin, and nothing comes from outside.
/// ```
/// use uthread::SpinLock;
///
/// uthread::run(|| {
///     let lock = SpinLock::holding_preemption_off(1);
///     *lock.lock() += 1;
///     assert_eq!(*lock.lock(), 2);
/// });
/// ```
pub struct SpinLock<T: ?Sized> {
    home: Home,
    owner: AtomicPtr<Control>,
    holds_preemption_off: bool,
    value: UnsafeCell<T>,
}

// SAFETY: only the owner of the lock uses the value.
unsafe impl<T: ?Sized + Send> Sync for SpinLock<T> {}
// SAFETY: a lock that can be moved is not borrowed.
unsafe impl<T: ?Sized + Send> Send for SpinLock<T> {}

impl<T> SpinLock<T> {
    /// A plain spin lock.
    ///
    /// ```
    /// static COUNT: uthread::SpinLock<u32> = uthread::SpinLock::new(0);
    ///
    /// uthread::run(|| *COUNT.lock() += 1);
    /// ```
    pub const fn new(value: T) -> Self {
        Self::with(value, false)
    }

    /// A spin lock whose owner is not preempted.
    ///
    /// ```
    /// static COUNT: uthread::SpinLock<u32> = uthread::SpinLock::holding_preemption_off(0);
    ///
    /// uthread::run(|| *COUNT.lock() += 1);
    /// ```
    pub const fn holding_preemption_off(value: T) -> Self {
        Self::with(value, true)
    }

    const fn with(value: T, holds_preemption_off: bool) -> Self {
        Self {
            home: Home::new(),
            owner: AtomicPtr::new(ptr::null_mut()),
            holds_preemption_off,
            value: UnsafeCell::new(value),
        }
    }

    /// Returns the value.
    ///
    /// ```
    /// assert_eq!(uthread::SpinLock::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> SpinLock<T> {
    /// Waits for the lock.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let lock = uthread::SpinLock::new(1);
    ///     *lock.lock() += 1;
    ///     assert_eq!(*lock.lock(), 2);
    /// });
    /// ```
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        let worker = require_worker("SpinLock::lock");
        self.home.check(&worker.shared, "SpinLock::lock", || ());
        enter();
        if !self.try_own(worker) {
            self.spin(worker);
        }
        self.guard()
    }

    /// Preemption must be disabled, and is so afterwards.
    #[cold]
    fn spin(&self, worker: &Worker) {
        /// A look at all threads takes longer than an attempt.
        const ATTEMPTS_PER_LOOK: u32 = 1 << 10;
        let me = worker.current();
        let _spins = Spins::new(me, &self.owner);
        let mut attempt = 0u32;
        loop {
            // A deferred tick takes effect here, so the owner may run.
            leave();
            self.check_spin(worker);
            hint::spin_loop();
            enter();
            if self.try_own(worker) {
                return;
            }
            attempt = attempt.wrapping_add(1);
            let others_run = depth() == 1 && worker.shared.preemptive();
            let looks = attempt.is_multiple_of(ATTEMPTS_PER_LOOK);
            if looks && worker.is_deadlock(others_run, Spins::in_vain) {
                leave();
                panic!(
                    "deadlock: {} waits for a spin lock, and no thread can run that would free it",
                    me.label()
                );
            }
        }
    }

    /// Takes the lock if it is free.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let lock = uthread::SpinLock::new(());
    ///     let guard = lock.try_lock();
    ///     assert!(guard.is_some() && lock.try_lock().is_none());
    /// });
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        let worker = require_worker("SpinLock::try_lock");
        self.home.check(&worker.shared, "SpinLock::try_lock", || ());
        enter();
        if self.try_own(worker) {
            return Some(self.guard());
        }
        leave();
        None
    }

    /// The guard of the lock just taken. Enables preemption unless the lock disables it.
    #[inline]
    fn guard(&self) -> SpinGuard<'_, T> {
        if !self.holds_preemption_off {
            leave();
        }
        SpinGuard {
            lock: self,
            not_send: PhantomData,
        }
    }

    /// Preemption must be disabled.
    #[inline]
    fn try_own(&self, worker: &Worker) -> bool {
        let me = mark(worker);
        let mut free = self.owner.load(Ordering::Relaxed).is_null();
        if free && worker.several {
            let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
            let taken = (self.owner).compare_exchange(ptr::null_mut(), me, success, failure);
            free = taken.is_ok();
        } else if free {
            self.owner.store(me, Ordering::Relaxed);
        }
        if free {
            worker.current().locks.take();
        }
        free
    }

    /// Panics if the owner cannot run.
    fn check_spin(&self, worker: &Worker) {
        let owner = self.owner.load(Ordering::Relaxed);
        let me = worker.current();
        assert!(
            owner != mark(worker),
            "{} locks a spin lock that it holds",
            me.label()
        );
        let stuck = depth() > 0 || !worker.shared.preemptive();
        let here = worker.index < SOMEWHERE && owner.addr() % LINE_BYTES == worker.index;
        if stuck && !owner.is_null() && here {
            // SAFETY: the owner is on this worker, so it cannot have run since the load, and it is alive while it counts
            // the lock as one that it holds.
            let owner = unsafe { (*thread_of(owner)).label() };
            panic!(
                "{} waits for a spin lock of {owner}, which cannot run meanwhile",
                me.label()
            );
        }
    }
}

/// The thread spins as long as this exists.
struct Spins<'a>(&'a Control);

impl<'a> Spins<'a> {
    fn new(thread: &'a Control, owner: &AtomicPtr<Control>) -> Self {
        thread.parcel.set(ptr::from_ref(owner).cast());
        thread.spins.set(true);
        Self(thread)
    }

    /// True if the thread of this worker spins for a lock that is held. Preemption must be disabled.
    fn in_vain(thread: &Control) -> bool {
        let owner = thread.parcel.get().cast::<AtomicPtr<Control>>();
        // SAFETY: a thread that spins borrows the lock, whose owner is its parcel.
        thread.spins.get() && unsafe { !(*owner).load(Ordering::Acquire).is_null() }
    }
}

impl Drop for Spins<'_> {
    fn drop(&mut self) {
        self.0.spins.set(false);
    }
}

/// Access to the value of a [`SpinLock`].
///
/// ```
/// uthread::run(|| {
///     let lock = uthread::SpinLock::new(1);
///     let mut guard = lock.lock();
///     *guard += 1;
///     assert_eq!(*guard, 2);
/// });
/// ```
#[must_use = "the lock is held only while the guard lives"]
pub struct SpinGuard<'a, T: ?Sized> {
    lock: &'a SpinLock<T>,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for SpinGuard<'_, T> {}

impl<T: ?Sized> Deref for SpinGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the thread that holds the guard owns the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let owner = self.lock.owner.load(Ordering::Relaxed);
        // SAFETY: it is alive while it counts the lock as one that it holds, and either it runs or has ended.
        unsafe { (*thread_of(owner)).locks.release() };
        self.lock.owner.store(ptr::null_mut(), Ordering::Release);
        if self.lock.holds_preemption_off {
            leave();
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for SpinGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for SpinLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpinLock")
            .field("holds_preemption_off", &self.holds_preemption_off)
            .finish_non_exhaustive()
    }
}
