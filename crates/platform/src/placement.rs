//! CPU affinity and priorities of this thread, and of its memory.

pub use crate::os::placement::{
    allowed_cpus, be_ended_first, be_served_last, cpus_of_core, current_cpu, package, parent_cpus,
    pin_to, shared_cache_level,
};
