//! A file, or a part of one, that is coming in over one connection.

use super::Options;
use super::place::Failure;
use super::room::Room;
use super::target::Target;
use crate::protocol::Part;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file, or a part of one, that is coming in.
pub(super) struct Incoming {
    pub(super) id: u64,
    pub(super) name: Vec<u8>,
    pub(super) began: Instant,
    /// Whether the sums of all that came were right.
    pub(super) is_right: bool,
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
    pub(super) fn new(part: &Part<'_>, room: Room, target: Result<Arc<Target>, Failure>) -> Self {
        Self {
            id: part.id,
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

    /// From now on nothing of it is kept.
    pub(super) fn refuse(&mut self, reason: Failure) {
        if let Ok(target) = &self.target {
            target.spoil(&reason);
            self.target = Err(reason);
        }
    }

    /// Puts the file under its name with its last part; tells whether this was it.
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

/// Why a file is not taken.
pub(super) fn too_large(options: &Options) -> Failure {
    format!(
        "it is larger than the {} bytes that are taken here",
        options.max_size
    )
}
