//! Requests to the kernel.

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

/// The number of a file.
pub(crate) type RawFile = RawFd;

pub(crate) fn raw(file: &impl AsFd) -> RawFile {
    file.as_fd().as_raw_fd()
}

/// The answer to a request that was ended before it had one.
pub(crate) const CANCELLED: i32 = libc::ECANCELED;

/// True if the kernel reports so that nothing was transferred, because somebody asked or a signal came.
pub(crate) fn was_cancelled(error: i32) -> bool {
    matches!(error, libc::EINTR | libc::ECANCELED)
}

/// A system call to make.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    Read {
        file: RawFile,
        buffer: *mut u8,
        bytes: usize,
        offset: u64,
    },
    Write {
        file: RawFile,
        buffer: *const u8,
        bytes: usize,
        offset: u64,
    },
    Sync {
        file: RawFile,
    },
    Poll {
        file: RawFile,
        events: libc::c_short,
        /// A limit for helper threads, whose wait nobody else can end. The ring does not need it.
        limit: Option<Duration>,
    },
}

impl Request {
    /// The request that asks once and does not wait; `None` for transfers.
    pub(crate) fn without_waiting(self) -> Option<Self> {
        match self {
            Self::Poll { file, events, .. } => Some(Self::Poll {
                file,
                events,
                limit: Some(Duration::ZERO),
            }),
            Self::Read { .. } | Self::Write { .. } | Self::Sync { .. } => None,
        }
    }

    /// Makes the call on this kernel thread. Returns its result, or the negative error number, which
    /// is `ECANCELED` if a limit has passed.
    ///
    /// # Safety
    /// The buffer must be valid for the transfer.
    pub(crate) unsafe fn perform(self) -> i32 {
        // SAFETY: the caller's contract.
        let result = unsafe {
            match self {
                Self::Read {
                    file,
                    buffer,
                    bytes,
                    offset,
                } => libc::pread(file, buffer.cast(), bytes, offset.cast_signed()),
                Self::Write {
                    file,
                    buffer,
                    bytes,
                    offset,
                } => libc::pwrite(file, buffer.cast(), bytes, offset.cast_signed()),
                Self::Sync { file } => libc::fsync(file) as isize,
                Self::Poll {
                    file,
                    events,
                    limit,
                } => {
                    let mut poll = libc::pollfd {
                        fd: file,
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
