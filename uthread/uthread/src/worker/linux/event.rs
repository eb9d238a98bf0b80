//! An event of one worker: an eventfd(2).

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

pub(crate) struct Event(OwnedFd);

static ONE: u64 = 1;

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Event {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that has no other owner.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Leaves the event to the parent, in the child of a fork. The child has another one under the same number.
    pub(crate) fn leave_to_parent(&self) {
        let number = self.fd();
        // SAFETY: the calls take no pointers, and the number belongs to this event all the time.
        unsafe {
            // First, so that there is a descriptor left.
            libc::close(number);
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            if fd < 0 {
                // Without it, the number would soon be that of some file.
                libc::abort();
            }
            if fd != number {
                libc::dup3(fd, number, libc::O_CLOEXEC);
                libc::close(fd);
            }
        }
    }

    /// The number of the descriptor, which is readable while the event is set.
    pub(crate) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    pub(crate) fn set(&self) {
        // SAFETY: eight bytes, as eventfd(2) requires.
        unsafe { libc::write(self.fd(), (&raw const ONE).cast(), 8) };
    }

    pub(crate) fn clear(&self) {
        let mut count = 0u64;
        // SAFETY: eight bytes, as eventfd(2) requires; an empty one returns EAGAIN.
        unsafe { libc::read(self.fd(), (&raw mut count).cast(), 8) };
    }

    /// Waits until the event is set or the timeout expires.
    pub(crate) fn wait(&self, timeout: Option<Duration>) {
        let mut poll = libc::pollfd {
            fd: self.fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: timeout.as_secs().cast_signed(),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let timeout = timeout
            .as_ref()
            .map_or(core::ptr::null(), core::ptr::from_ref);
        // SAFETY: one entry, and a timeout or none. A signal that interrupts the wait is harmless: the
        // caller checks everything after each wake-up.
        unsafe { libc::ppoll(&raw mut poll, 1, timeout, core::ptr::null()) };
    }
}
