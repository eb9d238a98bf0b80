//! The pace of a run: rests that keep its share of processor time and of disk bandwidth.

use super::Limits;

/// Resources used up to one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The moment, in monotonic ns.
    pub at_ns: u64,
    /// CPU time so far, in ns.
    pub cpu_ns: u64,
    /// Bytes read from and written to storage so far.
    pub bytes: u64,
}

/// Computes the length of rests.
///
/// A cycle is work and the rest after it, and the limits hold in each cycle. Unused time does not
/// accumulate: a run that used little for a while, for example because it waited, gets no longer
/// burst later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    processor_share: Option<f64>,
    bytes_per_second: Option<f64>,
    /// Use at the end of the last rest.
    last: Spent,
}

impl Pace {
    /// The pace for `limits`, starting at `start`.
    pub fn new(limits: &Limits, start: Spent) -> Self {
        Self {
            processor_share: limits.processor_percent.map(|percent| percent / 100.0),
            bytes_per_second: limits.bytes_per_second,
            last: start,
        }
    }

    /// CPU time since the last rest, in ns.
    pub fn burst_ns(&self, now: Spent) -> u64 {
        now.cpu_ns.saturating_sub(self.last.cpu_ns)
    }

    /// Length of the rest needed now, in ns.
    pub fn rest_ns(&self, now: Spent) -> u64 {
        let worked_ns = now.at_ns.saturating_sub(self.last.at_ns);
        let bytes = now.bytes.saturating_sub(self.last.bytes) as f64;
        let by_processor = self
            .processor_share
            .map(|share| self.burst_ns(now) as f64 / share);
        let by_disk = self.bytes_per_second.map(|rate| bytes * 1e9 / rate);
        let cycle_ns = by_processor.into_iter().chain(by_disk).fold(0.0, f64::max);
        (cycle_ns.ceil() as u64).saturating_sub(worked_ns)
    }

    /// Begins the next cycle at the end of a rest.
    pub fn rested(&mut self, now: Spent) {
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::{Pace, Spent};
    use crate::limits::Limits;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn quarter() -> Pace {
        let limits = Limits {
            processor_percent: Some(25.0),
            ..Limits::default()
        };
        Pace::new(&limits, Spent::default())
    }

    fn at(at_ns: u64, cpu_ns: u64) -> Spent {
        Spent {
            at_ns,
            cpu_ns,
            bytes: 0,
        }
    }

    #[test]
    fn a_busy_second_at_a_quarter_is_followed_by_three() {
        assert_eq!(quarter().rest_ns(at(SECOND, SECOND)), 3 * SECOND);
        // Four busy processors make the rest longer.
        assert_eq!(quarter().rest_ns(at(SECOND, 4 * SECOND)), 15 * SECOND);
    }

    #[test]
    fn time_that_was_waited_is_rest_and_is_not_saved_up() {
        let mut pace = quarter();
        assert_eq!(pace.rest_ns(at(40 * SECOND, SECOND)), 0);
        pace.rested(at(40 * SECOND, SECOND));
        assert_eq!(pace.rest_ns(at(41 * SECOND, 2 * SECOND)), 3 * SECOND);
    }

    #[test]
    fn without_a_limit_there_is_no_rest() {
        let pace = Pace::new(&Limits::default(), Spent::default());
        assert_eq!(pace.rest_ns(at(SECOND, 9 * SECOND)), 0);
    }

    proptest! {
        #[test]
        fn both_limits_hold_after_every_rest(
            percent in 1.0_f64..400.0,
            rate in 1e4_f64..1e10,
            bursts in vec((1_u64..2_000_000_000, 0.0_f64..16.0, 0_u64..1 << 30), 1..50),
        ) {
            let limits = Limits {
                processor_percent: Some(percent),
                bytes_per_second: Some(rate),
                ..Limits::default()
            };
            let mut pace = Pace::new(&limits, Spent::default());
            let mut now = Spent::default();
            for (wall_ns, processors, bytes) in bursts {
                let before = now;
                now.at_ns += wall_ns;
                now.cpu_ns += (wall_ns as f64 * processors) as u64;
                now.bytes += bytes;
                now.at_ns += pace.rest_ns(now);
                pace.rested(now);
                let cycle_ns = (now.at_ns - before.at_ns) as f64;
                // The added ns covers rounding.
                let share = (now.cpu_ns - before.cpu_ns) as f64 / (cycle_ns + 1.0);
                prop_assert!(share <= percent / 100.0 * (1.0 + 1e-9), "{share}");
                let per_second = (now.bytes - before.bytes) as f64 * 1e9 / (cycle_ns + 1.0);
                prop_assert!(per_second <= rate * (1.0 + 1e-9), "{per_second}");
            }
        }
    }
}
