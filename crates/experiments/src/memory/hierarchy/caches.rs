//! The caches that the processor documents.

use instrument::quantity::Bytes;
use platform::machine::{CacheKind, Machine};

/// A cache that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) struct DataCache {
    /// Its level: 1 is nearest to the core.
    pub(in crate::memory) level: u32,
    pub(in crate::memory) size: Bytes,
}

/// The caches that hold data, the first level first.
pub(in crate::memory) fn documented(machine: &Machine) -> Vec<DataCache> {
    let data = machine
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction);
    data.filter_map(|cache| {
        Some(DataCache {
            level: cache.level,
            size: Bytes(cache.size_bytes?),
        })
    })
    .collect()
}

/// The size of the last-level cache in bytes; 0 if none is documented.
pub(crate) fn last_bytes(machine: &Machine) -> u64 {
    let sizes = documented(machine).into_iter().map(|cache| cache.size.0);
    sizes.max().unwrap_or(0)
}
