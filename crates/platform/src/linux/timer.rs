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

pub(crate) fn sleep_until(moment_ns: u64) -> Result<()> {
    let moment = timespec(moment_ns);
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &moment) {
            Err(Errno::INTR) => {}
            outcome => return outcome.map_err(Error::os("sleep until a moment")),
        }
    }
}

pub(crate) fn slack_ns() -> Result<u64> {
    current_timer_slack().map_err(Error::os("ask for the slack of timers"))
}

#[derive(Debug)]
pub(crate) struct Timer {
    file: File,
}

impl Timer {
    pub(crate) fn new() -> Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
            .map_err(Error::os("make a timer"))?;
        Ok(Self { file: timer.into() })
    }

    pub(crate) fn wait_until(&mut self, moment_ns: u64) -> Result<()> {
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
