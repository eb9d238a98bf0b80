//! Runs for other programs: as Markdown, as JSON of Google Benchmark, and as `OpenMetrics` text.
//!
//! These carry estimates; the samples behind them are in the portable file and in CSV
//! ([`record::file`], [`mod@record::csv`]).

mod google_benchmark;
mod markdown;
mod openmetrics;

pub use google_benchmark::google_benchmark;
pub use markdown::markdown;
pub use openmetrics::openmetrics;
