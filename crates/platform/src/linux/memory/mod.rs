//! Amounts of memory, and mapped memory.

mod amount;
mod region;

pub(crate) use amount::{available_bytes, compaction_stalls, footprint_bytes};
pub(crate) use region::{FileMapping, Mapping};

pub(crate) use super::cgroup::memory_room as group_room;
pub(crate) use super::page_reporting::reports_free_pages;
