//! The group `compute`.

mod arithmetic;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&arithmetic::Arithmetic];
