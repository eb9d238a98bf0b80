//! The result of a single command.

use super::programs::Program;
use super::runs::{self, Summary};
use crate::arguments::TimeUnit;
use instrument::quantity::counted;
use report::document::{Blocks, Piece};

/// The numbers of a command, one subject a line.
pub fn report<'a>(program: &Program, summary: &Summary, unit: Option<TimeUnit>) -> Blocks<'a> {
    let time = |ns: Option<f64>| runs::time(ns, unit);
    let count =
        |mean: Option<f64>| mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.0}"));
    let percentiles = summary.percentiles_ns.map(|percentiles| {
        let [low, high, highest] = percentiles.map(|ns| time(Some(ns)));
        format!("5 % below {low}, 95 % below {high}, 99 % below {highest}")
    });
    let middle = format!(
        "median {}, mean {} ± {} (σ), {} to {}",
        time(summary.median_ns),
        time(summary.mean_ns),
        time(summary.stddev_ns),
        time(summary.min_ns),
        time(summary.max_ns)
    );
    let cpu = [summary.user_ns, summary.system_ns].map(time);
    let faults = [summary.minor_faults, summary.major_faults].map(count);
    let switches = [summary.voluntary_switches, summary.involuntary_switches].map(count);
    let facts = [
        ("time", middle),
        ("percentiles", percentiles.unwrap_or_default()),
        ("CPU time", format!("user {}, system {}", cpu[0], cpu[1])),
        ("peak memory", summary.memory()),
        (
            "page faults",
            format!("{}, and {} that read from storage", faults[0], faults[1]),
        ),
        (
            "context switches",
            format!(
                "{} to wait, {} for other programs",
                switches[0], switches[1]
            ),
        ),
    ];
    let runs = counted(summary.runs, "run");
    Blocks::default()
        .say([Piece::from(format!("{}: {runs}", program.name))])
        .facts(facts.into_iter().filter(|(_, words)| !words.is_empty()))
}
