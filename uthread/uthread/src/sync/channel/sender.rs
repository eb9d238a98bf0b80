//! Sending.

use core::cell::UnsafeCell;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::super::homed::Homed;
use super::state::{Shared, State, wake};
use super::{SendError, SendTimeoutError, TrySendError};
use crate::thread::{Control, Parked, Woken};
use crate::worker::{
    Section, Worker, current_worker, enter, leave, leave_blocking, refuse, require_worker,
};

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
            Some(worker) if self.0.admits(worker) => {
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
        let work = |state: &mut State<T>| self.offer(state, value, None);
        let offer = match current_worker() {
            Some(worker) if self.0.admits(worker) => {
                enter();
                let (offer, receiver) = self.0.with(worker, work);
                wake(worker, receiver);
                leave();
                offer
            }
            _ => self.0.visit("Sender::try_send", work),
        };
        match offer {
            Offer::Closed(value) => Err(TrySendError::Disconnected(value)),
            Offer::Full(Some(value)) => Err(TrySendError::Full(value)),
            Offer::Full(None) | Offer::Passed => Ok(()),
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
        self.0.check(worker, operation);
        match self.send_within(worker, operation, value, Some(limit)) {
            (_, None) => Ok(()),
            (Woken::Granted, Some(value)) => Err(SendTimeoutError::Disconnected(value)),
            (Woken::TimedOut, Some(value)) => Err(SendTimeoutError::Timeout(value)),
            (Woken::Cancelled, Some(value)) => Err(SendTimeoutError::Cancelled(value)),
        }
    }

    /// Sends a value if that needs neither a switch nor a wake-up, and returns it otherwise. It makes no panic, and leaves
    /// a deferred tick deferred.
    ///
    /// # Errors
    /// The value.
    #[doc(hidden)]
    #[inline]
    pub fn send_quickly(&self, value: T) -> Result<(), T> {
        let Some((section, worker)) = Section::begin() else {
            return Err(value);
        };
        let sent = if self.0.is_known(worker) {
            self.0.put_alone(worker, value)
        } else {
            Err(value)
        };
        section.leave_without_tick();
        sent
    }

    /// Closes the channel, though ends are left: senders get their values back, receivers what is in the channel. Threads
    /// that wait to send wait on for a receiver. `false` if the channel belongs to a runtime that is not open to the caller.
    #[doc(hidden)]
    pub fn close(&self) -> bool {
        self.0.close()
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
        let place = UnsafeCell::new(None);
        let waits = Some((worker.current(), &place));
        let work = |state: &mut State<T>| self.offer(state, value, waits);
        let (offer, receiver) = self.0.with(worker, work);
        wake(worker, receiver);
        let result = match offer {
            Offer::Passed => (Woken::Granted, None),
            Offer::Closed(value) => (Woken::Granted, Some(value)),
            Offer::Full(_) => {
                let woken = self.0.block(worker, limit, |state| &state.blocked_senders);
                (woken, place.into_inner())
            }
        };
        leave_blocking();
        result
    }

    /// The same on a kernel thread without a worker.
    #[cold]
    #[inline(never)]
    fn send_from_outside(&self, value: T) -> Option<T> {
        let place = UnsafeCell::new(None);
        let me = Parked::new();
        let waits = Some((me.control(), &place));
        let work = |state: &mut State<T>| self.offer(state, value, waits);
        match self.0.visit("Sender::send", work) {
            Offer::Passed => None,
            Offer::Closed(value) => Some(value),
            Offer::Full(_) => {
                me.wait();
                place.into_inner()
            }
        }
    }

    /// Passes a value on if there is room. Otherwise the thread that `waits`, if there is one, joins the blocked senders
    /// with the value in its place, which must stay until it is woken. Returns the receiver that the caller must wake, too.
    #[inline]
    fn offer(
        &self,
        state: &mut State<T>,
        value: T,
        waits: Option<(&Control, &UnsafeCell<Option<T>>)>,
    ) -> (Offer<T>, Option<*const Control>) {
        if !self.0.has_receivers() {
            return (Offer::Closed(value), None);
        }
        let value = match state.put(value) {
            Ok(receiver) => return (Offer::Passed, receiver),
            Err(value) => value,
        };
        let Some((me, place)) = waits else {
            return (Offer::Full(Some(value)), None);
        };
        // SAFETY: the place is the caller's own. The caller is in no queue yet, and alive while it waits.
        unsafe {
            *place.get() = Some(value);
            me.parcel.set(place.get().cast_const().cast());
            state.blocked_senders.push_back(me);
        }
        (Offer::Full(None), None)
    }
}

/// The fate of a value.
enum Offer<T> {
    Passed,
    /// There is no room for it. `None`: it waits in its place.
    Full(Option<T>),
    /// No receiver is left.
    Closed(T),
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
