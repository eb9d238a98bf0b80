//! The group `process`.

mod calls;
pub(crate) mod claims;
mod fork_size;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&calls::Calls, &fork_size::ForkSize];
