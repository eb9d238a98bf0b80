//! Buffers for file data.

use crate::protocol::LONGEST_DATA;
use platform::memory::{Mapping, PageSize};

/// Bytes per call and per frame: few enough to stay in a private cache between two steps, enough to
/// make the cost of the calls negligible.
pub(crate) const BLOCK: usize = LONGEST_DATA as usize;

/// A page-aligned block of memory. The data copied into it mostly starts at a page boundary too. If
/// the two offsets within a page differed by a few bytes, each load would wait for an earlier store
/// with a similar address (4K aliasing): on Zen 3, that makes `rep movsb`, the kernel's copy
/// instruction, five times slower.
pub(crate) fn block() -> platform::Result<Mapping> {
    Mapping::anonymous(BLOCK, PageSize::Base)
}
