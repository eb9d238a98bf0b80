//! Requests to the kernel.

use core::cell::Cell;
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
    },
}

impl Request {
    /// Makes the call on this kernel thread. Returns its result, or the negative error number.
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
                Self::Poll { fd, events } => {
                    let mut poll = libc::pollfd {
                        fd,
                        events,
                        revents: 0,
                    };
                    match libc::poll(&raw mut poll, 1, -1) {
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

/// A request in flight, on the stack of the thread that waits for it.
pub(crate) struct Operation {
    pub(super) thread: *const Control,
    pub(super) request: Request,
    pub(super) result: Cell<i32>,
}
