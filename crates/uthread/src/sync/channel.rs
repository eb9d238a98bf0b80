//! Channels of many senders and many receivers.

use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::AtomicBool;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::scheduler::Queue;
use crate::spin::SpinCell;
use crate::thread::{Control, Wait};
use crate::worker::{Home, Worker, current_worker, enter, leave, require_worker};

struct State<T> {
    buffer: VecDeque<T>,
    capacity: usize,
    /// Each has the place of its value in its parcel; one that is woken with the value still there
    /// has nobody left to receive it.
    blocked_senders: Queue<Control>,
    /// Each has an empty place in its parcel; one that is woken with nothing there has nobody left
    /// to send.
    blocked_receivers: Queue<Control>,
    senders: usize,
    receivers: usize,
}

// SAFETY: the queues are only chains of threads, used under the spin lock around the state.
unsafe impl<T: Send> Send for State<T> {}

impl<T> State<T> {
    /// The place of a thread that is blocked here.
    fn parcel(thread: *const Control) -> *mut Option<T> {
        // SAFETY: who waits is alive until woken.
        unsafe { &*thread }
            .parcel
            .get()
            .cast::<Option<T>>()
            .cast_mut()
    }

    /// Takes the next value, and lets in that of a sender who waits.
    fn take(&mut self) -> (Option<T>, Option<*const Control>) {
        let value = self.buffer.pop_front();
        let sender = self.blocked_senders.pop_front();
        // SAFETY: the place of a blocked sender is on its stack, and its own value is in it.
        let sent = sender.and_then(|sender| unsafe { (*Self::parcel(sender)).take() });
        match (value, sent) {
            (None, sent) => (sent, sender),
            (value, sent) => {
                self.buffer.extend(sent);
                (value, sender)
            }
        }
    }
}

struct Shared<T> {
    home: Home,
    state: SpinCell<State<T>>,
}

impl<T> Shared<T> {
    fn with<R>(&self, worker: &Worker, work: impl FnOnce(&mut State<T>) -> R) -> R {
        // SAFETY: preemption is off at every caller, and all threads of the home runtime say the
        // same of `several`.
        unsafe { self.state.with(worker.several, work) }
    }

    /// Changes the number of ends, from wherever an end is cloned or dropped; `work` returns a
    /// queue to be woken.
    fn count(&self, work: impl FnOnce(&mut State<T>) -> Queue<Control>) {
        enter();
        match current_worker() {
            Some(worker) if self.home.is(&worker.shared) => {
                let woken = self.with(worker, work);
                while let Some(thread) = woken.pop_front() {
                    // SAFETY: who waits is alive until woken.
                    worker.wake(unsafe { &*thread });
                }
            }
            _ => self.home.unless_live(|| {
                // SAFETY: no runtime uses the channel now or begins to; kernel threads exclude each
                // other by the spin lock.
                let woken = unsafe { self.state.with(true, work) };
                debug_assert!(
                    woken.is_empty(),
                    "all threads of the former runtime have ended"
                );
            }),
        }
        leave();
    }
}

fn wake(worker: &Worker, thread: Option<*const Control>) {
    if let Some(thread) = thread {
        // SAFETY: who waits is alive until woken.
        worker.wake(unsafe { &*thread });
    }
}

/// A channel that holds at most `capacity` values; with 0, a sender waits for its receiver.
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::bounded(1);
///     uthread::spawn(move || (0..3).for_each(|i| sender.send(i).unwrap()));
///     assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// });
/// ```
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let state = State {
        buffer: VecDeque::new(),
        capacity,
        blocked_senders: Queue::new(),
        blocked_receivers: Queue::new(),
        senders: 1,
        receivers: 1,
    };
    let state = SpinCell::new(AtomicBool::new(false), state);
    let shared = Arc::new(Shared {
        home: Home::new(),
        state,
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// A channel in which sending never waits.
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::unbounded();
///     sender.send("hello").unwrap();
///     assert_eq!(receiver.recv(), Ok("hello"));
///     drop(sender);
///     assert_eq!(receiver.recv(), Err(uthread::RecvError));
/// });
/// ```
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    bounded(usize::MAX)
}

/// No receiver is left; the value comes back.
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::bounded(1);
///     drop(receiver);
///     assert_eq!(sender.send(7), Err(uthread::SendError(7)));
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("all receivers of the channel are gone")]
pub struct SendError<T>(pub T);

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

/// The channel is empty and no sender is left.
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::bounded::<u32>(1);
///     drop(sender);
///     assert_eq!(receiver.recv(), Err(uthread::RecvError));
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the channel is empty and all senders are gone")]
pub struct RecvError;

/// Nothing could be received at once.
///
/// ```
/// use uthread::TryRecvError;
///
/// uthread::run(|| {
///     let (sender, receiver) = uthread::bounded::<u32>(1);
///     assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
///     drop(sender);
///     assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TryRecvError {
    /// The channel is empty.
    #[error("the channel is empty")]
    Empty,
    /// The channel is empty and no sender is left.
    #[error("the channel is empty and all senders are gone")]
    Disconnected,
}

/// The sending end of a channel.
///
/// It may be dropped anywhere; but if that happens outside the runtime while it runs, the receivers
/// do not learn of it.
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
pub struct Sender<T>(Arc<Shared<T>>);

impl<T: Send> Sender<T> {
    /// Sends a value; waits while the channel is full. Who waits is served in the order of coming.
    ///
    /// # Errors
    /// If no receiver is left.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is held off.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::bounded(1);
    ///     uthread::spawn(move || (1..=3).for_each(|i| sender.send(i).unwrap()));
    ///     assert_eq!(receiver.iter().sum::<u32>(), 6);
    /// });
    /// ```
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let worker = require_worker("Sender::send");
        self.0.home.check(&worker.shared, "Sender::send");
        worker.enter_blocking("Sender::send");
        let me = worker.current();
        let parcel = UnsafeCell::new(Some(value));
        let place = parcel.get();
        let (blocks, receiver) = self.0.with(worker, |state| {
            // SAFETY: this thread's own place, here and below; a blocked receiver's is on its
            // stack, and empty.
            unsafe {
                if state.receivers == 0 {
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
        if blocks {
            worker.block(Wait::Channel);
        }
        leave();
        match parcel.into_inner() {
            None => Ok(()),
            Some(value) => Err(SendError(value)),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.count(|state| {
            state.senders += 1;
            Queue::new()
        });
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.count(|state| {
            state.senders -= 1;
            if state.senders > 0 {
                return Queue::new();
            }
            core::mem::replace(&mut state.blocked_receivers, Queue::new())
        });
    }
}

/// The receiving end of a channel. Each value goes to one receiver.
///
/// It may be dropped anywhere; but if that happens outside the runtime while it runs, the senders
/// do not learn of it.
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::unbounded();
///     let other = receiver.clone();
///     (1..=2).for_each(|i| sender.send(i).unwrap());
///     assert_eq!((receiver.recv(), other.recv()), (Ok(1), Ok(2)));
/// });
/// ```
pub struct Receiver<T>(Arc<Shared<T>>);

impl<T: Send> Receiver<T> {
    /// Receives a value; waits while there is none. Who waits is served in the order of coming.
    ///
    /// # Errors
    /// If the channel is empty and no sender is left.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is held off.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let (sender, receiver) = uthread::unbounded();
    ///     uthread::spawn(move || sender.send(7).unwrap());
    ///     assert_eq!(receiver.recv(), Ok(7));
    /// });
    /// ```
    pub fn recv(&self) -> Result<T, RecvError> {
        let worker = require_worker("Receiver::recv");
        self.0.home.check(&worker.shared, "Receiver::recv");
        worker.enter_blocking("Receiver::recv");
        let me = worker.current();
        let parcel = UnsafeCell::new(None);
        let place = parcel.get();
        let (blocks, sender) = self.0.with(worker, |state| {
            let (value, sender) = state.take();
            let blocks = value.is_none() && state.senders > 0;
            // SAFETY: this thread's own place; it is alive while it waits, and in no queue yet.
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
        if blocks {
            worker.block(Wait::Channel);
        }
        leave();
        parcel.into_inner().ok_or(RecvError)
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
        self.0.home.check(&worker.shared, "Receiver::try_recv");
        enter();
        let (value, sender, senders) = self.0.with(worker, |state| {
            let (value, sender) = state.take();
            (value, sender, state.senders)
        });
        wake(worker, sender);
        leave();
        value.ok_or(if senders > 0 {
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

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.0.count(|state| {
            state.receivers += 1;
            Queue::new()
        });
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.count(|state| {
            state.receivers -= 1;
            if state.receivers > 0 {
                return Queue::new();
            }
            core::mem::replace(&mut state.blocked_senders, Queue::new())
        });
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
