//! The group `memory`.

mod bandwidth;
mod caches;
pub(crate) mod claims;
mod levels;
pub(crate) mod pages;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&bandwidth::Bandwidth];
