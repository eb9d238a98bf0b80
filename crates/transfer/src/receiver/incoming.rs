//! A file, or a part of one, while it arrives over one connection.

use super::Options;
use super::failure::Failure;
use super::room::Room;
use super::target::Target;
use crate::protocol::Part;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file, or a part of one, while it arrives.
pub(super) struct Incoming {
    pub(super) id: u64,
    pub(super) parts: u16,
    pub(super) name: Vec<u8>,
    pub(super) began: Instant,
    /// True if all checksums so far were right.
    pub(super) is_right: bool,
    /// Number of bytes received.
    pub(super) bytes: u64,
    pub(super) received: Duration,
    pub(super) room: Room,
    /// The target of the bytes, or the reason for discarding them.
    pub(super) target: Result<Arc<Target>, Failure>,
    /// True if its outcome is that of the file. Of a file in parts, only the last part is reported
    /// to the observer, and a directory only if it fails.
    pub(super) is_whole: bool,
    /// True if the sender has been told the outcome.
    pub(super) is_told: bool,
}

impl Incoming {
    pub(super) fn new(part: &Part<'_>, room: Room, target: Result<Arc<Target>, Failure>) -> Self {
        Self {
            id: part.id,
            parts: part.parts,
            name: part.name.bytes().to_vec(),
            began: Instant::now(),
            is_right: true,
            bytes: 0,
            received: Duration::ZERO,
            room,
            target,
            is_whole: true,
            is_told: false,
        }
    }

    /// Discards everything that still arrives.
    pub(super) fn refuse(&mut self, reason: Failure) {
        if let Ok(target) = &self.target {
            // A file whose other connection was lost is refused for that, and its beginning is kept.
            if target.failure().as_ref() != Some(&reason) {
                target.spoil(&reason);
            }
            self.target = Err(reason);
        }
    }

    /// Publishes the file under its name with its last part; returns true if this was the last
    /// part.
    pub(super) fn finish(&self, size: u64, options: &Options) -> Result<bool, Failure> {
        let target = self.target.as_ref().map_err(Clone::clone)?;
        if size > options.max_size {
            return Err(too_large(options));
        }
        if !self.is_right {
            return Err(
                "its checksum is wrong: it changed on its way, or while it was read".into(),
            );
        }
        target.complete_part(size, options)
    }
}

/// The reason for refusing a file of this size.
pub(super) fn too_large(options: &Options) -> Failure {
    format!(
        "it is larger than the {} bytes that are taken here",
        options.max_size
    )
    .into()
}
