//! Exports of runs to other programs: Google Benchmark's JSON, and `OpenMetrics` text.
//!
//! These contain estimates; the portable file and CSV contain the samples ([`record::file`],
//! [`mod@record::csv`]).

mod google_benchmark;
mod openmetrics;

pub use google_benchmark::google_benchmark;
pub use openmetrics::openmetrics;
