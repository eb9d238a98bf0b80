//! The group `memory`.

mod bandwidth;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&bandwidth::Bandwidth];
