//! Copies by the C library, which each operating system has of its own.

use crate::prelude::*;

/// The counterpart of a copy by `memcpy` on another system.
pub(super) fn of_library(point: &Point) -> Counterpart {
    Counterpart::Like {
        point: point.clone(),
        difference: "The C library of each system has a memcpy of its own.",
    }
}
