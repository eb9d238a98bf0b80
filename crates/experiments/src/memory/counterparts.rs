//! The counterparts on another operating system of what is not the same source there.

use crate::prelude::*;

/// Memory that the kernel supplies.
pub(super) const SUPPLIED: Counterpart =
    Counterpart::Missing("each kernel supplies and zeroes pages in its own way");

/// A copy by `memcpy`.
pub(super) fn of_library(point: &Point) -> Counterpart {
    Counterpart::Like {
        point: point.clone(),
        difference: "The C library of each system has a memcpy of its own.",
    }
}
