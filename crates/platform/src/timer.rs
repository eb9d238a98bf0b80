//! Waits for a point in time.

pub use crate::os::clock::{Timer, slack_ns, sleep_until};

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
