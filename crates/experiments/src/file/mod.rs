//! The group `file`.

pub(crate) mod advice;
mod against_dd;
mod block_size;
mod call;
pub(crate) mod claims;
mod cold_warm;
mod engine;
mod metadata;
mod order;
pub(crate) mod page_cache;
mod phases;
mod random;
mod read_ahead;
pub(crate) mod reader_claims;
mod remote;
mod rewrite_passes;
pub(crate) mod scratch_file;
mod size;
mod sizes;
mod sum;
mod sync;
#[cfg(test)]
pub(crate) mod testing;

use instrument::experiment::{Experiment, MeasureError};

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[
    &block_size::BlockSize,
    &cold_warm::ColdWarm,
    &call::Call,
    &random::InRandomOrder,
    &read_ahead::ReadAhead,
    &rewrite_passes::RewritePasses,
    &phases::PhaseByPhase,
    &sync::WaitingWrites,
    &metadata::Metadata,
    &remote::Remote,
    &size::SizeForATime,
    &sum::SumOfWords,
    &against_dd::AgainstDd,
    &engine::Engines,
];

const BLOCK_SIZE: &str = "block_size";
const FILE_SIZE: &str = "file_size";

/// Two loads of 64 bytes a cycle at 8 GHz, which no core does: copying cannot be faster.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

/// For `map_err`: what the machinery for files could not do.
fn not_done(error: files::Error) -> MeasureError {
    match error {
        files::Error::StaysCold { .. } | files::Error::Changed { .. } => {
            MeasureError::Disturbed(error.to_string())
        }
        other => MeasureError::Unsupported(other.to_string()),
    }
}
