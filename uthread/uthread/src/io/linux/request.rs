//! Requests to the kernel.

use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use crate::worker::Event;

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
    /// Bytes that a socket has, or its next ones: on a kernel thread, it does not wait.
    Receive {
        socket: RawFile,
        buffer: *mut u8,
        bytes: usize,
    },
    Poll {
        file: RawFile,
        events: libc::c_short,
        /// False to ask once.
        waits: bool,
    },
}

impl Request {
    /// The request that asks once and does not wait; `None` for transfers.
    pub(crate) fn without_waiting(self) -> Option<Self> {
        match self {
            Self::Poll { file, events, .. } => Some(Self::Poll {
                file,
                events,
                waits: false,
            }),
            Self::Read { .. } | Self::Write { .. } | Self::Sync { .. } | Self::Receive { .. } => {
                None
            }
        }
    }

    /// Makes the call on this kernel thread. Returns its result, or the negative error number, which is `ECANCELED` if a
    /// descriptor is not ready: `stop` ends the wait for it.
    ///
    /// # Safety
    /// The buffer must be valid for the transfer.
    pub(crate) unsafe fn perform(self, stop: Option<&Event>) -> i32 {
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
                Self::Receive {
                    socket,
                    buffer,
                    bytes,
                } => libc::recv(socket, buffer.cast(), bytes, libc::MSG_DONTWAIT),
                Self::Poll {
                    file,
                    events,
                    waits,
                } => {
                    // The call leaves negative descriptors out.
                    let of = |fd, events| libc::pollfd {
                        fd,
                        events,
                        revents: 0,
                    };
                    let mut polls = [
                        of(file, events),
                        of(stop.map_or(-1, Event::fd), libc::POLLIN),
                    ];
                    let limit = if waits { -1 } else { 0 };
                    let found = libc::poll(polls.as_mut_ptr(), 2, limit);
                    match polls[0].revents {
                        0 if found >= 0 => return -libc::ECANCELED,
                        0 => found as isize,
                        revents => revents as isize,
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
