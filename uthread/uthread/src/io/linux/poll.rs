//! Waits for descriptors, like poll(2).

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use super::request::Request;
use crate::io::transfer::transfer;
use crate::worker::require_worker;

/// Conditions of a descriptor: those to wait for in [`poll_fd`], and those that it found.
///
/// ```
/// use uthread::io::Interest;
///
/// let either = Interest::READABLE.or(Interest::WRITABLE);
/// assert!(either.is_readable() && either.is_writable() && !either.is_error());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(pub(crate) libc::c_short);

impl Interest {
    /// The descriptor is readable, or the other side has closed.
    ///
    /// ```
    /// assert!(uthread::io::Interest::READABLE.is_readable());
    /// ```
    pub const READABLE: Self = Self(libc::POLLIN);
    /// The descriptor is writable.
    ///
    /// ```
    /// assert!(uthread::io::Interest::WRITABLE.is_writable());
    /// ```
    pub const WRITABLE: Self = Self(libc::POLLOUT);

    /// Either of the two.
    ///
    /// ```
    /// use uthread::io::Interest;
    ///
    /// assert!(Interest::READABLE.or(Interest::WRITABLE).is_writable());
    /// ```
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if the descriptor is readable, or the other side has closed.
    ///
    /// ```
    /// assert!(!uthread::io::Interest::WRITABLE.is_readable());
    /// ```
    pub fn is_readable(self) -> bool {
        self.0 & (libc::POLLIN | libc::POLLHUP) != 0
    }

    /// True if the descriptor is writable.
    ///
    /// ```
    /// assert!(!uthread::io::Interest::READABLE.is_writable());
    /// ```
    pub fn is_writable(self) -> bool {
        self.0 & libc::POLLOUT != 0
    }

    /// True if the descriptor is in error.
    ///
    /// ```
    /// assert!(!uthread::io::Interest::READABLE.is_error());
    /// ```
    pub fn is_error(self) -> bool {
        self.0 & (libc::POLLERR | libc::POLLNVAL) != 0
    }
}

/// Waits until a descriptor is readable or writable, like poll(2), while other threads run.
///
/// # Errors
/// The errors of poll(2).
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// use std::io::Write;
/// use uthread::io::{Interest, poll_fd};
///
/// # fn main() -> std::io::Result<()> {
/// let (reader, mut writer) = std::io::pipe()?;
/// let found = uthread::run(move || {
///     uthread::spawn(move || writer.write_all(b"x").unwrap());
///     poll_fd(&reader, Interest::READABLE)
/// })?;
/// assert!(found.is_readable());
/// # Ok(())
/// # }
/// ```
pub fn poll_fd(fd: impl AsFd, interest: Interest) -> io::Result<Interest> {
    poll(fd.as_fd(), interest, "io::poll_fd", None)
}

/// Like [`poll_fd`], but waits not longer than `limit`.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if nothing was found in all that time, and those of [`poll_fd`].
///
/// # Panics
/// Same as [`poll_fd`].
///
/// ```
/// use std::io::ErrorKind;
/// use std::time::Duration;
/// use uthread::io::{Interest, poll_fd_timeout};
///
/// # fn main() -> std::io::Result<()> {
/// let (reader, _writer) = std::io::pipe()?;
/// let limit = Duration::from_millis(1);
/// let found = uthread::run(|| poll_fd_timeout(&reader, Interest::READABLE, limit));
/// assert_eq!(found.unwrap_err().kind(), ErrorKind::TimedOut);
/// # Ok(())
/// # }
/// ```
pub fn poll_fd_timeout(fd: impl AsFd, interest: Interest, limit: Duration) -> io::Result<Interest> {
    poll(fd.as_fd(), interest, "io::poll_fd_timeout", Some(limit))
}

/// Waits for a descriptor on behalf of `operation`.
pub(crate) fn poll(
    fd: BorrowedFd<'_>,
    interest: Interest,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<Interest> {
    let request = Request::Poll {
        file: fd.as_raw_fd(),
        events: interest.0,
        waits: true,
    };
    // SAFETY: no buffer is involved.
    let found = unsafe { transfer(require_worker(operation), request, operation, limit) }?;
    Ok(Interest(found as libc::c_short))
}
