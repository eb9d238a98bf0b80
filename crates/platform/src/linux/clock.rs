use std::fs::File;
use std::io::Read;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::thread::{clock_nanosleep_absolute, current_timer_slack};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use crate::error::{Error, Result};

/// Nanoseconds since a fixed moment in the past. The clock never goes backwards and is never set.
///
/// On Linux `CLOCK_MONOTONIC`, read without entering the kernel where the vDSO allows it
/// ([clock_gettime(2)](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)).
#[inline]
pub fn now_ns() -> u64 {
    in_ns(clock_gettime(ClockId::Monotonic))
}

/// CPU time of all threads of this process, user plus system, in ns.
///
/// On Linux `CLOCK_PROCESS_CPUTIME_ID`: exact, but a system call.
#[inline]
pub fn process_cpu_ns() -> Result<u64> {
    Ok(in_ns(clock_gettime(ClockId::ProcessCPUTime)))
}

/// These clocks count from zero, so neither part is negative; a u64 holds 584 years of ns.
#[inline]
fn in_ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub(super) fn timespec_of(time: Duration) -> Timespec {
    Timespec {
        tv_sec: time.as_secs().cast_signed(),
        tv_nsec: time.subsec_nanos().into(),
    }
}

pub(super) fn timespec(ns: u64) -> Timespec {
    timespec_of(Duration::from_nanos(ns))
}

/// Sleeps until [`crate::clock::now_ns`] has reached `moment_ns`
/// ([clock_nanosleep(2)](https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html)).
pub fn sleep_until(moment_ns: u64) -> Result<()> {
    let moment = timespec(moment_ns);
    retry_on_intr(|| clock_nanosleep_absolute(ClockId::Monotonic, &moment))
        .map_err(Error::os("sleep until a moment"))
}

/// Timer slack of this thread, in ns: the kernel may delay a wake-up by this time, to handle
/// several wake-ups at once.
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
    pub fn new() -> Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
            .map_err(Error::os("make a timer"))?;
        Ok(Self { file: timer.into() })
    }

    /// Arms it once for the time when [`crate::clock::now_ns`] reaches `moment_ns`, and waits for
    /// it.
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

#[cfg(test)]
mod tests {
    use crate::clock::{now_ns, process_cpu_ns};

    #[test]
    fn clocks_advance_with_work() {
        let (wall, process) = (now_ns(), process_cpu_ns().unwrap());
        let mut sum = 0_u64;
        while now_ns() < wall + 1_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(process_cpu_ns().unwrap() > process);
    }
}
