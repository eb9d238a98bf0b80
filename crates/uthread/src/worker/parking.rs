//! Idle workers: how they fall asleep without missing a wake-up, and how the last of them knows
//! that nothing will ever happen again.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use crate::atomic::{AtomicBool, Ordering};

/// The bell of one worker: whether it sleeps, and an eventfd(2) that wakes it.
pub(crate) struct Bell {
    asleep: AtomicBool,
    event: OwnedFd,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no memory is involved.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh descriptor that nobody else owns.
        let event = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self {
            asleep: AtomicBool::new(false),
            event,
        })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }

    /// Announces sleep. Whoever gives work after this rings, whoever gave it before is seen by the
    /// check that must follow.
    pub(crate) fn announce_sleep(&self) {
        self.asleep.swap(true, Ordering::SeqCst);
    }

    /// Takes the announcement back and empties the eventfd.
    pub(crate) fn awake(&self) {
        self.asleep.store(false, Ordering::Relaxed);
        let mut count = 0u64;
        // SAFETY: eight bytes, as eventfd(2) wants them; an empty one answers EAGAIN.
        unsafe { libc::read(self.fd(), (&raw mut count).cast(), 8) };
    }

    /// Wakes the worker if it sleeps; `true` if it did. To be called after the work was published.
    pub(crate) fn ring(&self) -> bool {
        // A read-modify-write reads the latest value, which an ordinary load need not.
        let asleep = self.asleep.swap(false, Ordering::SeqCst);
        if asleep {
            self.ring_always();
        }
        asleep
    }

    /// Wakes the worker now or at its next sleep.
    pub(crate) fn ring_always(&self) {
        // SAFETY: eight bytes, as eventfd(2) wants them.
        unsafe { libc::write(self.fd(), (&raw const ONE).cast(), 8) };
    }
}

static ONE: u64 = 1;

/// How many workers are idle.
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

    /// Counts a worker in. If it is the last one, `verdict` is called while nobody else can begin
    /// or end idling.
    pub(crate) fn begin(&self, verdict: impl FnOnce()) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        if *count == self.workers {
            verdict();
        }
    }

    /// Counts a worker out; it must not look for work before this.
    pub(crate) fn end(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}
