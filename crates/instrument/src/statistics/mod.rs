//! The statistics of measurement: pure functions over slices, without clock, input or output.
//!
//! The unit of a sample is a fresh process wherever memory layout can matter: each process gives
//! its median, and [`prediction::predict`] gives the interval that contains the value of the next run.
//! Every function states the parameter that its interval estimates; `tests/statistics_coverage.rs`
//! shows how often the interval contains it.
//!
//! Functions return `None` where the data cannot support an answer: too few values, values that
//! are not finite, or a result too large for a number. They never panic on data.

mod bootstrap;
pub mod changes;
mod clocks;
mod correction;
pub mod course;
mod dip;
pub mod discovery;
pub mod distance;
mod gamma;
pub(crate) mod impossible;
pub mod interval;
pub mod linear;
pub mod moderation;
pub mod modes;
pub(crate) mod next_run;
pub mod order;
pub mod peers;
pub mod plateau;
pub mod prediction;
pub mod random;
pub mod ratio;
pub mod sequential;
pub mod sessions;
mod slope;
pub mod student;
pub mod summary;
pub mod trend;
mod visit;

pub use interval::{Confidence, Estimated, Interval, Scale};
