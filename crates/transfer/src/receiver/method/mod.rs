//! The ways of taking the data of a frame into a file, each in a file of its own.
//!
//! Whatever becomes of them there, they are taken from the connection. A file that cannot take them is
//! spoiled ([`Target::spoil`](super::target::Target::spoil)), and remembers why.

pub(super) mod mapped;
pub(super) mod splice;
pub(super) mod uring;
pub(super) mod write;

use super::target::Target;
use crate::connection::Inlet;
use std::sync::Arc;

/// Data that come next over a connection, and where they go.
pub(super) struct Arrival<'a> {
    pub(super) inlet: &'a mut Inlet,
    pub(super) target: &'a Arc<Target>,
    /// Where the first byte goes in the file.
    pub(super) offset: u64,
    /// How many bytes they are.
    pub(super) len: usize,
}

impl Arrival<'_> {
    /// Takes what is left of the data behind the first `taken` bytes, for a file that cannot have them.
    fn give_up(&mut self, taken: usize, buffer: &mut [u8], reason: &str) -> crate::Result<bool> {
        self.target.spoil(reason);
        self.inlet.skip_data(self.len - taken, buffer)?;
        Ok(true)
    }
}
