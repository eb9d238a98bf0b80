//! Amounts of memory, and mapped memory.

mod amount;
mod region;

use super::huge_pages::huge_page_bytes;
use super::machine;
use crate::memory::PageSize;

pub use amount::{available_bytes, compaction_stalls, footprint_bytes};
pub(crate) use region::FileMapping;
pub use region::Mapping;

pub use super::cgroup::memory_room as group_room;
pub use super::page_reporting::reports_free_pages;

/// Size of a page in bytes; `None` if the system has no such pages. Cheaper than
/// [`Machine::read`](crate::machine::Machine::read), which looks at every processor.
pub fn page_bytes(size: PageSize) -> Option<u64> {
    match size {
        PageSize::Base => Some(machine::page_bytes() as u64),
        PageSize::Huge => huge_page_bytes(),
    }
}
