//! The runs of one program in numbers.

use super::timed::Timed;
use crate::exit::code_of;
use instrument::ab::{Remark, remarks};
use instrument::statistics::summary::{mean, median, standard_deviation};
use platform::process::Exit;
use serde::Serialize;

/// The runs of one program. Times are in ns; those that do not exist are `None`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub runs: usize,
    /// Runs with an exit code other than 0 or ended by a signal, which the user ignores.
    pub failures: usize,
    /// The ends of these runs, each once.
    #[serde(skip)]
    pub failed_with: Vec<Exit>,
    pub median_ns: Option<f64>,
    pub mean_ns: Option<f64>,
    pub stddev_ns: Option<f64>,
    pub min_ns: Option<f64>,
    pub max_ns: Option<f64>,
    /// Mean CPU time in user mode.
    pub user_ns: Option<f64>,
    /// Mean CPU time in the kernel.
    pub system_ns: Option<f64>,
    /// Largest peak of memory; `None` if it is below `least_peak_bytes`.
    pub peak_bytes: Option<u64>,
    /// A smaller peak cannot be seen.
    pub least_peak_bytes: Option<u64>,
    /// Processes that the runs left behind.
    #[serde(skip)]
    pub leftovers: usize,
    #[serde(skip)]
    pub remarks: Vec<Remark>,
}

impl Summary {
    pub fn new(runs: &[Timed]) -> Self {
        let walls: Vec<f64> = runs.iter().map(|run| run.ran.wall_ns as f64).collect();
        let mean_of = |read: fn(&Timed) -> u64| {
            mean(&runs.iter().map(|run| read(run) as f64).collect::<Vec<_>>())
        };
        let failed = || runs.iter().filter(|run| !run.is_success);
        let mut failed_with: Vec<Exit> = failed().map(|run| run.ran.finished.exit).collect();
        failed_with.sort_by_key(|exit| code_of(*exit));
        failed_with.dedup();
        Self {
            runs: runs.len(),
            failures: failed().count(),
            failed_with,
            median_ns: median(&walls),
            mean_ns: mean(&walls),
            stddev_ns: standard_deviation(&walls),
            min_ns: walls.iter().copied().reduce(f64::min),
            max_ns: walls.iter().copied().reduce(f64::max),
            user_ns: mean_of(|run| run.ran.finished.usage.user_ns),
            system_ns: mean_of(|run| run.ran.finished.usage.system_ns),
            peak_bytes: runs.iter().filter_map(Timed::peak_bytes).max(),
            least_peak_bytes: runs.iter().map(|run| run.floor_bytes).max(),
            leftovers: runs.iter().map(|run| run.leftovers).sum(),
            remarks: remarks(&walls),
        }
    }
}
