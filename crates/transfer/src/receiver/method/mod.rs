//! The methods of storing a frame's data in a file.
//!
//! Every method consumes all data of the frame, even on failure. A file that cannot store it is
//! marked as spoiled, with the reason ([`Target::spoil`](super::target::Target::spoil)).

pub(super) mod mapped;
pub(super) mod splice;
pub(super) mod uring;
pub(super) mod write;

use super::failure::Failure;
use super::target::Target;
use crate::connection::Inlet;
use std::sync::Arc;

/// The data that arrives next over a connection, and its target.
pub(super) struct Arrival<'a> {
    pub(super) inlet: &'a mut Inlet,
    pub(super) target: &'a Arc<Target>,
    /// Offset of the first byte in the file.
    pub(super) offset: u64,
    /// Number of bytes.
    pub(super) len: usize,
}

impl Arrival<'_> {
    /// Marks the file as spoiled and discards the data behind the first `taken` bytes.
    fn give_up(
        &mut self,
        taken: usize,
        buffer: &mut [u8],
        reason: impl Into<Failure>,
    ) -> crate::Result<bool> {
        self.target.spoil(reason);
        self.inlet.skip_data(self.len - taken, buffer)?;
        Ok(true)
    }
}
