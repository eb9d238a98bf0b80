//! Sending.

use core::cell::UnsafeCell;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::state::{Shared, State, wake};
use super::{SendError, SendTimeoutError, TrySendError};
use crate::thread::{Control, Parked, Woken};
use crate::worker::{Worker, current_worker, enter, leave, leave_blocking, refuse, require_worker};

/// The sending end of a channel.
///
/// It may be cloned and dropped anywhere. But if the last one is dropped outside the runtime, and that is not open to
/// others, the receivers that wait already do not notice.
///
/// Other kernel threads may send while the runtime has a handle of [`external`](crate::external()), and while no
/// runtime uses the channel. Signal handlers may not: see [`Poster`](crate::Poster).
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::unbounded();
///     let other = sender.clone();
///     sender.send(1).unwrap();
///     other.send(2).unwrap();
///     assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
/// });
/// ```
pub struct Sender<T>(pub(super) Arc<Shared<T>>);

impl<T: Send> Sender<T> {
    /// Sends a value; waits while the channel is full. Waiting threads are served in FIFO order. Outside the runtime,
    /// this blocks the kernel thread.
    ///
    /// # Errors
    /// If no receiver is left.
    ///
    /// # Panics
    /// If the channel belongs to a runtime that is not open to the caller, and while preemption is disabled.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::bounded(1);
    ///     uthread::spawn(move || (1..=3).for_each(|i| sender.send(i).unwrap()));
    ///     assert_eq!(receiver.iter().sum::<u32>(), 6);
    /// });
    /// ```
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let operation = "Sender::send";
        let value = match current_worker() {
            Some(worker) if self.0.home.admits(&worker.shared) => {
                let (woken, value) = self.send_within(worker, operation, value, None);
                woken.in_time();
                value
            }
            Some(_) => refuse(operation, true),
            None => self.send_from_outside(value),
        };
        value.map_or(Ok(()), |value| Err(SendError(value)))
    }

    /// Sends a value if that needs no wait.
    ///
    /// # Errors
    /// If the channel is full, or no receiver is left. The error contains the value.
    ///
    /// # Panics
    /// If the channel belongs to a runtime that is not open to the caller.
    ///
    /// ```
    /// use uthread::TrySendError;
    ///
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::bounded(1);
    ///     assert_eq!(sender.try_send(1), Ok(()));
    ///     assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    ///     drop(receiver);
    ///     assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    /// });
    /// ```
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let place = UnsafeCell::new(Some(value));
        let work = |state: &mut State<T>| self.offer(state, &place, None);
        let full = match current_worker() {
            Some(worker) if self.0.home.admits(&worker.shared) => {
                enter();
                let (full, receiver) = self.0.with(worker, work);
                wake(worker, receiver);
                leave();
                full
            }
            _ => self.0.visit("Sender::try_send", work),
        };
        match place.into_inner() {
            None => Ok(()),
            Some(value) if full => Err(TrySendError::Full(value)),
            Some(value) => Err(TrySendError::Disconnected(value)),
        }
    }

    /// Sends a value; waits while the channel is full, but not longer than `limit`.
    ///
    /// # Errors
    /// If the channel was full for all that time, no receiver is left, or the wait was cancelled. The
    /// error contains the value.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uthread::SendTimeoutError;
    ///
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::bounded(0);
    ///     let limit = Duration::from_millis(1);
    ///     assert_eq!(sender.send_timeout(7, limit), Err(SendTimeoutError::Timeout(7)));
    ///     drop(receiver);
    ///     assert_eq!(sender.send_timeout(7, limit), Err(SendTimeoutError::Disconnected(7)));
    /// });
    /// ```
    pub fn send_timeout(&self, value: T, limit: Duration) -> Result<(), SendTimeoutError<T>> {
        let operation = "Sender::send_timeout";
        let worker = require_worker(operation);
        self.0.home.check(&worker.shared, operation);
        match self.send_within(worker, operation, value, Some(limit)) {
            (_, None) => Ok(()),
            (Woken::Granted, Some(value)) => Err(SendTimeoutError::Disconnected(value)),
            (Woken::TimedOut, Some(value)) => Err(SendTimeoutError::Timeout(value)),
            (Woken::Cancelled, Some(value)) => Err(SendTimeoutError::Cancelled(value)),
        }
    }

    /// Returns the value if nobody took it.
    fn send_within(
        &self,
        worker: &Worker,
        operation: &str,
        value: T,
        limit: Option<Duration>,
    ) -> (Woken, Option<T>) {
        worker.enter_blocking(operation);
        let place = UnsafeCell::new(Some(value));
        let work = |state: &mut State<T>| self.offer(state, &place, Some(worker.current()));
        let (blocks, receiver) = self.0.with(worker, work);
        wake(worker, receiver);
        let woken = if blocks {
            self.0.block(worker, limit, |state| &state.blocked_senders)
        } else {
            Woken::Granted
        };
        leave_blocking();
        (woken, place.into_inner())
    }

    /// The same on a kernel thread without a worker.
    #[cold]
    fn send_from_outside(&self, value: T) -> Option<T> {
        let place = UnsafeCell::new(Some(value));
        let me = Parked::new();
        let blocks = self.0.visit("Sender::send", |state| {
            self.offer(state, &place, Some(me.control()))
        });
        if blocks {
            me.wait();
        }
        place.into_inner()
    }

    /// Passes the value in `place` on if there is room; `true` if the channel is full. Then `me`, if there is one, is
    /// among the blocked senders, and `place` must stay until it is woken. Returns the receiver that the caller must wake.
    fn offer(
        &self,
        state: &mut State<T>,
        place: &UnsafeCell<Option<T>>,
        me: Option<&Control>,
    ) -> (bool, Option<*const Control>) {
        if !self.0.has_receivers() {
            return (false, None);
        }
        // SAFETY: the place is the caller's own, and in no queue yet. The caller is alive while it waits.
        unsafe {
            let receiver = state.put(&mut *place.get());
            let full = (*place.get()).is_some();
            if let Some(me) = me.filter(|_| full) {
                me.parcel.set(place.get().cast_const().cast());
                state.blocked_senders.push_back(me);
            }
            (full, receiver)
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.add_sender();
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.remove_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
