//! State of each kernel thread: its worker and the preempt-disable counter.
//!
//! Reading it is safe despite the tick, which runs on the same kernel thread. The tick switches
//! only while the counter is zero, and the counter is zero again when the thread continues.
//!
//! Two pairs of functions disable and enable preemption:
//!
//! * [`enter`] and [`leave`] count, so sections nest: code that never switches may run inside another
//!   section, as an unlocking does under a [`no_preempt`](crate::no_preempt) guard.
//! * [`try_enter`] and [`leave_blocking`] set the counter to one and to zero. What may switch needs that: the
//!   thread that continues has a section of its own, which its own operation ends, and one counter is
//!   enough for both. Where preemption is disabled already, blocking would be an error, which `try_enter` finds in passing.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, compiler_fence};

use super::Worker;
use super::system::{BYTES, address};

/// Zero at the start of every kernel thread.
#[repr(C)]
struct Local {
    worker: AtomicPtr<Worker>,
    /// While above zero, ticks do not switch.
    depth: AtomicU32,
    /// A tick or a more important thread asks for a switch when the counter falls to zero.
    pending: AtomicBool,
}

const _: () = assert!(size_of::<Local>() <= BYTES);

#[inline]
fn local() -> &'static Local {
    // SAFETY: the variable is as large, aligned to 16 bytes, and valid while it is zero. It lives
    // as long as the kernel thread, and the reference stays on that thread: only functions of this
    // file use `Local`, and they do not keep it.
    unsafe { &*address().cast::<Local>() }
}

/// Disables preemption until the matching [`leave`].
#[inline]
pub(crate) fn enter() {
    let depth = &local().depth;
    depth.store(depth.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
}

/// Disables preemption if it is enabled; `false` if it was disabled already.
#[inline]
pub(crate) fn try_enter() -> bool {
    let depth = &local().depth;
    let enabled = depth.load(Ordering::Relaxed) == 0;
    if enabled {
        // Not an increment, which would have to wait for the last store to the counter.
        depth.store(1, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }
    enabled
}

/// Ends the section that [`try_enter`] began. A deferred tick takes effect now.
#[inline]
pub(crate) fn leave_blocking() {
    compiler_fence(Ordering::SeqCst);
    let local = local();
    debug_assert_eq!(
        local.depth.load(Ordering::Relaxed),
        1,
        "sections are nested"
    );
    local.depth.store(0, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    if local.pending.load(Ordering::Relaxed) {
        take_deferred(false);
    }
}

/// A short section in which nothing may switch. Its beginning and its end share one search for the variable.
#[must_use = "preemption stays disabled"]
pub(crate) struct Section(&'static Local);

impl Section {
    /// Disables preemption. `None` outside a runtime, or if it is disabled already.
    #[inline]
    pub(crate) fn begin() -> Option<(Self, &'static Worker)> {
        Self::begin_if(|_| true)
    }

    /// The same, if the worker is of a kind.
    #[inline]
    pub(crate) fn begin_if(is_so: impl FnOnce(&Worker) -> bool) -> Option<(Self, &'static Worker)> {
        let local = local();
        // SAFETY: as in `current_worker`.
        let worker = unsafe { local.worker.load(Ordering::Relaxed).as_ref() }?;
        if !is_so(worker) || local.depth.load(Ordering::Relaxed) != 0 {
            return None;
        }
        local.depth.store(1, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        Some((Self(local), worker))
    }

    /// Enables preemption. A deferred tick takes effect now.
    #[inline]
    pub(crate) fn leave(self) {
        let local = self.0;
        self.leave_without_tick();
        if local.pending.load(Ordering::Relaxed) {
            take_deferred(false);
        }
    }

    /// Enables preemption. A deferred tick stays deferred: see [`is_tick_deferred`].
    #[inline]
    pub(crate) fn leave_without_tick(self) {
        compiler_fence(Ordering::SeqCst);
        self.0.depth.store(0, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }
}

/// True if the end of the next section that is not [left without](Section::leave_without_tick) makes a deferred tick.
#[doc(hidden)]
#[inline]
pub fn is_tick_deferred() -> bool {
    local().pending.load(Ordering::Relaxed)
}

/// Ends the section that [`enter`] began. A deferred tick takes effect now.
#[inline]
pub(crate) fn leave() {
    if leave_quietly() {
        take_deferred(false);
    }
}

/// [`leave`] for the allocator. Virtual ticks never occur inside it: its callers do not expect
/// another thread to run there.
#[inline]
pub(crate) fn leave_allocator() {
    if leave_quietly() {
        take_deferred(true);
    }
}

/// Decrements the counter; `true` if it is zero now and a request is pending.
#[inline]
fn leave_quietly() -> bool {
    compiler_fence(Ordering::SeqCst);
    let local = local();
    // A guard may outlive its runtime and be dropped on a thread whose counter is zero.
    let depth = local.depth.load(Ordering::Relaxed).saturating_sub(1);
    local.depth.store(depth, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    local.pending.load(Ordering::Relaxed) && depth == 0
}

#[cold]
fn take_deferred(in_allocator: bool) {
    // No other thread may run while this one unwinds: the standard library counts panics per kernel
    // thread.
    if std::thread::panicking() {
        return;
    }
    if let Some(worker) = current_worker() {
        worker.take_deferred(in_allocator);
    }
}

#[inline]
pub(crate) fn depth() -> u32 {
    local().depth.load(Ordering::Relaxed)
}

/// Sets the counter, regardless of forgotten guards.
pub(crate) fn set_depth(depth: u32) {
    compiler_fence(Ordering::SeqCst);
    local().depth.store(depth, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
}

/// Requests a check of the ready threads when the counter falls to zero.
#[inline]
pub(crate) fn set_pending(pending: bool) {
    local().pending.store(pending, Ordering::Relaxed);
}

pub(super) fn pending() -> bool {
    local().pending.load(Ordering::Relaxed)
}

pub(super) fn set_worker(worker: *const Worker) {
    local().worker.store(worker.cast_mut(), Ordering::Relaxed);
}

/// The worker of this kernel thread, if it has one.
#[inline]
pub(crate) fn current_worker() -> Option<&'static Worker> {
    let worker = local().worker.load(Ordering::Relaxed);
    // SAFETY: a worker registers itself while it runs threads, and only its threads, its own loop
    // and the tick ask. The reference does not leave the kernel thread (`Worker` is not `Sync`), so
    // `'static` cannot be abused to outlive it.
    unsafe { worker.as_ref() }
}

/// The worker, or a panic that names the operation that needs it.
#[inline]
pub(crate) fn require_worker(operation: &str) -> &'static Worker {
    match current_worker() {
        Some(worker) => worker,
        None => outside(operation),
    }
}

#[cold]
#[inline(never)]
fn outside(operation: &str) -> ! {
    panic!("{operation} was called outside a uthread runtime");
}
