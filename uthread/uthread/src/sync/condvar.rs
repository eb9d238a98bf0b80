//! Condition variables, with the semantics of Hoare and of Mesa.

use core::fmt;
use core::ptr;
use core::time::Duration;
use std::sync::PoisonError;

use super::{Lock, LockGuard, LockResult, RawLock};
use crate::scheduler::Waiters;
use crate::thread::{Control, Wait, Woken};
use crate::worker::{Home, Section, Worker, enter, leave, leave_blocking, require_worker};

/// A condition variable: threads wait on it inside a [`Lock`](crate::Lock).
///
/// Hoare semantics (*Monitors: An Operating System Structuring Concept*, Communications of the ACM
/// 17, 1974): [`signal`](Self::signal) hands the lock to the first waiter. The waiter runs at once
/// and finds the condition exactly as the signaller left it. The signaller gets the lock back
/// before any thread that enters from outside. So `if` suffices where Mesa semantics need `while`.
/// The guard passes through `signal`, so no reference to the value survives the handover.
///
/// Mesa semantics (Lampson and Redell, 1980): [`notify`](Self::notify) only queues a waiter for the
/// lock. The waiter must check the condition again.
///
/// All threads that wait at the same time must use the same lock.
///
/// ```
/// use std::sync::Arc;
/// use uthread::{Condvar, Lock};
///
/// uthread::run(|| {
///     let room = Arc::new((Lock::new(None), Condvar::new()));
///     let consumer = {
///         let room = Arc::clone(&room);
///         uthread::spawn(move || {
///             let (value, filled) = &*room;
///             let mut value = value.lock().unwrap();
///             if value.is_none() {
///                 value = filled.wait(value).unwrap();
///             }
///             value.take().expect("nobody came between")
///         })
///     };
///     uthread::yield_now();
///     let mut value = room.0.lock().unwrap();
///     *value = Some(7);
///     let value = room.1.signal(value).unwrap();
///     assert_eq!(*value, None); // the consumer has already been there
///     drop(value);
///     assert_eq!(consumer.join().unwrap(), 7);
/// });
/// ```
pub struct Condvar {
    home: Home,
    /// Protected by the lock of the wait-for graph.
    waiters: Waiters<Control>,
}

// SAFETY: the queue is used only with the wait-for graph locked.
unsafe impl Sync for Condvar {}
// SAFETY: a condition variable that can be moved is not borrowed, hence no thread waits on it.
unsafe impl Send for Condvar {}

/// Result of [`Condvar::wait_timeout`].
///
/// ```
/// fn describe(result: uthread::WaitTimeoutResult) -> &'static str {
///     if result.timed_out() { "nobody signalled" } else { "signalled" }
/// }
/// # let _ = describe;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// True if the time was up before a signal came.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uthread::{Condvar, Lock};
    ///
    /// uthread::run(|| {
    ///     let (lock, condition) = (Lock::new(()), Condvar::new());
    ///     let waited = condition.wait_timeout(lock.lock().unwrap(), Duration::ZERO);
    ///     assert!(waited.unwrap().1.timed_out());
    /// });
    /// ```
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A condition variable without waiters.
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<u32>, Condvar) = (Lock::new(0), Condvar::new());
    /// # let _ = &ROOM;
    /// ```
    pub const fn new() -> Self {
        Self {
            home: Home::new(),
            waiters: Waiters::new(),
        }
    }

    /// Checks, before any change, that the condition variable belongs to this runtime, and that its
    /// waiters use `lock`.
    #[inline]
    fn check(&self, worker: &Worker, lock: &RawLock, operation: &str) {
        self.home
            .check(&worker.shared, operation, || self.waiters.forget());
        enter();
        let other = with_graph(worker, || {
            // SAFETY: waiters are alive.
            let first = unsafe { self.waiters.front().as_ref() };
            first.is_some_and(|first| !ptr::eq(first.parcel.get(), ptr::from_ref(lock).cast()))
        });
        leave();
        assert!(
            !other,
            "{operation}: threads wait for this condition with another lock"
        );
    }

    /// [Checks](Self::check), and that the guard is of the running thread. One that came from another thread, by a thread-local
    /// value of their kernel thread, is forgotten: that thread holds the lock on.
    #[inline]
    fn owned<'a, T: ?Sized>(&self, guard: LockGuard<'a, T>, operation: &str) -> LockGuard<'a, T> {
        let worker = require_worker(operation);
        let me = worker.current();
        if !guard.lock.raw.is_of(me) {
            guard.into_lock();
            panic!("{operation}: {} does not hold the lock", me.label());
        }
        self.check(worker, &guard.lock.raw, operation);
        guard
    }

    /// The first waiter. The wait-for graph must be locked.
    #[inline]
    fn pop(&self) -> Option<&'static Control> {
        let first = self.waiters.pop_front()?;
        // SAFETY: a waiting thread is alive until woken.
        Some(unsafe { &*first })
    }

    /// Releases the lock, waits, and takes the lock again.
    ///
    /// # Errors
    /// The guard as well, if the lock is poisoned.
    ///
    /// # Panics
    /// While preemption is held off.
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<bool>, Condvar) = (Lock::new(false), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let waiter = uthread::spawn(|| {
    ///         let open = ROOM.0.lock().unwrap();
    ///         *ROOM.1.wait(open).unwrap()
    ///     });
    ///     uthread::yield_now();
    ///     let mut open = ROOM.0.lock().unwrap();
    ///     *open = true;
    ///     ROOM.1.signal_exit(open);
    ///     assert!(waiter.join().unwrap());
    /// });
    /// ```
    #[inline]
    pub fn wait<'a, T: ?Sized>(&self, guard: LockGuard<'a, T>) -> LockResult<LockGuard<'a, T>> {
        let guard = self.owned(guard, "Condvar::wait");
        let woken = self.block(&guard, "Condvar::wait", None);
        let lock = guard.into_lock();
        woken.in_time();
        LockGuard::new(lock)
    }

    /// Releases the lock and waits until a signalling thread has handed it back; `false` if the
    /// deadline passed before. Then this thread does not hold the lock.
    #[inline]
    fn block<T: ?Sized>(
        &self,
        guard: &LockGuard<'_, T>,
        operation: &str,
        deadline_ns: Option<u64>,
    ) -> Woken {
        let raw = &guard.lock.raw;
        let worker = raw.enter(operation);
        let me = worker.current();
        me.parcel.set(ptr::from_ref(raw).cast());
        let next = with_graph(worker, || {
            // SAFETY: a running thread is in no queue; it stays alive while it waits.
            unsafe { self.waiters.push_back(me) };
            raw.pass_on(worker, me)
        });
        if let Some(next) = next {
            worker.wake(next);
        }
        // A signalling thread makes this thread the owner before it wakes it. A notifying one queues it.
        let woken = worker.block_until(Wait::Condition, deadline_ns, || {
            // SAFETY: this thread waits here or did so last.
            with_graph(worker, || unsafe { self.waiters.withdraw(me) })
        });
        if woken == Woken::Granted {
            raw.take_turn_again(worker, me);
        }
        leave_blocking();
        woken
    }

    /// Waits until `condition` is false, and checks it again after each wake-up.
    ///
    /// # Errors
    /// Same as [`Condvar::wait`].
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<u32>, Condvar) = (Lock::new(0), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let waiter = uthread::spawn(|| {
    ///         let guests = ROOM.0.lock().unwrap();
    ///         *ROOM.1.wait_while(guests, |guests| *guests < 2).unwrap()
    ///     });
    ///     for _ in 0..2 {
    ///         uthread::yield_now();
    ///         let mut guests = ROOM.0.lock().unwrap();
    ///         *guests += 1;
    ///         ROOM.1.notify(&guests);
    ///     }
    ///     assert_eq!(waiter.join().unwrap(), 2);
    /// });
    /// ```
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: LockGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<LockGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Like [`Condvar::wait`], but waits for a signal not longer than `limit`. Afterwards this thread
    /// takes the lock as a thread from outside does, without a time limit. A signal is never lost: it
    /// goes to a thread that still waits.
    ///
    /// # Errors
    /// The same as well, if the lock is poisoned.
    ///
    /// # Panics
    /// Same as [`Condvar::wait`], and if taking the lock again is a deadlock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<u32>, Condvar) = (Lock::new(0), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let value = ROOM.0.lock().unwrap();
    ///     let (value, result) = ROOM.1.wait_timeout(value, Duration::from_millis(1)).unwrap();
    ///     assert!(result.timed_out());
    ///     assert_eq!(*value, 0);
    /// });
    /// ```
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: LockGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(LockGuard<'a, T>, WaitTimeoutResult)> {
        let deadline_ns = require_worker("Condvar::wait_timeout").deadline_ns(limit);
        self.wait_until(guard, deadline_ns)
    }

    fn wait_until<'a, T: ?Sized>(
        &self,
        guard: LockGuard<'a, T>,
        deadline_ns: u64,
    ) -> LockResult<(LockGuard<'a, T>, WaitTimeoutResult)> {
        let guard = self.owned(guard, "Condvar::wait_timeout");
        let woken = self.block(&guard, "Condvar::wait_timeout", Some(deadline_ns));
        let lock = guard.into_lock();
        let signalled = woken.in_time();
        if !signalled {
            lock.raw.lock();
        }
        let result = WaitTimeoutResult(!signalled);
        match LockGuard::new(lock) {
            Ok(guard) => Ok((guard, result)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
        }
    }

    /// Waits until `condition` is false, but not longer than `limit`. If the result says that the
    /// time was up, `condition` was still true.
    ///
    /// # Errors
    /// Same as [`Condvar::wait_timeout`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<bool>, Condvar) = (Lock::new(false), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let limit = Duration::from_millis(1);
    ///     let open = ROOM.0.lock().unwrap();
    ///     let (open, result) = ROOM.1.wait_timeout_while(open, limit, |open| !*open).unwrap();
    ///     assert!(result.timed_out() && !*open);
    /// });
    /// ```
    pub fn wait_timeout_while<'a, T: ?Sized>(
        &self,
        mut guard: LockGuard<'a, T>,
        limit: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(LockGuard<'a, T>, WaitTimeoutResult)> {
        let deadline_ns = require_worker("Condvar::wait_timeout_while").deadline_ns(limit);
        let mut result = WaitTimeoutResult(false);
        while condition(&mut guard) {
            if result.timed_out() {
                return Ok((guard, result));
            }
            (guard, result) = self.wait_until(guard, deadline_ns)?;
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Hoare's signal: the first waiter takes the lock and runs at once. This thread gets the lock
    /// again when the waiter releases it.
    ///
    /// A waiter on another worker runs as soon as that worker schedules it.
    ///
    /// # Errors
    /// The guard as well, if the lock is poisoned.
    ///
    /// # Panics
    /// While preemption is held off.
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<u32>, Condvar) = (Lock::new(0), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let waiter = uthread::spawn(|| {
    ///         let value = ROOM.0.lock().unwrap();
    ///         *ROOM.1.wait(value).unwrap() *= 2;
    ///     });
    ///     uthread::yield_now();
    ///     let mut value = ROOM.0.lock().unwrap();
    ///     *value = 21;
    ///     let value = ROOM.1.signal(value).unwrap();
    ///     assert_eq!(*value, 42); // the waiter has already been there
    ///     # drop(value);
    ///     # waiter.join().unwrap();
    /// });
    /// ```
    #[inline]
    pub fn signal<'a, T: ?Sized>(&self, guard: LockGuard<'a, T>) -> LockResult<LockGuard<'a, T>> {
        let guard = self.owned(guard, "Condvar::signal");
        let raw = &guard.lock.raw;
        let worker = raw.enter("Condvar::signal");
        let me = worker.current();
        let waiter = with_graph(worker, || {
            let waiter = self.pop()?;
            raw.disown(worker, me);
            // SAFETY: a running thread is in no queue; it stays alive while it waits.
            unsafe { raw.urgent.push_back(me) };
            raw.give_to(worker, waiter, false);
            raw.lend(worker, me);
            Some(waiter)
        });
        if let Some(waiter) = waiter {
            if waiter.home() == worker.index {
                worker.block_and_run(Wait::Urgent, waiter);
            } else {
                worker.wake(waiter);
                worker.block(Wait::Urgent);
            }
        }
        leave();
        LockGuard::new(guard.into_lock())
    }

    /// Hoare's signal as the last action inside the monitor: the first waiter takes the lock, and
    /// this thread continues outside. Without a waiter, this releases the lock.
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<u32>, Condvar) = (Lock::new(0), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     ROOM.1.signal_exit(ROOM.0.lock().unwrap());
    ///     assert!(ROOM.0.try_lock().is_ok()); // no thread waited
    /// });
    /// ```
    pub fn signal_exit<T: ?Sized>(&self, guard: LockGuard<'_, T>) {
        let guard = self.owned(guard, "Condvar::signal_exit");
        let worker = require_worker("Condvar::signal_exit");
        let raw = &guard.lock.raw;
        enter();
        let me = worker.current();
        let waiter = with_graph(worker, || {
            let waiter = self.pop()?;
            raw.disown(worker, me);
            raw.give_to(worker, waiter, false);
            Some(waiter)
        });
        if let Some(waiter) = waiter {
            worker.wake(waiter);
            guard.into_lock();
        }
        leave();
    }

    /// Mesa's notify: the first waiter queues for the lock, behind the threads already there.
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<bool>, Condvar) = (Lock::new(false), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let waiter = uthread::spawn(|| {
    ///         let open = ROOM.0.lock().unwrap();
    ///         drop(ROOM.1.wait_while(open, |open| !*open).unwrap());
    ///     });
    ///     uthread::yield_now();
    ///     let mut open = ROOM.0.lock().unwrap();
    ///     *open = true;
    ///     ROOM.1.notify(&open);
    ///     drop(open);
    ///     waiter.join().unwrap();
    /// });
    /// ```
    pub fn notify<T: ?Sized>(&self, guard: &LockGuard<'_, T>) {
        self.requeue(guard, 1, |raw| &raw.entry);
    }

    /// [`notify`](Self::notify) for a library of C: neither panics nor switches. `false`, and nothing is done, if the running
    /// thread does not hold the lock, and where that is not certain.
    #[doc(hidden)]
    #[inline]
    pub fn notify_quickly<T: ?Sized>(&self, lock: &Lock<T>) -> bool {
        let raw = &lock.raw;
        let Some((section, worker)) = Section::begin() else {
            return false;
        };
        let known = raw.is_mine() && self.home.is_known(&worker.shared);
        let notified = known
            && with_graph(worker, || {
                // SAFETY: waiters are alive.
                let Some(first) = (unsafe { self.waiters.front().as_ref() }) else {
                    return true;
                };
                let has_this_lock = ptr::eq(first.parcel.get(), ptr::from_ref(raw).cast());
                if has_this_lock {
                    self.waiters.pop_front();
                    raw.enqueue(worker, &raw.entry, first);
                }
                has_this_lock
            });
        section.leave_without_tick();
        notified
    }

    /// Mesa's broadcast: all waiters queue for the lock, behind the threads already there.
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<bool>, Condvar) = (Lock::new(false), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let wait = || {
    ///         let open = ROOM.0.lock().unwrap();
    ///         drop(ROOM.1.wait_while(open, |open| !*open).unwrap());
    ///     };
    ///     let waiters = [uthread::spawn(wait), uthread::spawn(wait)];
    ///     uthread::yield_now();
    ///     let mut open = ROOM.0.lock().unwrap();
    ///     *open = true;
    ///     ROOM.1.notify_all(&open);
    ///     drop(open);
    ///     waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    /// });
    /// ```
    pub fn notify_all<T: ?Sized>(&self, guard: &LockGuard<'_, T>) {
        self.requeue(guard, usize::MAX, |raw| &raw.entry);
    }

    /// Same as [`notify`](Self::notify), without the lock: the first waiter takes the lock if it is free, or
    /// queues for it.
    ///
    /// Change what the waiters look at with the lock held. Otherwise a thread that has looked, but does not wait
    /// yet, misses the notification.
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<bool>, Condvar) = (Lock::new(false), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let waiter = uthread::spawn(|| {
    ///         let open = ROOM.0.lock().unwrap();
    ///         drop(ROOM.1.wait_while(open, |open| !*open).unwrap());
    ///     });
    ///     uthread::yield_now();
    ///     *ROOM.0.lock().unwrap() = true;
    ///     ROOM.1.notify_outside();
    ///     waiter.join().unwrap();
    /// });
    /// ```
    pub fn notify_outside(&self) {
        self.admit(1);
    }

    /// Same as [`notify_all`](Self::notify_all), without the lock; see [`notify_outside`](Self::notify_outside).
    ///
    /// ```
    /// uthread::run(|| uthread::Condvar::new().notify_all_outside());
    /// ```
    pub fn notify_all_outside(&self) {
        self.admit(usize::MAX);
    }

    /// After this thread releases the lock, all waiters get it one after the other, in FIFO order
    /// and before any thread that enters from outside. Each sees the changes of those before it.
    ///
    /// ```
    /// use uthread::{Condvar, Lock};
    ///
    /// static ROOM: (Lock<u32>, Condvar) = (Lock::new(0), Condvar::new());
    ///
    /// uthread::run(|| {
    ///     let wait = || {
    ///         let mut served = ROOM.1.wait(ROOM.0.lock().unwrap()).unwrap();
    ///         *served += 1;
    ///         *served
    ///     };
    ///     let waiters = [uthread::spawn(wait), uthread::spawn(wait)];
    ///     uthread::yield_now();
    ///     let served = ROOM.0.lock().unwrap();
    ///     ROOM.1.broadcast(&served);
    ///     drop(served);
    ///     assert_eq!(waiters.map(|waiter| waiter.join().unwrap()), [1, 2]);
    /// });
    /// ```
    pub fn broadcast<T: ?Sized>(&self, guard: &LockGuard<'_, T>) {
        self.requeue(guard, usize::MAX, |raw| &raw.urgent);
    }

    #[inline]
    fn requeue<T: ?Sized>(
        &self,
        guard: &LockGuard<'_, T>,
        most: usize,
        queue: impl Fn(&RawLock) -> &Waiters<Control>,
    ) {
        let worker = require_worker("Condvar::notify");
        let raw = &guard.lock.raw;
        self.check(worker, raw, "Condvar::notify");
        enter();
        with_graph(worker, || {
            for _ in 0..most {
                let Some(waiter) = self.pop() else { break };
                raw.enqueue(worker, queue(raw), waiter);
            }
        });
        leave();
    }

    fn admit(&self, most: usize) {
        let worker = require_worker("Condvar::notify_outside");
        self.home
            .check(&worker.shared, "Condvar::notify_outside", || {
                self.waiters.forget();
            });
        enter();
        let mut owner = None;
        with_graph(worker, || {
            for _ in 0..most {
                let Some(waiter) = self.pop() else { break };
                // SAFETY: a thread that waits here has put its lock there, which it borrows.
                let raw = unsafe { &*waiter.parcel.get().cast::<RawLock>() };
                // Of several, only one becomes the owner: it cannot release the lock before it is awake.
                owner = owner.or(raw.admit(worker, waiter));
            }
        });
        if let Some(owner) = owner {
            worker.wake(owner);
        }
        leave();
    }
}

impl Condvar {
    /// True if threads wait here, or may wait in a runtime that the caller is not in.
    #[doc(hidden)]
    pub fn is_awaited(&self) -> bool {
        self.home
            .is_awaited(|worker| with_graph(worker, || !self.waiters.is_empty()))
    }
}

/// Runs `work` with the wait-for graph locked; preemption must be disabled.
#[inline]
fn with_graph<R>(worker: &Worker, work: impl FnOnce() -> R) -> R {
    // SAFETY: preemption is disabled, and all threads of this runtime pass the same `exposed`.
    unsafe { worker.shared.graph.with(worker.exposed(), |()| work()) }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
