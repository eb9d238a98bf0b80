//! Errors of channels.

use core::fmt;

/// No receiver is left; contains the value.
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

/// No value was available at once.
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

/// A value was not sent at once; contains it.
///
/// ```
/// uthread::run(|| {
///     let (sender, _receiver) = uthread::bounded(0);
///     assert_eq!(sender.try_send(7), Err(uthread::TrySendError::Full(7)));
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrySendError<T> {
    /// The channel is full.
    #[error("the channel is full")]
    Full(T),
    /// No receiver is left.
    #[error("all receivers of the channel are gone")]
    Disconnected(T),
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Disconnected(_) => "Disconnected(..)",
        })
    }
}

/// A value was not sent; contains it.
///
/// ```
/// use std::time::Duration;
/// use uthread::SendTimeoutError;
///
/// uthread::run(|| {
///     let (sender, _receiver) = uthread::bounded(0);
///     let error = sender.send_timeout(7, Duration::ZERO).unwrap_err();
///     assert_eq!(error, SendTimeoutError::Timeout(7));
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendTimeoutError<T> {
    /// The channel was full for all the time.
    #[error("the channel was full until the time was up")]
    Timeout(T),
    /// No receiver is left.
    #[error("all receivers of the channel are gone")]
    Disconnected(T),
    /// The wait was cancelled.
    #[error("the wait was cancelled")]
    Cancelled(T),
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Disconnected(_) => "Disconnected(..)",
            Self::Cancelled(_) => "Cancelled(..)",
        })
    }
}

/// No value was received.
///
/// ```
/// use std::time::Duration;
/// use uthread::RecvTimeoutError;
///
/// uthread::run(|| {
///     let (_sender, receiver) = uthread::bounded::<u32>(1);
///     assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecvTimeoutError {
    /// The channel was empty for all the time.
    #[error("the channel was empty until the time was up")]
    Timeout,
    /// The channel is empty and no sender is left.
    #[error("the channel is empty and all senders are gone")]
    Disconnected,
    /// The wait was cancelled.
    #[error("the wait was cancelled")]
    Cancelled,
}
