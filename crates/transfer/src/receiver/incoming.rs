//! A file, or a part of one, that is coming in over one connection.

use super::Options;
use super::place::Failure;
use super::room::Room;
use super::target::Target;
use crate::Checksum;
use crate::digest::Digest;
use crate::protocol::{DIGEST_BYTES, Part};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file, or a part of one, that is coming in.
pub(super) struct Incoming {
    pub(super) id: u64,
    pub(super) name: Vec<u8>,
    pub(super) began: Instant,
    pub(super) digest: Digest,
    /// Where the next byte goes if nothing is left out.
    pub(super) expected: u64,
    /// How many bytes came.
    pub(super) bytes: u64,
    pub(super) received: Duration,
    pub(super) room: Room,
    /// Where it goes, or why it goes nowhere.
    pub(super) target: Result<Arc<Target>, Failure>,
    /// Whether what becomes of it becomes of the file: of its parts, only the last tells the observer.
    pub(super) is_whole: bool,
    /// Whether the sender was told already.
    pub(super) is_told: bool,
}

impl Incoming {
    /// It begins.
    pub(super) fn new(
        part: &Part<'_>,
        checksum: Checksum,
        room: Room,
        target: Result<Arc<Target>, Failure>,
    ) -> Self {
        Self {
            id: part.id,
            name: part.name.bytes().to_vec(),
            began: Instant::now(),
            digest: Digest::new(checksum),
            expected: 0,
            bytes: 0,
            received: Duration::ZERO,
            room,
            target,
            is_whole: true,
            is_told: false,
        }
    }

    /// It goes nowhere any more.
    pub(super) fn refuse(&mut self, reason: Failure) {
        if let Ok(target) = &self.target {
            target.spoil(&reason);
            self.target = Err(reason);
        }
    }

    /// Verifies what came, and puts the file under its name with its last part; tells whether this was
    /// it.
    pub(super) fn finish(
        &self,
        size: u64,
        digest: [u8; DIGEST_BYTES],
        options: &Options,
    ) -> Result<bool, Failure> {
        let target = self.target.as_ref().map_err(Clone::clone)?;
        if size > options.max_size {
            return Err(too_large(options));
        }
        if self.digest.finish() != digest {
            return Err(
                "its checksum is wrong: it changed on its way, or while it was read".into(),
            );
        }
        target.complete_part(size, options)
    }
}

/// Why a file is not taken.
pub(super) fn too_large(options: &Options) -> Failure {
    format!(
        "it is larger than the {} bytes that are taken here",
        options.max_size
    )
}
