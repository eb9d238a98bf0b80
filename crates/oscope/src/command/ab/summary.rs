//! The runs of one program in numbers.

use super::runs::Runs;
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
    pub fn new(runs: &Runs) -> Self {
        let walls: Vec<f64> = runs.each.iter().map(|run| run.wall_ns as f64).collect();
        let mean_of = |sum: u64| (!walls.is_empty()).then(|| sum as f64 / walls.len() as f64);
        Self {
            runs: runs.each.len(),
            failures: runs.failures,
            failed_with: runs.failed_with.clone(),
            median_ns: median(&walls),
            mean_ns: mean(&walls),
            stddev_ns: standard_deviation(&walls),
            min_ns: walls.iter().copied().reduce(f64::min),
            max_ns: walls.iter().copied().reduce(f64::max),
            user_ns: mean_of(runs.user_ns),
            system_ns: mean_of(runs.system_ns),
            peak_bytes: runs.peak_bytes,
            least_peak_bytes: runs.floor_bytes,
            leftovers: runs.leftovers,
            remarks: remarks(&walls),
        }
    }
}
