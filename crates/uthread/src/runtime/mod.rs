//! Starting and ending a group of workers.

mod builder;
mod run;

pub use builder::{BuildError, RuntimeBuilder};
pub use run::{Runtime, Statistics, run, statistics};
