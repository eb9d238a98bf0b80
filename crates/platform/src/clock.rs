//! Wall and CPU clocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Result;

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

face! {
    os::clock;

    /// Nanoseconds since a fixed moment in the past. The clock never goes backwards and is never set.
    ///
    /// On Linux `CLOCK_MONOTONIC`, read without entering the kernel where the vDSO allows it
    /// ([clock_gettime(2)](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)).
    #[inline]
    pub fn now_ns() -> u64;

    /// CPU time of all threads of this process, user plus system, in ns.
    ///
    /// On Linux `CLOCK_PROCESS_CPUTIME_ID`: exact, but a system call.
    ///
    /// # Errors
    /// Only if the system has no such clock.
    #[inline]
    pub fn process_cpu_ns() -> Result<u64> = refuse("the CPU time of a process");
}
