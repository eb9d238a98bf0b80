//! The atomics of the structures that several workers share. The model check (`tests/model.rs`)
//! compiles those files again with loom's atomics under this name.

pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Waits a moment in a spin loop. The holder may have been descheduled by the kernel, so that the
/// processor is offered to it now and then.
pub(crate) fn pause() {
    const SPINS: u32 = 64;
    for _ in 0..SPINS {
        core::hint::spin_loop();
    }
    std::thread::yield_now();
}
