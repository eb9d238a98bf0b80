//! The result of a single command.

use super::programs::Program;
use super::runs::Summary;
use instrument::quantity::{Nanoseconds, counted};

/// The numbers of a command, one subject a line.
pub fn text(program: &Program, summary: &Summary) -> String {
    let time =
        |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), |ns| format!("{:.3}", Nanoseconds(ns)));
    let count =
        |mean: Option<f64>| mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.0}"));
    let percentiles = summary.percentiles_ns.map(|[low, high, highest]| {
        let [low, high, highest] = [low, high, highest].map(|ns| time(Some(ns)));
        format!("5 % below {low}, 95 % below {high}, 99 % below {highest}")
    });
    let lines = [
        (
            "time",
            format!(
                "median {}, mean {} ± {} (σ), {} to {}",
                time(summary.median_ns),
                time(summary.mean_ns),
                time(summary.stddev_ns),
                time(summary.min_ns),
                time(summary.max_ns)
            ),
        ),
        ("percentiles", percentiles.unwrap_or_default()),
        (
            "CPU time",
            format!(
                "user {}, system {}",
                time(summary.user_ns),
                time(summary.system_ns)
            ),
        ),
        ("peak memory", summary.memory()),
        (
            "page faults",
            format!(
                "{}, and {} that read from storage",
                count(summary.minor_faults),
                count(summary.major_faults)
            ),
        ),
        (
            "context switches",
            format!(
                "{} to wait, {} for other programs",
                count(summary.voluntary_switches),
                count(summary.involuntary_switches)
            ),
        ),
    ];
    let lines = lines.iter().filter(|(_, words)| !words.is_empty());
    let lines = lines.map(|(name, words)| format!("  {name:<16}  {words}\n"));
    let runs = counted(summary.runs, "run");
    format!("{}: {runs}\n{}", program.name, lines.collect::<String>())
}
