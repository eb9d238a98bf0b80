//! The group `memory`.

mod bandwidth;
mod caches;
pub(crate) mod claims;
mod footprint;
mod levels;
pub(crate) mod pages;
pub(crate) mod subloop;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[
    &bandwidth::Bandwidth,
    &footprint::Footprint,
    &subloop::Subloop,
];
