//! Handles of the threads of a scope.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use super::children::Children;
use crate::thread::{Gone, JoinHandle, Thread};

/// Place for the value of a thread.
pub(super) struct Packet<T>(UnsafeCell<Option<T>>);

// SAFETY: the thread writes it before its end, and who joins it takes the value afterwards.
unsafe impl<T: Send> Sync for Packet<T> {}

impl<T> Packet<T> {
    pub(super) const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// # Safety
    /// Only the thread itself may call this, once.
    pub(super) unsafe fn put(&self, value: T) {
        // SAFETY: the caller's contract; nobody reads it before the thread has ended.
        unsafe { *self.0.get() = Some(value) };
    }

    /// # Safety
    /// The thread must have ended, and no one else may call this.
    unsafe fn take(&self) -> Option<T> {
        // SAFETY: the caller's contract.
        unsafe { (*self.0.get()).take() }
    }
}

/// Waits for a thread of a scope and returns its result. Without its handle the thread runs on, and the
/// scope waits for it.
///
/// ```
/// uthread::run(|| {
///     let numbers = [1, 2, 3];
///     let sum = uthread::scope(|scope| {
///         let thread = scope.spawn(|| numbers.iter().sum::<i32>());
///         thread.join().unwrap()
///     });
///     assert_eq!(sum, 6);
/// });
/// ```
pub struct ScopedJoinHandle<'scope, T> {
    pub(super) handle: JoinHandle<()>,
    pub(super) packet: Arc<Packet<T>>,
    pub(super) children: Arc<Children>,
    pub(super) scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// A handle to the thread itself.
    ///
    /// ```
    /// uthread::run(|| {
    ///     uthread::scope(|scope| scope.spawn(uthread::suspend).thread().resume());
    /// });
    /// ```
    pub fn thread(&self) -> Thread {
        self.handle.thread()
    }

    /// Cancels the wait of the thread, or else its next one; see [`Thread::cancel`].
    ///
    /// ```
    /// uthread::run(|| {
    ///     uthread::scope(|scope| scope.spawn(uthread::suspend).cancel());
    /// });
    /// ```
    pub fn cancel(&self) {
        self.handle.cancel();
    }

    /// True if the thread has ended, so [`ScopedJoinHandle::join`] would not wait.
    ///
    /// ```
    /// uthread::run(|| {
    ///     uthread::scope(|scope| {
    ///         let thread = scope.spawn(|| ());
    ///         uthread::yield_now();
    ///         assert!(thread.is_finished());
    ///     });
    /// });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// Waits until the thread has ended. Then the scope does not pass on its panic.
    ///
    /// # Errors
    /// The payload, if the thread panicked, was cancelled, or called [`exit`](crate::exit).
    ///
    /// # Panics
    /// Outside the thread's runtime, and in the thread itself.
    ///
    /// ```
    /// uthread::run(|| {
    ///     uthread::scope(|scope| {
    ///         let thread = scope.spawn(|| panic!("no luck"));
    ///         assert!(thread.join().is_err());
    ///     });
    /// });
    /// ```
    pub fn join(mut self) -> std::thread::Result<T> {
        self.handle.wait();
        if self.handle.thread().is_gone() {
            return Err(Box::new(Gone));
        }
        // SAFETY: the thread has ended, and this consumes its only handle.
        match unsafe { self.packet.take() } {
            Some(value) => Ok(value),
            None => Err(self
                .children
                .take_failure(self.handle.thread().id())
                .unwrap_or_else(|| unreachable!("a thread without a value has failed"))),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle")
            .field("thread", &self.thread())
            .finish_non_exhaustive()
    }
}
