//! Waits for a point in time.

use crate::{Result, os};

/// A timer that is waited for with a read of its descriptor
/// ([timerfd_create(2)](https://man7.org/linux/man-pages/man2/timerfd_create.2.html)).
#[derive(Debug)]
pub struct Timer(os::timer::Timer);

face! {
    os::timer;

    /// Sleeps until [`crate::clock::now_ns`] has reached `moment_ns`
    /// ([clock_nanosleep(2)](https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html)).
    ///
    /// # Errors
    /// If the system refuses.
    pub fn sleep_until(moment_ns: u64) -> Result<()> = refuse("sleeping until a moment");

    /// Timer slack of this thread, in ns: the kernel may delay a wake-up by this time, to handle
    /// several wake-ups at once.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn slack_ns() -> Result<u64> = refuse("the slack of timers");

    impl Timer {
        /// A timer that is not armed.
        ///
        /// # Errors
        /// If the system has too few resources, or does not support such timers.
        pub fn new() -> Result<Self> = refuse("a timer to wait for");

        /// Arms it once for the time when [`crate::clock::now_ns`] reaches `moment_ns`, and waits for
        /// it.
        ///
        /// # Errors
        /// If the system refuses.
        pub fn wait_until(&mut self, moment_ns: u64) -> Result<()>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now_ns;

    #[test]
    fn no_wait_ends_before_its_moment_and_a_past_one_is_none() {
        let mut timer = match Timer::new() {
            Ok(timer) => timer,
            Err(error) => return println!("skipped: {error}"),
        };
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
