//! Wall and CPU clocks.

pub use crate::os::clock::{now_ns, process_cpu_ns};
