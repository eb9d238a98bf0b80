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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now_ns;

    #[test]
    fn no_wait_ends_before_its_moment_and_a_past_one_is_none() {
        let mut timer = Timer::new().unwrap();
        for ahead_ns in [0, 1_000, 1_000_000] {
            let moment_ns = now_ns() + ahead_ns;
            sleep_until(moment_ns).unwrap();
            assert!(now_ns() >= moment_ns);
            let moment_ns = now_ns() + ahead_ns;
            timer.wait_until(moment_ns).unwrap();
            assert!(now_ns() >= moment_ns);
        }
        sleep_until(0).unwrap();
        timer.wait_until(0).unwrap();
        assert!(slack_ns().unwrap() > 0);
    }
}
