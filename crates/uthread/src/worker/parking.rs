//! Idle workers: falling asleep without a lost wake-up, and detecting a deadlock when the last
//! worker becomes idle.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use super::slumber::Slumber;
use crate::atomic::AtomicBool;

/// The bell of one worker: a flag that it sleeps, and an eventfd(2) that wakes it.
pub(crate) struct Bell {
    slumber: Slumber,
    event: OwnedFd,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that has no other owner.
        let event = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self {
            slumber: Slumber::new(AtomicBool::new(false)),
            event,
        })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }

    /// Announces sleep. A thread that publishes work after this rings the bell. Work published
    /// before is found by the check that the caller must make next.
    pub(crate) fn announce_sleep(&self) {
        self.slumber.announce();
    }

    /// Withdraws the announcement and empties the eventfd.
    pub(crate) fn awake(&self) {
        self.slumber.withdraw();
        let mut count = 0u64;
        // SAFETY: eight bytes, as eventfd(2) requires; an empty one returns EAGAIN.
        unsafe { libc::read(self.fd(), (&raw mut count).cast(), 8) };
    }

    /// Wakes the worker if it sleeps; `true` if it did. Call this after publishing the work.
    pub(crate) fn ring(&self) -> bool {
        let asleep = self.slumber.end();
        if asleep {
            self.ring_always();
        }
        asleep
    }

    /// Wakes the worker now or at its next sleep.
    pub(crate) fn ring_always(&self) {
        // SAFETY: eight bytes, as eventfd(2) requires.
        unsafe { libc::write(self.fd(), (&raw const ONE).cast(), 8) };
    }
}

static ONE: u64 = 1;

/// Number of idle workers.
pub(crate) struct Idlers {
    count: Mutex<usize>,
    workers: usize,
}

impl Idlers {
    pub(crate) const fn new(workers: usize) -> Self {
        Self {
            count: Mutex::new(0),
            workers,
        }
    }

    /// Counts a worker as idle. If it is the last one, calls `verdict` while no other worker can
    /// start or stop idling.
    pub(crate) fn begin(&self, verdict: impl FnOnce()) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        if *count == self.workers {
            verdict();
        }
    }

    /// Counts a worker as busy. It must not look for work before this call.
    pub(crate) fn end(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}
