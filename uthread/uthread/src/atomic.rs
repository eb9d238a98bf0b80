//! Atomic types of the structures that several workers share. The model check (`tests/model.rs`)
//! compiles those files again with loom's types under this name.

pub(crate) use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence,
};

/// Waits a moment in a spin loop, for the `attempt`th time. Owners hold the lock for a few
/// instructions only. But the kernel may have descheduled the owner, so every few attempts this
/// yields the processor to it.
pub(crate) fn pause(attempt: u32) {
    const SPINS: u32 = 64;
    if (attempt + 1).is_multiple_of(SPINS) {
        std::thread::yield_now();
    } else {
        core::hint::spin_loop();
    }
}
