//! The caches of a machine: those that its processor documents, and those that a curve of costs
//! against size shows.

mod caches;
mod equations;
#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "experiments use the capacities; tests check the whole model"
    )
)]
mod fit;
mod found;
#[cfg(test)]
pub(crate) mod made_up;
mod misses;
mod search;
#[cfg(test)]
mod tests;

pub(crate) use caches::last_bytes;
pub(super) use caches::{DataCache, documented};
pub(super) use found::{FoundCache, MODEL, found, marks, not_found};
