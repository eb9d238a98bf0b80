//! The group `system`.

pub(crate) mod noise;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&noise::Noise];
