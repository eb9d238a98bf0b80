//! The clock that samplers and the runner read, and its error. Tests replace it by one that they set.

use platform::clock::now_ns;
use platform::placement::current_cpu;
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

    /// Runs the reference loops; `None` for a clock that has none.
    fn references(&self) -> Option<References> {
        None
    }
}

/// A reading of the reference loops. Of three short runs of each, the fastest counts: an interrupt, or
/// the page fault of the first run in a process, would look like a low clock or a shared core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct References {
    /// Wall time of [`kernels::MULTIPLY_CHAIN`] in ns; `None` on a processor that has none.
    pub chain_ns: Option<u64>,
    /// Wall time of [`kernels::add_width`] in ns.
    pub width_ns: u64,
    /// Involuntary context switches of this process so far.
    pub switches: u64,
    /// The CPU of this thread; `None` if the system does not report it.
    pub cpu: Option<usize>,
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

    fn references(&self) -> Option<References> {
        let chain = || kernels::MULTIPLY_CHAIN.map(|chain| self.each_ns(chain));
        let width = || self.each_ns(kernels::add_width);
        let readings = [(); REFERENCE_RUNS].map(|()| (chain(), width()));
        Some(References {
            chain_ns: readings.iter().filter_map(|(chain_ns, _)| *chain_ns).min(),
            width_ns: readings.iter().map(|(_, width_ns)| *width_ns).min()?,
            switches: self.usage().ok()?.involuntary_switches,
            cpu: current_cpu(),
        })
    }
}

/// Runs of each reference loop in a reading.
const REFERENCE_RUNS: usize = 3;
/// Times that a reference loop is repeated in a run. The clock of Windows steps by 100 ns, which is too
/// much of one loop.
const REFERENCE_REPEATS: u64 = if cfg!(windows) { 8 } else { 1 };

impl SystemClock {
    /// Wall time of a reference loop in ns.
    fn each_ns(self, reference: fn()) -> u64 {
        let begin_ns = self.now_ns();
        (0..REFERENCE_REPEATS).for_each(|_| reference());
        self.now_ns().saturating_sub(begin_ns) / REFERENCE_REPEATS
    }
}

/// Observed resolution and cost of [`now_ns`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// The smallest step between two readings that differ, in ns. At least 1 ns, the unit of the
    /// clock.
    pub resolution_ns: f64,
    /// The cost of one reading by a core of one's own, in ns.
    pub cost_ns: f64,
}

/// Measures the clock for a few milliseconds.
pub fn calibrate() -> Calibration {
    Calibration {
        resolution_ns: smallest_step_ns(),
        cost_ns: least_cost_ns(),
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

/// The least of the mean costs of batches. A batch takes much longer than a reading, so that the clock's resolution
/// does not matter. What disturbs a batch makes it longer.
fn least_cost_ns() -> f64 {
    const BATCHES: usize = 101;
    const CALLS: u32 = 1_000;
    let batch = |_| {
        let start = now_ns();
        for _ in 0..CALLS {
            std::hint::black_box(now_ns());
        }
        now_ns().saturating_sub(start) as f64 / f64::from(CALLS)
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::{Clock, SystemClock, calibrate};

    #[test]
    fn the_system_clock_reads_both_reference_loops() {
        let references = SystemClock.references().expect("the system clock has them");
        assert!(references.width_ns > 0, "{references:?}");
        let is_written = kernels::MULTIPLY_CHAIN.is_some();
        assert_eq!(references.chain_ns.is_some(), is_written, "{references:?}");
    }

    #[test]
    fn calibration_is_at_least_the_unit_of_the_clock() {
        let calibration = calibrate();
        assert!(calibration.resolution_ns >= 1.0, "{calibration:?}");
        assert!(calibration.cost_ns > 0.0, "{calibration:?}");
    }
}
