//! The caches that the processor documents.

use super::levels::Level;
use instrument::figure::{Mark, MarkOrigin};
use platform::machine::{CacheKind, Machine};

/// Level and size in bytes of those that hold data, the first level first.
pub(super) fn documented(machine: &Machine) -> Vec<(u32, u64)> {
    let data = machine
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction);
    data.filter_map(|cache| Some((cache.level, cache.size_bytes?)))
        .collect()
}

/// The size of the last one, in bytes; 0 where none is documented.
pub(super) fn last_bytes(machine: &Machine) -> u64 {
    let sizes = documented(machine).into_iter().map(|(_, size)| size);
    sizes.max().unwrap_or(0)
}

/// The capacities found and those documented, for a figure along sizes.
pub(super) fn marks(levels: &[Level], machine: &Machine) -> Vec<Mark> {
    let found = levels.iter().enumerate().map(|(index, level)| Mark {
        label: format!("capacity {}", index + 1),
        at: level.capacity_bytes,
        interval: level.interval,
        origin: MarkOrigin::Found,
    });
    let documented = documented(machine).into_iter().map(|(level, size)| Mark {
        label: format!("L{level}, as documented"),
        at: size as f64,
        interval: None,
        origin: MarkOrigin::Documented,
    });
    found.chain(documented).collect()
}
