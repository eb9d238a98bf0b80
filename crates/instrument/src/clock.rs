//! The clock that samplers and the runner read, its error, and the readings of the reference loops around
//! timings. Tests replace it by one that they set.

use crate::error::MeasureError;
use crate::sample::{Around, Legs};
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

    /// Runs the reference loops; `None` for a clock or a processor that has none.
    fn references(&self) -> Option<References> {
        None
    }
}

impl dyn Clock + '_ {
    /// The result of `body`, its wall time in ns and its usage.
    #[inline]
    pub(crate) fn timed<T>(
        &self,
        body: impl FnOnce() -> Result<T, MeasureError>,
    ) -> Result<(T, u64, Usage), MeasureError> {
        let before = self.usage()?;
        let begin_ns = self.now_ns();
        let result = body()?;
        let wall_ns = self.now_ns().saturating_sub(begin_ns);
        Ok((result, wall_ns, self.usage()?.since(&before)))
    }

    /// The mean wall time of the width loop in ns, and the conditions, of a timing between the reading `before` and one
    /// that is taken now.
    pub(crate) fn around(&self, before: Option<References>) -> (Option<u64>, Option<Around>) {
        let readings = before.zip(self.references());
        readings.map(|(before, after)| before.around(after)).unzip()
    }
}

/// A reading of the reference loops. Of three short runs of each, the fastest counts: an interrupt, or
/// the page fault of the first run in a process, would look like a low clock or a shared core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct References {
    /// Wall time of [`kernels::MULTIPLY_CHAIN`] in ns.
    pub chain_ns: u64,
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
        let chain = kernels::MULTIPLY_CHAIN?;
        let read = || (self.each_ns(chain), self.each_ns(kernels::add_width));
        let readings = [(); REFERENCE_RUNS].map(|()| read());
        Some(References {
            chain_ns: readings.iter().map(|(chain_ns, _)| *chain_ns).min()?,
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

/// The reference loops take at most this share of the time of the legs.
const MOST_SHARE: f64 = 0.1;

impl References {
    /// The mean wall time of the width loop in ns, and the conditions, of a timing between two readings.
    fn around(self, after: Self) -> (u64, Around) {
        let around = Around {
            chain_ns: (self.chain_ns, after.chain_ns),
            width_change_ns: after.width_ns.cast_signed() - self.width_ns.cast_signed(),
            switches: after.switches.saturating_sub(self.switches),
            cpu: self.cpu.filter(|_| self.cpu == after.cpu),
        };
        (self.width_ns.midpoint(after.width_ns), around)
    }
}

/// Legs with a reading of the reference loops after each, or after several if the legs are so short
/// that the readings would take too much of the time.
pub(crate) struct BracketedLegs<'c> {
    clock: &'c dyn Clock,
    before: Option<References>,
    /// Legs between two readings.
    every: usize,
    /// Legs since the last reading.
    open: usize,
}

impl<'c> BracketedLegs<'c> {
    /// Takes the first reading. A leg is expected to take `leg_ns`.
    pub fn open(clock: &'c dyn Clock, leg_ns: u64) -> Self {
        let begin_ns = clock.now_ns();
        let before = clock.references();
        let reading_ns = clock.now_ns().saturating_sub(begin_ns) as f64;
        let every = reading_ns * (1.0 / MOST_SHARE - 1.0) / leg_ns.max(1) as f64;
        Self {
            clock,
            before,
            every: (every.ceil() as usize).max(1),
            open: 0,
        }
    }

    /// Notes that a leg was added to `legs`, and takes a reading if it is due, or if this is the last leg.
    pub fn note(&mut self, legs: &mut Legs, is_last: bool) {
        self.open += 1;
        if self.open < self.every && !is_last {
            return;
        }
        let after = self.clock.references();
        let open = std::mem::take(&mut self.open);
        let before = std::mem::replace(&mut self.before, after);
        let Some((before, after)) = before.zip(after) else {
            return;
        };
        let (width_ns, around) = before.around(after);
        for _ in 0..open {
            legs.reference_ns.push(width_ns);
            legs.around.push(around);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BracketedLegs, Clock, References, SystemClock, calibrate};
    use crate::sample::{Around, Legs};
    use platform::usage::Usage;
    use std::cell::Cell;

    #[test]
    fn the_system_clock_reads_both_reference_loops() {
        let references = SystemClock.references();
        assert_eq!(references.is_some(), kernels::MULTIPLY_CHAIN.is_some());
        let is_read = |it: References| it.chain_ns > 0 && it.width_ns > 0;
        assert!(references.is_none_or(is_read), "{references:?}");
    }

    #[test]
    fn calibration_is_at_least_the_unit_of_the_clock() {
        let calibration = calibrate();
        assert!(calibration.resolution_ns >= 1.0, "{calibration:?}");
        assert!(calibration.cost_ns > 0.0, "{calibration:?}");
    }

    const READING: References = References {
        chain_ns: 2400,
        width_ns: 2000,
        switches: 7,
        cpu: Some(3),
    };

    #[test]
    fn two_readings_show_what_changed_between_them() {
        let after = References {
            chain_ns: 2700,
            width_ns: 1990,
            switches: 9,
            cpu: Some(3),
        };
        let around = Around {
            chain_ns: (2400, 2700),
            width_change_ns: -10,
            switches: 2,
            cpu: Some(3),
        };
        assert_eq!(READING.around(after), (1995, around));
        let cpu = Some(1);
        let (_, moved) = READING.around(References { cpu, ..after });
        assert_eq!(
            moved,
            Around {
                cpu: None,
                ..around
            }
        );
    }

    /// Its readings take 15 µs.
    struct Slow(Cell<u64>);

    impl Clock for Slow {
        fn now_ns(&self) -> u64 {
            self.0.get()
        }
        fn usage(&self) -> platform::Result<Usage> {
            Ok(Usage::default())
        }
        fn references(&self) -> Option<References> {
            self.0.set(self.0.get() + 15_000);
            Some(READING)
        }
    }

    #[test]
    fn readings_take_at_most_a_tenth_of_the_time_of_the_legs() {
        for leg_ns in [1_000, 50_000, 134_000, 200_000, 5_000_000] {
            let clock = Slow(Cell::new(0));
            let mut legs = Legs::default();
            let mut readings = BracketedLegs::open(&clock, leg_ns);
            let begun_ns = clock.now_ns();
            let count = 10_000;
            for leg in 1..=count {
                readings.note(&mut legs, leg == count);
            }
            let spent_ns = (clock.now_ns() - begun_ns) as f64;
            let share = spent_ns / (spent_ns + (count * leg_ns) as f64);
            assert!(share <= 0.102, "{leg_ns}: {share}");
            assert_eq!(legs.around.len() as u64, count);
            assert_eq!(legs.reference_ns.len() as u64, count);
        }
    }
}
