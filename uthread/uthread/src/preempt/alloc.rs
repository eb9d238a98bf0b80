//! A global allocator without preemption inside.

use core::alloc::{GlobalAlloc, Layout};

use crate::worker::{enter, leave_allocator};

/// Wraps a global allocator so that no thread is preempted inside it.
///
/// The system's allocator is in the C library, where no thread is preempted. An allocator that is
/// part of the program (jemalloc, mimalloc and the like) *must* be wrapped if the program starts a
/// preemptive runtime. The cost is about 2 ns per call.
///
/// ```
/// use std::alloc::System;
/// use uthread::GuardedAlloc;
///
/// #[global_allocator]
/// static ALLOCATOR: GuardedAlloc<System> = GuardedAlloc::new(System);
///
/// assert_eq!(vec![1, 2, 3].len(), 3);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct GuardedAlloc<A>(A);

impl<A> GuardedAlloc<A> {
    /// Wraps `allocator`.
    ///
    /// ```
    /// use std::alloc::System;
    /// use uthread::GuardedAlloc;
    ///
    /// const ALLOCATOR: GuardedAlloc<System> = GuardedAlloc::new(System);
    /// # let _ = ALLOCATOR;
    /// ```
    pub const fn new(allocator: A) -> Self {
        Self(allocator)
    }
}

fn guarded<T>(work: impl FnOnce() -> T) -> T {
    enter();
    let result = work();
    leave_allocator();
    result
}

// SAFETY: every method forwards to the wrapped allocator; disabling preemption changes no result.
unsafe impl<A: GlobalAlloc> GlobalAlloc for GuardedAlloc<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        guarded(|| unsafe { self.0.alloc(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        guarded(|| unsafe { self.0.dealloc(pointer, layout) });
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        guarded(|| unsafe { self.0.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's contract.
        guarded(|| unsafe { self.0.realloc(pointer, layout, new_size) })
    }
}
