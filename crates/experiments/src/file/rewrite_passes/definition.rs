//! The axes and metrics of `file.rewrite_passes`.

use super::super::sizes::MIB;
use super::way::Way;
use crate::prelude::*;
use instrument::point::{AxisKind, Level, LevelOf};

pub(in crate::file) const WAY: AxisOf<Way> = AxisOf::new("way", "way");
pub(super) const MEMORY: AxisOf<Memory> = AxisOf::new("memory", "memory");

pub(in crate::file) const READ: Metric<&str> = Metric::time("read", "read, per KiB");
pub(in crate::file) const REWRITE: Metric<&str> = Metric::time("rewrite", "written over, per KiB");
pub(in crate::file) const READ_AGAIN: Metric<&str> =
    Metric::time("read_again", "read again, per KiB");
pub(super) const KEPT: Metric<&str> = Metric::fact(
    "kept",
    "in the page cache before reading again",
    Unit::Share,
);
pub(super) const FROM_STORAGE: Metric<&str> = Metric::fact(
    "from_storage",
    "of reading again, from storage",
    Unit::Share,
);

/// The file is this many times as large as the memory that the measurement may use.
pub(super) const FILE_OVER_MEMORY: u64 = 2;
/// The memory of a worker without chunks: its own 1.6 MiB, 0.6 MiB of the kernel for it, and as much page
/// cache as keeps the kernel from killing it.
const OWN_MEMORY: u64 = 8 * MIB;

/// The least memory in which a worker can go through a file in chunks. It holds one chunk in memory of its
/// own, and as much of the file at a time.
pub(super) fn least_memory(Bytes(chunk): Bytes) -> Bytes {
    Bytes(OWN_MEMORY + 2 * chunk)
}

/// The memory that a worker may use, page cache included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Limited(Bytes),
    NotLimited,
}

pub(super) const NOT_LIMITED: &str = "not limited";

impl LevelOf for Memory {
    const KIND: AxisKind = AxisKind::Bytes;

    fn level(&self) -> Level {
        match self {
            Self::Limited(bytes) => bytes.level(),
            Self::NotLimited => NOT_LIMITED.into(),
        }
    }

    fn of(level: &Level) -> Option<Self> {
        match level {
            Level::Number(bytes) => Some(Self::Limited(Bytes(*bytes))),
            Level::Choice(name) => (name == NOT_LIMITED).then_some(Self::NotLimited),
        }
    }
}
