//! Costs that a known hierarchy would have, for tests.

use super::fit::{Hierarchy, Level};

/// The cost of an access in passes over `size` bytes: `base`, and the added cost of each of the
/// `levels` (capacity in bytes, added cost) that it misses.
pub(crate) fn cost(base: f64, levels: &[(f64, f64)], size: f64) -> f64 {
    let level = |&(capacity_bytes, added_cost): &(f64, f64)| Level {
        capacity_bytes,
        added_cost,
        capacity_interval: None,
        added_cost_interval: None,
    };
    let hierarchy = Hierarchy {
        base_cost: base,
        levels: levels.iter().map(level).collect(),
        relative_error: 0.0,
    };
    hierarchy.predicted(size)
}
