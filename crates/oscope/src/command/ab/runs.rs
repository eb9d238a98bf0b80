//! The runs of one program: each as it is timed, all of them in a few numbers, and their summary.

use super::launch::{Ended, Launcher};
use super::programs::Program;
use crate::arguments::TimeUnit;
use crate::exit::code_of;
use anyhow::{Result, bail};
use instrument::quantity::{Bytes, Nanoseconds};
use instrument::statistics::summary::{mean, median, quantile, standard_deviation};
use platform::clock::now_ns;
use platform::process::Exit;
use platform::program::Ran;
use platform::usage::Usage;
use serde::Serialize;
use std::collections::BTreeMap;

/// One timed run of a program.
#[derive(Clone, Debug)]
pub struct Timed {
    pub ran: Ran,
    /// Its end in monotonic ns.
    pub at_ns: u64,
    /// A smaller peak of the program's memory cannot be seen.
    pub floor_bytes: u64,
    /// Number of processes that the program left behind.
    pub leftovers: usize,
    /// Number of runs before it that the time limit ended.
    pub over_limit: usize,
}

/// The costs of a run that are compared along with its time: their names in documents and for readers.
pub const COSTS: [(&str, &str); 7] = [
    ("user", "user time"),
    ("system", "system time"),
    ("peak_memory", "peak memory"),
    ("faults", "page faults"),
    ("switches", "context switches"),
    ("read", "bytes read from storage"),
    ("written", "bytes written"),
];

impl Timed {
    /// The values of [`COSTS`].
    pub fn costs(&self) -> [f64; COSTS.len()] {
        let usage = &self.ran.finished.usage;
        let [read, written] = self.ran.moved_bytes;
        [
            usage.user_ns,
            usage.system_ns,
            self.ran.peak_bytes,
            usage.minor_faults + usage.major_faults,
            usage.voluntary_switches + usage.involuntary_switches,
            read,
            written,
        ]
        .map(|cost| cost as f64)
    }

    /// The program's peak memory; `None` if it is below what can be seen.
    pub fn peak_bytes(&self) -> Option<u64> {
        (self.ran.peak_bytes > self.floor_bytes).then_some(self.ran.peak_bytes)
    }
}

/// A program that reaches its time limit this often in a row does not end in time.
const MOST_OVER_LIMIT: usize = 3;

/// Runs a program once, with the commands around it, and ends what it left behind; `None` if the user
/// asked to stop. Repeats all of it if the program was stopped in between, as by Ctrl-Z, or reached its time limit.
pub fn measure(launcher: &Launcher, program: &Program, iteration: &str) -> Result<Option<Timed>> {
    let mut over_limit = 0;
    loop {
        let variables = launcher.variables(iteration);
        let around =
            |text: &Option<String>| launcher.run_around(text.as_deref(), program, &variables);
        if !around(&program.prepare)? {
            return Ok(None);
        }
        let Some(ended) = launcher.run(program, &variables)? else {
            return Ok(None);
        };
        let at_ns = now_ns();
        if !around(&program.conclude)? {
            return Ok(None);
        }
        let leftovers = launcher.starter.end_leftovers();
        match ended {
            Ended::Alone(ran) if !ran.was_stopped => {
                return Ok(Some(Timed {
                    ran,
                    at_ns,
                    floor_bytes: launcher.starter.floor_bytes(),
                    leftovers,
                    over_limit,
                }));
            }
            Ended::Alone(_) => {}
            Ended::OverLimit => over_limit += 1,
        }
        if over_limit == MOST_OVER_LIMIT {
            bail!(
                "'{}' took longer than the time limit (`--timeout`) {over_limit} times in a row",
                program.command
            );
        }
    }
}

/// The numbers of one run that the exports list.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub wall_ns: u64,
    pub peak_bytes: u64,
    pub exit: Exit,
}

/// All runs of one program. Some comparisons have millions of them, so little of each is kept.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    pub each: Vec<Run>,
    /// Number of further runs that the time limit ended.
    pub over_limit: usize,
    /// The CPU time, faults and context switches of all runs.
    pub usage: Usage,
    /// The sum of each of [`COSTS`].
    sums: [f64; COSTS.len()],
    /// Largest peak of memory; `None` if it is below `floor_bytes`.
    pub peak_bytes: Option<u64>,
    /// A smaller peak cannot be seen; `None` without runs.
    pub floor_bytes: Option<u64>,
    /// Number of processes that the runs left behind.
    pub leftovers: usize,
}

impl Runs {
    pub fn add(&mut self, timed: &Timed) {
        let finished = &timed.ran.finished;
        self.each.push(Run {
            wall_ns: timed.ran.wall_ns,
            peak_bytes: timed.ran.peak_bytes,
            exit: finished.exit,
        });
        self.over_limit += timed.over_limit;
        self.usage += finished.usage;
        for (sum, cost) in self.sums.iter_mut().zip(timed.costs()) {
            *sum += cost;
        }
        self.peak_bytes = self.peak_bytes.max(timed.peak_bytes());
        self.floor_bytes = self.floor_bytes.max(Some(timed.floor_bytes));
        self.leftovers += timed.leftovers;
    }

    /// The wall times in ns of those runs.
    pub fn walls(&self, is_wanted: impl Fn(&Run) -> bool) -> Vec<f64> {
        let wanted = self.each.iter().filter(|run| is_wanted(run));
        wanted.map(|run| run.wall_ns as f64).collect()
    }

    /// The runs that failed.
    fn failed(&self) -> impl Iterator<Item = &Run> {
        self.each.iter().filter(|run| !run.exit.is_success())
    }

    /// The ends of the runs that failed, by their codes.
    pub fn failed_with(&self) -> BTreeMap<i32, Exit> {
        let ends = self.failed().map(|run| (code_of(run.exit), run.exit));
        ends.collect()
    }

    /// Median of the runs that failed, and of the others, if there are both.
    pub fn medians_by_end(&self) -> Option<[f64; 2]> {
        let failed = median(&self.walls(|run| !run.exit.is_success()))?;
        Some([failed, median(&self.walls(|run| run.exit.is_success()))?])
    }

    /// The mean of one of [`COSTS`], by its index.
    pub fn mean_of(&self, cost: usize) -> f64 {
        self.sums[cost] / self.each.len().max(1) as f64
    }
}

/// The percentiles of a summary, as shares.
const PERCENTILES: [f64; 3] = [0.05, 0.95, 0.99];

/// The runs of one program. Times are in ns; those that do not exist are `None`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub runs: usize,
    /// Runs with an exit code other than 0 or ended by a signal, which the user ignores.
    pub failures: usize,
    /// Further runs that the time limit ended.
    pub over_limit: usize,
    pub median_ns: Option<f64>,
    pub mean_ns: Option<f64>,
    pub stddev_ns: Option<f64>,
    pub min_ns: Option<f64>,
    pub max_ns: Option<f64>,
    /// Mean CPU time in user mode.
    pub user_ns: Option<f64>,
    /// Mean CPU time in the kernel.
    pub system_ns: Option<f64>,
    /// Mean number of page faults without I/O.
    pub minor_faults: Option<f64>,
    /// Mean number of page faults that read from storage.
    pub major_faults: Option<f64>,
    /// Mean number of context switches because the program waited.
    pub voluntary_switches: Option<f64>,
    /// Mean number of context switches because another program got the processor.
    pub involuntary_switches: Option<f64>,
    /// The times below which 5, 95 and 99 % of the runs are.
    pub percentiles_ns: Option<[f64; 3]>,
    /// Largest peak of memory; `None` if it is below `least_peak_bytes`.
    pub peak_bytes: Option<u64>,
    /// A smaller peak cannot be seen.
    pub least_peak_bytes: Option<u64>,
}

impl Summary {
    pub fn new(runs: &Runs) -> Self {
        let walls = runs.walls(|_| true);
        let usage = &runs.usage;
        let percentiles = PERCENTILES.map(|percentile| quantile(&walls, percentile));
        let mean_of = |sum: u64| (!walls.is_empty()).then(|| sum as f64 / walls.len() as f64);
        Self {
            runs: runs.each.len(),
            failures: runs.failed().count(),
            over_limit: runs.over_limit,
            median_ns: median(&walls),
            mean_ns: mean(&walls),
            stddev_ns: standard_deviation(&walls),
            min_ns: walls.iter().copied().reduce(f64::min),
            max_ns: walls.iter().copied().reduce(f64::max),
            user_ns: mean_of(usage.user_ns),
            system_ns: mean_of(usage.system_ns),
            minor_faults: mean_of(usage.minor_faults),
            major_faults: mean_of(usage.major_faults),
            voluntary_switches: mean_of(usage.voluntary_switches),
            involuntary_switches: mean_of(usage.involuntary_switches),
            percentiles_ns: match percentiles {
                [Some(low), Some(high), Some(highest)] => Some([low, high, highest]),
                _ => None,
            },
            peak_bytes: runs.peak_bytes,
            least_peak_bytes: runs.floor_bytes,
        }
    }
}

/// A time for readers, in the unit that they ask for, or in one that fits.
pub fn time(ns: Option<f64>, unit: Option<TimeUnit>) -> String {
    match (ns, unit.map(TimeUnit::symbol_and_ns)) {
        (None, _) => "–".to_owned(),
        (Some(ns), None) => format!("{:.3}", Nanoseconds(ns)),
        (Some(ns), Some((symbol, unit_ns))) => format!("{:.3} {symbol}", ns / unit_ns),
    }
}

impl Summary {
    /// The peak of memory for readers.
    pub fn memory(&self) -> String {
        match (self.peak_bytes, self.least_peak_bytes) {
            (Some(peak), _) => format!("{:.3}", Bytes(peak)),
            (None, Some(least)) => format!("< {:.2}", Bytes(least)),
            (None, None) => "–".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, Runs, Timed, Usage};
    use platform::process::{Exit, Finished};
    use platform::program::Ran;

    fn timed(exit: Exit, peak_bytes: u64) -> Timed {
        Timed {
            ran: Ran {
                wall_ns: 5,
                finished: Finished {
                    exit,
                    usage: Usage {
                        user_ns: 2,
                        system_ns: 1,
                        ..Usage::default()
                    },
                },
                peak_bytes,
                moved_bytes: [0; 2],
                stderr: String::new(),
                was_stopped: false,
            },
            at_ns: 0,
            floor_bytes: 10,
            leftovers: 1,
            over_limit: 0,
        }
    }

    #[test]
    fn sums_and_extremes_are_those_of_all_runs() {
        // Some comparisons have millions of runs.
        assert_eq!(size_of::<Run>(), 24);
        let mut runs = Runs::default();
        assert_eq!((runs.peak_bytes, runs.floor_bytes), (None, None));
        runs.add(&timed(Exit::Code(0), 9));
        assert_eq!((runs.peak_bytes, runs.floor_bytes), (None, Some(10)));
        for (code, peak_bytes) in [(9, 30), (9, 30), (2, 20)] {
            runs.add(&timed(Exit::Code(code), peak_bytes));
        }
        assert_eq!((runs.each.len(), runs.failed().count()), (4, 3));
        assert_eq!(runs.peak_bytes, Some(30));
        let usage = runs.usage;
        assert_eq!((usage.user_ns, usage.system_ns, runs.leftovers), (8, 4, 4));
        let ends: Vec<Exit> = runs.failed_with().into_values().collect();
        assert_eq!(ends, [Exit::Code(2), Exit::Code(9)]);
    }
}
