//! The public operations.

use core::cell::Cell;
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use super::driver::Driver;
use super::request::{Operation, Request};
use super::sleep::sleep_or_cancelled;
use crate::thread::{Cancelled, Wait, Woken};
use crate::worker::{Mode, Worker, enter, leave, leave_blocking, require_worker};

/// Reads at an offset of a file, like pread(2). Data in the page cache is copied at once; otherwise
/// other threads run until the data has arrived.
///
/// # Errors
/// The errors of pread(2). A call that a signal interrupts is repeated.
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let file = std::fs::File::open("/proc/self/exe")?;
/// let magic = uthread::run(|| {
///     let mut magic = [0; 4];
///     uthread::io::read_at(&file, &mut magic, 0).map(|_| magic)
/// })?;
/// assert_eq!(&magic, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
pub fn read_at(file: impl AsFd, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    read(file.as_fd(), buffer, offset, "io::read_at", None)
}

/// Like [`read_at`], but waits not longer than `limit` for the transfer to end or to be cancelled.
///
/// It returns only when the kernel has finished with the buffer. A transfer that the device has begun
/// cannot be cancelled: it may end later than `limit`, and then succeeds.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if the transfer was cancelled, and those of [`read_at`].
///
/// # Panics
/// Same as [`read_at`].
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::time::Duration;
/// use uthread::io::read_at_timeout;
///
/// let file = std::fs::File::open("/proc/self/exe")?;
/// let magic = uthread::run(|| {
///     let mut magic = [0; 4];
///     read_at_timeout(&file, &mut magic, 0, Duration::from_secs(1)).map(|_| magic)
/// })?;
/// assert_eq!(&magic, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
pub fn read_at_timeout(
    file: impl AsFd,
    buffer: &mut [u8],
    offset: u64,
    limit: Duration,
) -> io::Result<usize> {
    let limit = Some(limit);
    read(file.as_fd(), buffer, offset, "io::read_at_timeout", limit)
}

fn read(
    file: BorrowedFd<'_>,
    buffer: &mut [u8],
    offset: u64,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<usize> {
    let worker = require_worker(operation);
    let fd = file.as_raw_fd();
    if let Some(bytes) = read_cached(worker, fd, buffer, offset) {
        return Ok(bytes);
    }
    let request = Request::Read {
        fd,
        buffer: buffer.as_mut_ptr(),
        bytes: buffer.len(),
        offset,
    };
    // SAFETY: the buffer is borrowed until the transfer is over.
    unsafe { transfer(worker, request, operation, limit) }.map(|bytes| bytes as usize)
}

/// Writes at an offset of a file, like pwrite(2), while other threads run.
///
/// # Errors
/// The errors of pwrite(2). A call that a signal interrupts is repeated.
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let file = std::fs::File::create("/dev/null")?;
/// let written = uthread::run(|| uthread::io::write_at(&file, b"hello", 0))?;
/// assert_eq!(written, 5);
/// # Ok(())
/// # }
/// ```
pub fn write_at(file: impl AsFd, buffer: &[u8], offset: u64) -> io::Result<usize> {
    write(file.as_fd(), buffer, offset, "io::write_at", None)
}

/// Like [`write_at`], with the time limit of [`read_at_timeout`].
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if the transfer was cancelled, and those of [`write_at`].
///
/// # Panics
/// Same as [`write_at`].
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::time::Duration;
/// use uthread::io::write_at_timeout;
///
/// let file = std::fs::File::create("/dev/null")?;
/// let write = || write_at_timeout(&file, b"hello", 0, Duration::from_secs(1));
/// assert_eq!(uthread::run(write)?, 5);
/// # Ok(())
/// # }
/// ```
pub fn write_at_timeout(
    file: impl AsFd,
    buffer: &[u8],
    offset: u64,
    limit: Duration,
) -> io::Result<usize> {
    let limit = Some(limit);
    write(file.as_fd(), buffer, offset, "io::write_at_timeout", limit)
}

fn write(
    file: BorrowedFd<'_>,
    buffer: &[u8],
    offset: u64,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<usize> {
    let fd = file.as_raw_fd();
    let request = Request::Write {
        fd,
        buffer: buffer.as_ptr(),
        bytes: buffer.len(),
        offset,
    };
    let worker = require_worker(operation);
    // SAFETY: the buffer is borrowed until the transfer is over.
    unsafe { transfer(worker, request, operation, limit) }.map(|bytes| bytes as usize)
}

/// Waits until a file's data is on its device, like fsync(2), while other threads run.
///
/// # Errors
/// The errors of fsync(2).
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let path = std::env::temp_dir().join(format!("uthread-fsync-{}", std::process::id()));
/// let file = std::fs::File::create(&path)?;
/// uthread::run(|| uthread::io::fsync(&file))?;
/// # std::fs::remove_file(path)
/// # }
/// ```
pub fn fsync(file: impl AsFd) -> io::Result<()> {
    sync(file.as_fd(), "io::fsync", None)
}

/// Like [`fsync`], with the time limit of [`read_at_timeout`].
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if the call was cancelled, and those of [`fsync`].
///
/// # Panics
/// Same as [`fsync`].
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let path = std::env::temp_dir().join(format!("uthread-fsync-timeout-{}", std::process::id()));
/// let file = std::fs::File::create(&path)?;
/// let limit = std::time::Duration::from_secs(10);
/// uthread::run(|| uthread::io::fsync_timeout(&file, limit))?;
/// # std::fs::remove_file(path)
/// # }
/// ```
pub fn fsync_timeout(file: impl AsFd, limit: Duration) -> io::Result<()> {
    sync(file.as_fd(), "io::fsync_timeout", Some(limit))
}

fn sync(file: BorrowedFd<'_>, operation: &str, limit: Option<Duration>) -> io::Result<()> {
    let request = Request::Sync {
        fd: file.as_raw_fd(),
    };
    // SAFETY: no buffer is involved.
    unsafe { transfer(require_worker(operation), request, operation, limit) }.map(drop)
}

/// Conditions of a descriptor: those to wait for in [`poll_fd`], and those that it found.
///
/// ```
/// use uthread::io::Interest;
///
/// let either = Interest::READABLE.or(Interest::WRITABLE);
/// assert!(either.is_readable() && either.is_writable() && !either.is_error());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(libc::c_short);

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

/// Like [`poll_fd`], but waits not longer than `limit`. With [`Backend::Threads`](super::Backend),
/// the limit is rounded up to milliseconds.
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

fn poll(
    fd: BorrowedFd<'_>,
    interest: Interest,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<Interest> {
    let request = Request::Poll {
        fd: fd.as_raw_fd(),
        events: interest.0,
        limit,
    };
    // SAFETY: no buffer is involved.
    let found = unsafe { transfer(require_worker(operation), request, operation, limit) }?;
    Ok(Interest(found as libc::c_short))
}

/// Copies from the page cache. `None` if nothing is cached, or if the kernel cannot say.
fn read_cached(worker: &Worker, fd: RawFd, buffer: &mut [u8], offset: u64) -> Option<usize> {
    /// Smallest alignment that direct transfers require (open(2), `O_DIRECT`).
    const SECTOR_BYTES: usize = 512;
    let edges = buffer.as_ptr().addr() | buffer.len() | offset as usize;
    let place = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let offset = libc::off_t::try_from(offset).ok()?;
    // Defers a tick during the call to its end. Otherwise the tick would be retried repeatedly.
    enter();
    // For direct transfers, `RWF_NOWAIT` does wait for the device.
    let may_wait = edges.is_multiple_of(SECTOR_BYTES) && !worker.plain.contains(fd);
    let bytes = (!may_wait).then(|| {
        // SAFETY: one buffer, borrowed exclusively.
        unsafe { libc::preadv2(fd, &raw const place, 1, offset, libc::RWF_NOWAIT) }
    });
    leave();
    // The actual transfer reports any error again, and it knows the end of the file: with
    // `RWF_NOWAIT`, Linux 5.9 and 5.10 may return zero before it (readv(2), "Bugs").
    usize::try_from(bytes?).ok().filter(|bytes| *bytes > 0)
}

/// Makes a request and blocks until the answer arrives, or until the request is cancelled, by a thread
/// or at the end of the limit.
///
/// # Safety
/// The buffer must stay valid until this returns.
unsafe fn transfer(
    worker: &Worker,
    request: Request,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<u32> {
    let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
    loop {
        let at_once = matches!(worker.shared.config.mode, Mode::Deterministic { .. });
        // SAFETY: the caller's contract.
        let (woken, result) = unsafe {
            // A deterministic run must not depend on the time of the kernel's answer.
            if at_once {
                perform_at_once(worker, request, deadline_ns)
            } else {
                wait_for(worker, request, operation, deadline_ns)?
            }
        };
        match -result {
            // The kernel reports a cancelled transfer in one of these two ways.
            libc::EINTR | libc::ECANCELED => {
                if woken == Woken::Cancelled {
                    return Err(io::Error::other(Cancelled));
                }
                if deadline_ns.is_some_and(|end_ns| worker.shared.clock.now_ns() >= end_ns) {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                // Nobody here asked for it, and nothing has been transferred: a signal came, or Linux gave up
                // a request that waits for a worker of io_uring, since it could start none. Signals that come
                // while it tries have that effect.
            }
            error => return u32::try_from(result).map_err(|_| io::Error::from_raw_os_error(error)),
        }
    }
}

/// Makes the call on the worker itself. A poll with a limit asks again after each slice.
///
/// # Safety
/// Same as [`transfer`].
unsafe fn perform_at_once(
    worker: &Worker,
    request: Request,
    deadline_ns: Option<u64>,
) -> (Woken, i32) {
    let (Request::Poll { fd, events, .. }, Some(deadline_ns)) = (request, deadline_ns) else {
        // SAFETY: the caller's contract.
        return (Woken::Granted, unsafe { request.perform() });
    };
    let limit = Some(Duration::ZERO);
    let once = Request::Poll { fd, events, limit };
    let mut woken = Woken::Granted;
    loop {
        let now_ns = worker.shared.clock.now_ns();
        // SAFETY: no buffer is involved.
        let result = unsafe { once.perform() };
        if result != -libc::ECANCELED || now_ns >= deadline_ns || woken == Woken::Cancelled {
            return (woken, result);
        }
        let slice_ns = worker.shared.slice_ns().max(1);
        woken = sleep_or_cancelled(Duration::from_nanos(slice_ns.min(deadline_ns - now_ns)));
    }
}

/// # Safety
/// Same as [`transfer`].
unsafe fn wait_for(
    worker: &Worker,
    request: Request,
    name: &str,
    deadline_ns: Option<u64>,
) -> io::Result<(Woken, i32)> {
    worker.enter_blocking(name);
    let me = worker.current();
    let operation = Operation {
        thread: me,
        request,
        result: Cell::new(-libc::ECANCELED),
    };
    let pushed = worker.with_driver(|driver| {
        // SAFETY: this function does not return before the operation has its answer.
        unsafe { driver.push(&operation) };
    });
    let answer = pushed.map(|()| {
        worker.shared.external.fetch_add(1, Ordering::Relaxed);
        worker.attention.set(true);
        let withdraw = || worker.withdraw_transfer(&operation);
        let woken = worker.block_until(Wait::Io, deadline_ns, withdraw);
        let result = operation.result.get();
        // The request was in the kernel, which has answered after all.
        let cancelled = matches!(-result, libc::EINTR | libc::ECANCELED) && me.take_cancel();
        (if cancelled { Woken::Cancelled } else { woken }, result)
    });
    leave_blocking();
    answer
}

impl Worker {
    /// The driver, created at its first use.
    fn with_driver(&self, work: impl FnOnce(&mut Driver)) -> io::Result<()> {
        let mut driver = self.driver.borrow_mut();
        let driver = match &mut *driver {
            Some(driver) => driver,
            none => none.insert(Driver::new(&self.shared, self.index)?),
        };
        work(driver);
        Ok(())
    }

    /// Asks for the early end of a transfer; `true` if it has ended without an answer.
    fn withdraw_transfer(&self, operation: &Operation) -> bool {
        let mut driver = self.driver.borrow_mut();
        let ended = driver
            .as_mut()
            .is_some_and(|driver| driver.cancel(operation));
        if ended {
            self.shared.external.fetch_sub(1, Ordering::Relaxed);
        }
        ended
    }
}
