//! Amounts of memory, and mapped memory.

mod amount;
mod region;

pub(crate) use amount::{available_bytes, footprint_bytes};
pub(crate) use region::Region;

pub(crate) use super::cgroup::memory_room as group_room;
