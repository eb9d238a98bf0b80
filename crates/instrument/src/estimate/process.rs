//! The samples of one metric in one process.

use crate::sample::{Batch, Sample};

/// The samples of one metric that one process took.
pub(super) struct Process<'b> {
    pub batch: &'b Batch,
    pub samples: Vec<&'b Sample>,
}
