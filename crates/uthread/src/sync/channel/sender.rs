//! Sending.

use core::cell::UnsafeCell;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::state::{Shared, State, wake};
use super::{SendError, SendTimeoutError};
use crate::thread::Woken;
use crate::worker::{leave_blocking, require_worker};

/// The sending end of a channel.
///
/// It may be cloned and dropped anywhere. But if the last one is dropped outside the runtime, the
/// receivers that wait already do not notice.
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
    /// Sends a value; waits while the channel is full. Waiting threads are served in FIFO order.
    ///
    /// # Errors
    /// If no receiver is left.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::bounded(1);
    ///     uthread::spawn(move || (1..=3).for_each(|i| sender.send(i).unwrap()));
    ///     assert_eq!(receiver.iter().sum::<u32>(), 6);
    /// });
    /// ```
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let (woken, value) = self.send_within("Sender::send", value, None);
        woken.in_time();
        value.map_or(Ok(()), |value| Err(SendError(value)))
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
        match self.send_within("Sender::send_timeout", value, Some(limit)) {
            (_, None) => Ok(()),
            (Woken::Granted, Some(value)) => Err(SendTimeoutError::Disconnected(value)),
            (Woken::TimedOut, Some(value)) => Err(SendTimeoutError::Timeout(value)),
            (Woken::Cancelled, Some(value)) => Err(SendTimeoutError::Cancelled(value)),
        }
    }

    /// Returns the value if nobody took it.
    fn send_within(
        &self,
        operation: &str,
        value: T,
        limit: Option<Duration>,
    ) -> (Woken, Option<T>) {
        let worker = require_worker(operation);
        self.0.check(worker, operation);
        worker.enter_blocking(operation);
        let me = worker.current();
        let parcel = UnsafeCell::new(Some(value));
        let place = parcel.get();
        let (blocks, receiver) = self.0.with(worker, |state| {
            // SAFETY: the slot is this thread's own, here and below; the slot of a blocked receiver
            // is on its stack, and empty.
            unsafe {
                if !self.0.has_receivers() {
                    return (false, None);
                }
                if let Some(receiver) = state.blocked_receivers.pop_front() {
                    *State::<T>::parcel(receiver) = (*place).take();
                    return (false, Some(receiver));
                }
                if state.buffer.len() < state.capacity {
                    state.buffer.extend((*place).take());
                    return (false, None);
                }
                me.parcel.set(place.cast());
                state.blocked_senders.push_back(me);
                (true, None)
            }
        });
        wake(worker, receiver);
        let woken = if blocks {
            self.0.block(worker, limit, |state| &state.blocked_senders)
        } else {
            Woken::Granted
        };
        leave_blocking();
        (woken, parcel.into_inner())
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
