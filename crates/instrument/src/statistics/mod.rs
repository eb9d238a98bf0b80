//! The statistics of measurement: pure functions over slices, without clock, input or output.
//!
//! The unit of a sample is a fresh process wherever memory layout can matter: each process gives
//! its median, and the interval is Student's t over processes ([`student::process_estimate`]).
//! Every function states the parameter that its interval estimates; `tests/statistics_coverage.rs`
//! shows how often the interval contains it.
//!
//! Functions return `None` where the data cannot support an answer: too few values, values that
//! are not finite, or a result too large for a number. They never panic on data.

pub mod changes;
mod dip;
pub mod discovery;
mod gamma;
pub mod interval;
pub mod linear;
pub mod moderation;
pub mod modes;
pub mod order;
pub mod plan;
pub mod plateau;
pub mod random;
pub mod ratio;
pub mod sessions;
pub mod student;
pub mod summary;
pub mod trend;

pub use interval::{Confidence, Estimated, Interval, Scale};
