//! Memory that bytes pass through on their way.

use crate::protocol::LONGEST_DATA;
use platform::memory::{Mapping, PageSize};

/// Bytes that are moved at a time, in one call and one frame: few enough to stay in a private cache
/// between one step and the next, and many enough that calls do not count.
pub(crate) const BLOCK: usize = LONGEST_DATA as usize;

/// A block of memory that begins where a page does, as what is copied into it mostly does, too. Were
/// it a few bytes further in its page, each load would wait for a store before it that looks like one
/// to the same address: `rep movsb`, by which the kernel copies, is five times slower so on Zen 3.
pub(crate) fn block() -> platform::Result<Mapping> {
    Mapping::anonymous(BLOCK, PageSize::Base)
}
