//! The group `file`.

pub(crate) mod advice;
mod against_dd;
mod block_size;
mod call;
pub(crate) mod claims;
pub(crate) mod cold_claims;
mod cold_warm;
mod counterparts;
mod definition;
mod engine;
mod group_commit;
mod metadata;
mod on_device;
mod order;
pub(crate) mod page_cache;
pub(crate) mod phase_claims;
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
mod walk;

use instrument::experiment::Experiment;

pub use remote::RemoteDirectory;

/// The experiment that shows how fast calls of each size write files.
pub const WRITES_BY_SIZE: &str = block_size::DESIGN.id;

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
    &group_commit::GroupCommit,
    &metadata::Metadata,
    &remote::Remote,
    &size::SizeForATime,
    &sum::SumOfWords,
    &against_dd::AgainstDd,
    &engine::Engines,
];
