use std::fs::File;
use std::io::Read;

use rustix::io::Errno;
use rustix::thread::{clock_nanosleep_absolute, current_timer_slack};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create,
    timerfd_settime,
};

use super::clock::timespec;
use crate::error::{Error, Result};

/// Sleeps until [`crate::clock::now_ns`] has reached `moment_ns`
/// ([clock_nanosleep(2)](https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html)).
///
/// # Errors
/// If the system refuses.
pub fn sleep_until(moment_ns: u64) -> Result<()> {
    let moment = timespec(moment_ns);
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &moment) {
            Err(Errno::INTR) => {}
            outcome => return outcome.map_err(Error::os("sleep until a moment")),
        }
    }
}

/// Timer slack of this thread, in ns: the kernel may delay a wake-up by this time, to handle
/// several wake-ups at once.
///
/// # Errors
/// If the system does not report it.
pub fn slack_ns() -> Result<u64> {
    current_timer_slack().map_err(Error::os("ask for the slack of timers"))
}

/// A timer that is waited for with a read of its descriptor
/// ([timerfd_create(2)](https://man7.org/linux/man-pages/man2/timerfd_create.2.html)).
#[derive(Debug)]
pub struct Timer {
    file: File,
}

impl Timer {
    /// A timer that is not armed.
    ///
    /// # Errors
    /// If the system has too few resources, or does not support such timers.
    pub fn new() -> Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
            .map_err(Error::os("make a timer"))?;
        Ok(Self { file: timer.into() })
    }

    /// Arms it once for the time when [`crate::clock::now_ns`] reaches `moment_ns`, and waits for
    /// it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn wait_until(&mut self, moment_ns: u64) -> Result<()> {
        let once = Itimerspec {
            it_interval: timespec(0),
            it_value: timespec(moment_ns.max(1)),
        };
        timerfd_settime(&self.file, TimerfdTimerFlags::ABSTIME, &once)
            .map_err(Error::os("set a timer"))?;
        let mut expirations = [0; 8];
        self.file
            .read_exact(&mut expirations)
            .map_err(Error::os("wait for a timer"))
    }
}
