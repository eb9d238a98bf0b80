//! The clock that samplers and the runner read, and its error. Tests replace it by one that they set.

use platform::clock::now_ns;
use platform::usage::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A source of time and of this process's counters.
pub trait Clock {
    /// Monotonic wall time in ns.
    fn now_ns(&self) -> u64;

    /// CPU time, page faults and context switches of this process so far.
    ///
    /// # Errors
    /// If the system does not report them.
    fn usage(&self) -> platform::Result<Usage>;

    /// Runs the reference loop ([`kernels::reference()`]) and returns its wall time in ns; `None`
    /// for a clock that has none.
    fn reference_ns(&self) -> Option<u64> {
        None
    }

    /// As [`Clock::reference_ns`], after other code or a wait: the shorter of two runs. The first
    /// run in a process takes a fifth longer, since the page of its code is mapped then, and that
    /// looks like another program on the core.
    fn settled_reference_ns(&self) -> Option<u64> {
        let first_ns = self.reference_ns()?;
        Some(first_ns.min(self.reference_ns()?))
    }
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        now_ns()
    }

    fn usage(&self) -> platform::Result<Usage> {
        Usage::of_process()
    }

    fn reference_ns(&self) -> Option<u64> {
        let begin_ns = self.now_ns();
        kernels::reference();
        Some(self.now_ns().saturating_sub(begin_ns))
    }
}

/// Observed resolution and cost of [`now_ns`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// The smallest step between two readings that differ, in ns. At least 1 ns, the unit of the
    /// clock.
    pub resolution_ns: f64,
    /// The median cost of one reading, in ns.
    pub cost_ns: f64,
}

/// Measures the clock for a few milliseconds.
pub fn calibrate() -> Calibration {
    Calibration {
        resolution_ns: smallest_step_ns(),
        cost_ns: median_cost_ns(),
    }
}

/// The smallest of many steps. To find a step, the loop reads the clock until it changes.
fn smallest_step_ns() -> f64 {
    const STEPS: usize = 10_000;
    (0..STEPS)
        .map(|_| {
            let start = now_ns();
            loop {
                let step = now_ns().saturating_sub(start);
                if step > 0 {
                    break step as f64;
                }
            }
        })
        .fold(f64::INFINITY, f64::min)
}

/// The median of the mean cost in each batch. A batch takes much longer than a reading, so that the
/// clock's resolution does not matter. The median excludes batches that were preempted.
fn median_cost_ns() -> f64 {
    const BATCHES: usize = 101;
    const CALLS: u32 = 1_000;
    let mut costs: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let start = now_ns();
            for _ in 0..CALLS {
                std::hint::black_box(now_ns());
            }
            now_ns().saturating_sub(start) as f64 / f64::from(CALLS)
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    costs[BATCHES / 2]
}

#[cfg(test)]
mod tests {
    use super::calibrate;

    #[test]
    fn calibration_is_at_least_the_unit_of_the_clock() {
        let calibration = calibrate();
        assert!(calibration.resolution_ns >= 1.0, "{calibration:?}");
        assert!(calibration.cost_ns > 0.0, "{calibration:?}");
    }
}
