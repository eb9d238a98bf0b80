//! Stacks: slots of equal size cut from large mappings, each above a guard page, kept for reuse.
//!
//! A slot carries the control block of its thread at its top, so that an idle thread touches one
//! page and starting a thread allocates nothing.

mod pool;
mod slab;

pub(crate) use pool::{Cache, POOL, class_bytes, class_for};
pub(crate) use slab::{MapError, page_size};
