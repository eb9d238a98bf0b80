//! The group `file`.

mod block_size;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&block_size::BlockSize];
