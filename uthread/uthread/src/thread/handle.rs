//! Thread handles.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering;
use core::time::Duration;

use super::control::{Control, DETACHED, FINISHED, Permit};
use super::entry::take_result;
use super::gone::Gone;
use super::id::ThreadId;
use super::orphan::add_orphan;
use super::wait::Wait;
use super::waiting::Woken;
use crate::scheduler::{Priority, Schedulable};
use crate::sync::reprioritize;
use crate::worker::{
    Shared, Worker, current_worker, enter, is_live, leave, leave_blocking, refuse, require_worker,
    visit,
};

/// A reference to a thread, which may have ended. It keeps the thread's stack allocated.
///
/// ```
/// let id = uthread::run(|| uthread::current().id());
/// assert_eq!(id.to_string(), "1");
/// ```
pub struct Thread(NonNull<Control>);

// SAFETY: the methods use only parts of the control block that are `Sync`, or lock the wait-for
// graph.
unsafe impl Send for Thread {}
// SAFETY: as above.
unsafe impl Sync for Thread {}

impl Thread {
    pub(super) fn of(control: &Control) -> Self {
        control.retain();
        Self(NonNull::from(control))
    }

    fn control(&self) -> &Control {
        // SAFETY: this handle's reference keeps it alive.
        unsafe { self.0.as_ref() }
    }

    /// The number of the thread.
    ///
    /// ```
    /// uthread::run(|| {
    ///     assert_ne!(uthread::spawn(|| ()).thread().id(), uthread::current().id());
    /// });
    /// ```
    pub fn id(&self) -> ThreadId {
        ThreadId::new(self.control().id)
    }

    /// The name given in [`Builder::name`](super::Builder::name).
    ///
    /// ```
    /// assert_eq!(uthread::run(|| uthread::current().name().map(str::len)), Some("main".len()));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.control().name()
    }

    /// The effective priority: the highest of the thread's own after decay, the ceilings of the
    /// locks that it holds, and the priorities that it has inherited.
    ///
    /// ```
    /// use uthread::Priority;
    ///
    /// assert_eq!(uthread::run(|| uthread::current().priority()), Priority::Orange);
    /// ```
    pub fn priority(&self) -> Priority {
        self.control().rank().effective()
    }

    /// True in the child of a fork for a thread that had not ended and did not call fork: it is not in this process.
    ///
    /// ```
    /// assert!(!uthread::run(|| uthread::current().is_gone()));
    /// ```
    pub fn is_gone(&self) -> bool {
        is_gone(self.control())
    }

    /// Sets the thread's own priority.
    ///
    /// # Panics
    /// Outside the thread's runtime.
    ///
    /// ```
    /// use uthread::Priority;
    ///
    /// uthread::run(|| {
    ///     let me = uthread::current();
    ///     me.set_priority(Priority::Red);
    ///     assert_eq!(me.priority(), Priority::Red);
    /// });
    /// ```
    pub fn set_priority(&self, priority: Priority) {
        let control = self.control();
        let worker = same_runtime(control, "set_priority");
        enter();
        // SAFETY: preemption is disabled, and all threads of the runtime pass the same `exposed`.
        unsafe {
            worker.shared.graph.with(worker.exposed(), |()| {
                reprioritize(worker, control, |control| control.rank().assign(priority));
            });
        }
        leave();
    }

    /// Lets the thread continue from [`suspend`](super::suspend), or not block at the next one. Other kernel threads
    /// may call this while the runtime has a handle of [`external`](crate::external()), and after its end.
    ///
    /// # Panics
    /// Outside the thread's runtime, if that is not open to others.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let thread = uthread::spawn(uthread::suspend);
    ///     thread.thread().resume(); // before it suspends itself: it will not stop
    ///     thread.join().unwrap();
    /// });
    /// ```
    pub fn resume(&self) {
        let control = self.control();
        match current_worker() {
            Some(worker) if worker.shared.id() == control.runtime.get() => {
                enter();
                // SAFETY: preemption is disabled, and all users of the permit pass the same `exposed`.
                if unsafe { control.give_permit(&worker.shared, worker.exposed()) } {
                    worker.wake(control);
                }
                leave();
            }
            inside => {
                let resumed = visit(
                    || control.runtime.get(),
                    |visit| {
                        // SAFETY: as above, since the runtime is open.
                        let awaits = |runtime| unsafe { control.give_permit(runtime, true) };
                        if visit.runtime().is_some_and(awaits) {
                            visit.wake(control);
                        }
                    },
                );
                if resumed.is_none() {
                    refuse("resume", inside.is_some());
                }
            }
        }
    }

    /// Cancels the wait of the thread, or else its next one. That is any wait that can have a time
    /// limit, also where it has none, a sleep, or a [`yield_now`](super::yield_now()).
    ///
    /// The thread unwinds from its wait, as by [`exit`](super::exit): its destructors run, and
    /// [`join`](JoinHandle::join) returns [`Cancelled`](super::Cancelled). It has nothing of what it
    /// waited for, and others get that. Transfers and the timed operations of channels return an
    /// error instead. One request ends one wait: further waits, as in destructors, are not cancelled,
    /// and several requests before a wait count as one. What a thread has got already it keeps: then
    /// the request ends the next wait. Waits of a thread that unwinds are not cancelled at all.
    ///
    /// # Panics
    /// Outside a runtime, and for a thread of another runtime.
    ///
    /// ```
    /// use uthread::{Cancelled, bounded, spawn};
    ///
    /// uthread::run(|| {
    ///     let (sender, receiver) = bounded::<u32>(0);
    ///     let thread = spawn(move || receiver.recv());
    ///     uthread::yield_now();
    ///     thread.thread().cancel();
    ///     assert!(thread.join().unwrap_err().is::<Cancelled>());
    ///     assert!(sender.send(7).is_err()); // the receiver was dropped
    /// });
    /// ```
    pub fn cancel(&self) {
        let control = self.control();
        let worker = same_runtime(control, "cancel");
        enter();
        worker.cancel(control);
        leave();
    }
}

impl Control {
    /// Gives the thread its permit to continue; `true` if it waits for it, and the caller must wake it.
    ///
    /// # Safety
    /// Same as [`SpinCell::with`](crate::spin::SpinCell::with), for the lock of the wait-for graph.
    unsafe fn give_permit(&self, runtime: &Shared, exposed: bool) -> bool {
        // SAFETY: the caller's contract.
        unsafe {
            runtime.graph.with(exposed, |()| {
                let awaited = self.permit.get() == Permit::Awaited;
                self.permit
                    .set(if awaited { Permit::None } else { Permit::Given });
                awaited
            })
        }
    }
}

#[inline]
fn is_gone(control: &Control) -> bool {
    control.stayed_in_parent() && control.joiner.load(Ordering::Acquire) != FINISHED
}

/// The worker of the caller, which runs in the same runtime as `control`.
fn same_runtime(control: &Control, operation: &str) -> &'static Worker {
    let worker = require_worker(operation);
    assert!(
        control.runtime.get() == worker.shared.id(),
        "{operation} of a thread of another runtime"
    );
    worker
}

impl Clone for Thread {
    fn clone(&self) -> Self {
        Self::of(self.control())
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // SAFETY: this handle's own reference.
        unsafe { Control::release(self.0) };
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish()
    }
}

/// Waits for a thread and returns its result. Dropping the handle detaches the thread.
///
/// ```
/// uthread::run(|| {
///     let thread = uthread::spawn(|| -> u32 { panic!("no luck") });
///     let panic = thread.join().unwrap_err();
///     assert_eq!(panic.downcast_ref(), Some(&"no luck"));
/// });
/// ```
#[must_use = "a thread whose handle is dropped runs on by itself"]
pub struct JoinHandle<T> {
    control: NonNull<Control>,
    result: PhantomData<T>,
}

// SAFETY: it is used by threads of its runtime, or after the run; the result is `Send`.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the result.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// The handle of a thread that [`make`](super::entry::make) created.
    ///
    /// # Safety
    /// The thread's function returns a `T`, and the thread has no other handle.
    #[inline]
    pub(super) unsafe fn new(control: NonNull<Control>) -> Self {
        Self {
            control,
            result: PhantomData,
        }
    }

    #[inline]
    fn control(&self) -> &Control {
        // SAFETY: this handle's reference keeps it alive.
        unsafe { self.control.as_ref() }
    }

    /// A handle to the thread itself.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let handle = uthread::spawn(uthread::suspend);
    ///     let thread = handle.thread();
    ///     thread.resume();
    ///     handle.join().unwrap();
    /// });
    /// ```
    pub fn thread(&self) -> Thread {
        Thread::of(self.control())
    }

    /// Cancels the wait of the thread, or else its next one; see [`Thread::cancel`].
    ///
    /// # Panics
    /// Same as [`Thread::cancel`].
    ///
    /// ```
    /// uthread::run(|| {
    ///     let thread = uthread::spawn(|| uthread::io::sleep(std::time::Duration::MAX));
    ///     thread.cancel();
    ///     assert!(thread.join().is_err());
    /// });
    /// ```
    pub fn cancel(&self) {
        self.thread().cancel();
    }

    /// True if the thread has ended or is [gone](Thread::is_gone), so [`JoinHandle::join`] would not wait.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let thread = uthread::spawn(|| ());
    ///     assert!(!thread.is_finished());
    ///     uthread::yield_now();
    ///     assert!(thread.is_finished());
    /// });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.has_ended() || self.control().stayed_in_parent()
    }

    /// True if the thread is [gone](Thread::is_gone).
    #[doc(hidden)]
    #[inline]
    pub fn is_gone(&self) -> bool {
        is_gone(self.control())
    }

    /// [`set_own_value`](super::set_own_value) for a thread that has not begun.
    ///
    /// # Safety
    /// Same as there, and preemption must be disabled since the start of the thread.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn set_own_value(&self, value: NonNull<()>, destroy: unsafe fn(NonNull<()>)) {
        // SAFETY: nobody else uses its locals yet.
        unsafe { (*self.control().locals.get()).set_own((value, destroy)) };
    }

    /// True if the thread has a result.
    pub(crate) fn has_ended(&self) -> bool {
        self.control().joiner.load(Ordering::Acquire) == FINISHED
    }

    /// Waits until the thread has ended.
    ///
    /// # Errors
    /// The payload, if the thread panicked or called [`exit`](super::exit); [`Gone`] if it is not in this process.
    ///
    /// # Panics
    /// Outside the thread's runtime during its run, and in the thread itself.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let thread = uthread::spawn(|| "done".to_owned());
    ///     assert_eq!(thread.join().unwrap(), "done");
    /// });
    /// ```
    #[inline]
    pub fn join(self) -> std::thread::Result<T> {
        let control = self.control();
        match current_worker() {
            Some(worker) if worker.shared.id() == control.runtime.get() => {
                self.wait_within(worker, "join", None).in_time();
            }
            _ => assert!(
                self.is_finished() && !is_live(control.runtime.get()),
                "join of a thread of another runtime, which still runs"
            ),
        }
        // SAFETY: the thread has finished. This code learns of the end from a worker that has left
        // the thread's stack.
        unsafe { self.take() }
    }

    /// Waits until the thread has ended, but not longer than `limit`.
    ///
    /// # Errors
    /// The handle itself, if the thread has not ended in all that time. The result of a thread that
    /// has ended is the one of [`JoinHandle::join`].
    ///
    /// # Panics
    /// Outside the thread's runtime, and in the thread itself.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// uthread::run(|| {
    ///     let thread = uthread::spawn(|| {
    ///         uthread::suspend();
    ///         7
    ///     });
    ///     let thread = thread.join_timeout(Duration::from_millis(1)).unwrap_err();
    ///     thread.thread().resume();
    ///     assert_eq!(thread.join().unwrap(), 7);
    /// });
    /// ```
    pub fn join_timeout(mut self, limit: Duration) -> Result<std::thread::Result<T>, Self> {
        if self.wait_timeout(limit) {
            // SAFETY: same as in `join`.
            Ok(unsafe { self.take() })
        } else {
            Err(self)
        }
    }

    /// Waits until the thread has ended, and leaves its result for [`JoinHandle::join`]. A thread
    /// whose wait here is cancelled keeps the handle.
    ///
    /// # Panics
    /// Outside the thread's runtime, and in the thread itself.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let mut thread = uthread::spawn(|| 7);
    ///     thread.wait();
    ///     assert!(thread.is_finished());
    ///     assert_eq!(thread.join().unwrap(), 7);
    /// });
    /// ```
    #[inline]
    pub fn wait(&mut self) {
        self.wait_here("wait", None).in_time();
    }

    /// Like [`JoinHandle::wait`], but not longer than `limit`; `false` if the thread has not ended in
    /// all that time.
    ///
    /// # Panics
    /// Same as [`JoinHandle::wait`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// uthread::run(|| {
    ///     let mut thread = uthread::spawn(uthread::suspend);
    ///     assert!(!thread.wait_timeout(Duration::from_millis(1)));
    ///     thread.thread().resume();
    ///     assert!(thread.wait_timeout(Duration::from_secs(10)));
    /// });
    /// ```
    pub fn wait_timeout(&mut self, limit: Duration) -> bool {
        self.wait_here("wait_timeout", Some(limit)).in_time()
    }

    #[inline]
    fn wait_here(&mut self, operation: &str, limit: Option<Duration>) -> Woken {
        match current_worker() {
            Some(worker) if worker.shared.id() == self.control().runtime.get() => {
                self.wait_within(worker, operation, limit)
            }
            _ if self.control().stayed_in_parent() => Woken::Granted,
            _ => panic!("{operation} of a thread of another runtime"),
        }
    }

    /// Takes the result.
    ///
    /// # Safety
    /// The thread must be gone, or have finished, and no worker may use its stack.
    #[inline]
    pub(crate) unsafe fn take(self) -> std::thread::Result<T> {
        if is_gone(self.control()) {
            return Err(Box::new(Gone));
        }
        // SAFETY: it has finished, and this consumes the handle, which was not detached.
        let result = unsafe { take_result(self.control()) };
        // SAFETY: the shared reference of thread and handle; the thread has ended.
        unsafe { Control::release(self.control) };
        core::mem::forget(self);
        result
    }

    #[inline]
    fn wait_within(&self, worker: &Worker, operation: &str, limit: Option<Duration>) -> Woken {
        let control = self.control();
        if control.joiner.load(Ordering::Acquire) == FINISHED {
            return Woken::Granted;
        }
        worker.enter_blocking(operation);
        let me = worker.current();
        let itself = ptr::eq(me, control);
        let mark = ptr::from_ref(me).cast_mut();
        let several = worker.several;
        let running = !itself && self.replace(several, ptr::null_mut(), mark);
        let woken = if running {
            let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
            let withdraw = || self.replace(several, mark, ptr::null_mut());
            worker.block_until(Wait::Join, deadline_ns, withdraw)
        } else {
            Woken::Granted
        };
        leave_blocking();
        assert!(!itself, "{} joins itself", control.label());
        woken
    }

    /// Replaces the mark that the thread finds at its end; `false` if the thread has already ended.
    #[inline]
    fn replace(&self, several: bool, old: *mut Control, new: *mut Control) -> bool {
        let joiner = &self.control().joiner;
        if several {
            return joiner
                .compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire)
                .is_ok();
        }
        // Preemption is disabled, and only threads of this worker use it.
        let found = joiner.load(Ordering::Acquire) == old;
        if found {
            joiner.store(new, Ordering::Release);
        }
        found
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let runtime = self.control().runtime.get();
        match current_worker() {
            Some(worker) if worker.shared.id() == runtime => {
                enter();
                let detached = self.replace(worker.several, ptr::null_mut(), DETACHED);
                leave();
                if detached {
                    return;
                }
            }
            _ if is_live(runtime) => return add_orphan(self.control),
            // Its frames stay as they are.
            _ if is_gone(self.control()) => return,
            _ => {}
        }
        // SAFETY: it has finished and its result was not taken; the reference is the one of `join`.
        unsafe {
            drop(take_result::<T>(self.control()));
            Control::release(self.control);
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("thread", &self.thread())
            .finish_non_exhaustive()
    }
}
