//! The atomics of the structures that several workers share. The model check (`tests/model.rs`)
//! compiles those files again with loom's atomics under this name.

pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Waits a moment in a spin loop, for the `attempt`th time. What is held is held for a few
/// instructions, but its holder may have been descheduled by the kernel, so that the processor is
/// offered to it now and then.
pub(crate) fn pause(attempt: u32) {
    const SPINS: u32 = 64;
    if (attempt + 1).is_multiple_of(SPINS) {
        std::thread::yield_now();
    } else {
        core::hint::spin_loop();
    }
}
