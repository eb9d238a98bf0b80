//! Waiting for a moment.

use crate::{Result, os};

/// Sleeps until [`crate::clock::now_ns`] has reached `moment_ns`
/// ([clock_nanosleep(2)](https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html)).
///
/// # Errors
/// If the system cannot.
pub fn sleep_until(moment_ns: u64) -> Result<()> {
    os::timer::sleep_until(moment_ns)
}

/// How much later than asked the kernel may end a sleep of this thread, so that it can serve several
/// at once, in ns.
///
/// # Errors
/// If the system does not tell.
pub fn slack_ns() -> Result<u64> {
    os::timer::slack_ns()
}

/// A timer that is waited for as a file is read
/// ([timerfd_create(2)](https://man7.org/linux/man-pages/man2/timerfd_create.2.html)).
#[derive(Debug)]
pub struct Timer {
    timer: os::timer::Timer,
}

impl Timer {
    /// A timer that is not set.
    ///
    /// # Errors
    /// If the system has no room for it, or no such thing.
    pub fn new() -> Result<Self> {
        os::timer::Timer::new().map(|timer| Self { timer })
    }

    /// Sets it to go off once, when [`crate::clock::now_ns`] has reached `moment_ns`, and waits for
    /// that.
    ///
    /// # Errors
    /// If the system cannot.
    pub fn wait_until(&mut self, moment_ns: u64) -> Result<()> {
        self.timer.wait_until(moment_ns)
    }
}
