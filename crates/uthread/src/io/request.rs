//! Requests to the kernel.

use core::cell::Cell;
use core::time::Duration;
use std::io;
use std::os::fd::RawFd;

use crate::thread::Control;

/// Mechanism for transfers that would block.
///
/// ```
/// use uthread::Runtime;
/// use uthread::io::Backend;
///
/// let runtime = Runtime::builder().io(Backend::Threads).build().unwrap();
/// assert_eq!(runtime.io(), Backend::Threads);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// `io_uring(7)`, or kernel threads if the system forbids it.
    #[default]
    Auto,
    /// `io_uring(7)`.
    Ring,
    /// Kernel threads that block in place of the caller.
    Threads,
}

/// A system call to make.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    Read {
        fd: RawFd,
        buffer: *mut u8,
        bytes: usize,
        offset: u64,
    },
    Write {
        fd: RawFd,
        buffer: *const u8,
        bytes: usize,
        offset: u64,
    },
    Sync {
        fd: RawFd,
    },
    Poll {
        fd: RawFd,
        events: libc::c_short,
        /// A limit for helper threads, whose wait nobody else can end. The ring does not need it.
        limit: Option<Duration>,
    },
}

impl Request {
    /// Makes the call on this kernel thread. Returns its result, or the negative error number, which
    /// is `ECANCELED` if a limit has passed.
    ///
    /// # Safety
    /// The buffer must be valid for the transfer.
    pub(super) unsafe fn perform(self) -> i32 {
        // SAFETY: the caller's contract.
        let result = unsafe {
            match self {
                Self::Read {
                    fd,
                    buffer,
                    bytes,
                    offset,
                } => libc::pread(fd, buffer.cast(), bytes, offset.cast_signed()),
                Self::Write {
                    fd,
                    buffer,
                    bytes,
                    offset,
                } => libc::pwrite(fd, buffer.cast(), bytes, offset.cast_signed()),
                Self::Sync { fd } => libc::fsync(fd) as isize,
                Self::Poll { fd, events, limit } => {
                    let mut poll = libc::pollfd {
                        fd,
                        events,
                        revents: 0,
                    };
                    match libc::poll(&raw mut poll, 1, milliseconds(limit)) {
                        0 => return -libc::ECANCELED,
                        1 => poll.revents as isize,
                        other => other as isize,
                    }
                }
            }
        };
        if result >= 0 {
            return result as i32;
        }
        -io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO)
    }
}

/// A time limit as poll(2) expects it: rounded up, or -1 without a limit.
fn milliseconds(limit: Option<Duration>) -> libc::c_int {
    limit.map_or(-1, |limit| {
        let milliseconds = limit.as_nanos().div_ceil(1_000_000);
        milliseconds.try_into().unwrap_or(libc::c_int::MAX)
    })
}

/// A request in flight, on the stack of the thread that waits for it.
pub(crate) struct Operation {
    pub(super) thread: *const Control,
    pub(super) request: Request,
    pub(super) result: Cell<i32>,
}
