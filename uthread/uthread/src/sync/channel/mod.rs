//! Channels with multiple senders and multiple receivers.

mod end;
mod error;
mod receiver;
mod sender;
mod state;

pub(crate) use end::End;
pub use error::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
pub use receiver::Receiver;
pub use sender::Sender;
pub(crate) use state::Notice;
use state::Shared;

use std::sync::Arc;

/// A channel that holds at most `capacity` values. With 0, each sender waits for its receiver.
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::bounded(1);
///     uthread::spawn(move || (0..3).for_each(|i| sender.send(i).unwrap()));
///     assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// });
/// ```
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let shared = Shared::new(capacity);
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
