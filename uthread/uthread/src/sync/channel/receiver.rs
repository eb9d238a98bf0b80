//! Receiving.

use core::cell::UnsafeCell;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::super::homed::Homed;
use super::state::{Shared, State, wake};
use super::{RecvError, RecvTimeoutError, TryRecvError};
use crate::thread::Woken;
use crate::worker::{Section, enter, leave, leave_blocking, require_worker};

/// The receiving end of a channel. Each value goes to one receiver.
///
/// It may be cloned and dropped anywhere. But if the last one is dropped outside the runtime, and that is not open to
/// others, the senders that wait already do not notice.
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::unbounded();
///     let other = receiver.clone();
///     (1..=2).for_each(|i| sender.send(i).unwrap());
///     assert_eq!((receiver.recv(), other.recv()), (Ok(1), Ok(2)));
/// });
/// ```
pub struct Receiver<T>(pub(super) Arc<Shared<T>>);

impl<T: Send> Receiver<T> {
    /// Receives a value; waits while there is none. Waiting threads are served in FIFO order.
    ///
    /// # Errors
    /// If the channel is empty and no sender is left.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::unbounded();
    ///     uthread::spawn(move || sender.send(7).unwrap());
    ///     assert_eq!(receiver.recv(), Ok(7));
    /// });
    /// ```
    pub fn recv(&self) -> Result<T, RecvError> {
        let (woken, value) = self.recv_within("Receiver::recv", None);
        woken.in_time();
        value.ok_or(RecvError)
    }

    /// Receives a value; waits while there is none, but not longer than `limit`.
    ///
    /// # Errors
    /// If the channel was empty for all that time, it is empty and no sender is left, or the wait was
    /// cancelled.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uthread::RecvTimeoutError;
    ///
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::unbounded::<u32>();
    ///     let limit = Duration::from_millis(1);
    ///     assert_eq!(receiver.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
    ///     drop(sender);
    ///     assert_eq!(receiver.recv_timeout(limit), Err(RecvTimeoutError::Disconnected));
    /// });
    /// ```
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        match self.recv_within("Receiver::recv_timeout", Some(limit)) {
            (_, Some(value)) => Ok(value),
            (Woken::Granted, None) => Err(RecvTimeoutError::Disconnected),
            (Woken::TimedOut, None) => Err(RecvTimeoutError::Timeout),
            (Woken::Cancelled, None) => Err(RecvTimeoutError::Cancelled),
        }
    }

    /// Returns the value if there is one.
    /// Receives a value if that needs neither a switch nor a wake-up. It makes no panic, and leaves a deferred tick
    /// deferred.
    #[doc(hidden)]
    #[inline]
    pub fn recv_quickly(&self) -> Option<T> {
        let (section, worker) = Section::begin()?;
        let known = self.0.is_known(worker).then_some(worker);
        let value = known.and_then(|worker| self.0.take_alone(worker));
        section.leave_without_tick();
        value
    }

    fn recv_within(&self, operation: &str, limit: Option<Duration>) -> (Woken, Option<T>) {
        let worker = require_worker(operation);
        self.0.check(worker, operation);
        worker.enter_blocking(operation);
        let me = worker.current();
        let parcel = UnsafeCell::new(None);
        let place = parcel.get();
        let (blocks, sender) = self.0.with(worker, |state| {
            let (value, sender) = state.take();
            let blocks = value.is_none() && self.0.has_senders();
            // SAFETY: the slot is this thread's own; the thread is alive while it waits, and in no
            // queue yet.
            unsafe {
                *place = value;
                if blocks {
                    me.parcel.set(place.cast());
                    state.blocked_receivers.push_back(me);
                }
            }
            (blocks, sender)
        });
        wake(worker, sender);
        let woken = if blocks {
            self.0
                .block(worker, limit, |state| &state.blocked_receivers)
        } else {
            Woken::Granted
        };
        leave_blocking();
        (woken, parcel.into_inner())
    }

    /// Receives a value if there is one.
    ///
    /// # Errors
    /// If the channel is empty.
    ///
    /// # Panics
    /// Outside a runtime.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::unbounded();
    ///     assert!(receiver.try_recv().is_err());
    ///     sender.send(7).unwrap();
    ///     assert_eq!(receiver.try_recv(), Ok(7));
    /// });
    /// ```
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let worker = require_worker("Receiver::try_recv");
        self.0.check(worker, "Receiver::try_recv");
        enter();
        // Senders that go now leave nothing behind: what they sent is found below.
        let senders = self.0.has_senders();
        let (value, sender) = self.0.with(worker, State::take);
        wake(worker, sender);
        leave();
        value.ok_or(if senders {
            TryRecvError::Empty
        } else {
            TryRecvError::Disconnected
        })
    }

    /// Receives until no sender is left.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::unbounded();
    ///     uthread::spawn(move || (1..=3).for_each(|i| sender.send(i).unwrap()));
    ///     assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// });
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        core::iter::from_fn(|| self.recv().ok())
    }
}

impl<T> Receiver<T> {
    /// True if threads wait at any end, or may wait in a runtime that the caller is not in.
    #[doc(hidden)]
    pub fn is_awaited(&self) -> bool {
        self.0.home.is_awaited(|worker| {
            self.0.with(worker, |state| {
                !state.blocked_senders.is_empty() || !state.blocked_receivers.is_empty()
            })
        })
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.0.add_receiver();
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.remove_receiver();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
