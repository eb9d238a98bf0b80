//! The group `compute`.

mod arithmetic;

pub(crate) use arithmetic::claims;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&arithmetic::Arithmetic];
