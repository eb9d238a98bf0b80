//! What each kernel thread knows of itself: its worker and the preempt-disable counter.
//!
//! Reading these is safe against the tick, which runs on the same kernel thread: it switches only
//! while the counter is zero, and the counter is zero again when it comes back.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, compiler_fence};

use super::Worker;
use super::address::{BYTES, address};

/// Zero at the start of every kernel thread.
#[repr(C)]
struct Local {
    worker: AtomicPtr<Worker>,
    /// While above zero, no tick switches.
    depth: AtomicU32,
    /// There is a reason to look for another thread when the counter falls to zero.
    pending: AtomicBool,
}

const _: () = assert!(size_of::<Local>() <= BYTES);

#[inline]
fn local() -> &'static Local {
    // SAFETY: the variable is as large, aligned to 16 bytes, and valid while it is zero. It lives as
    // long as the kernel thread, to which the reference is confined: `Local` is used in this file
    // only, in functions that do not keep it.
    unsafe { &*address().cast::<Local>() }
}

/// Holds preemption off until the matching [`leave`].
#[inline]
pub(crate) fn enter() {
    let depth = &local().depth;
    depth.store(depth.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
}

/// Ends what [`enter`] began; a tick that was deferred is taken now.
#[inline]
pub(crate) fn leave() {
    if leave_quietly() {
        take_deferred(false);
    }
}

/// [`leave`] for the allocator, inside which virtual ticks never strike: it is called from code
/// that does not expect another thread there.
#[inline]
pub(crate) fn leave_allocator() {
    if leave_quietly() {
        take_deferred(true);
    }
}

/// Lowers the counter; `true` if it is zero now and something is pending.
#[inline]
fn leave_quietly() -> bool {
    compiler_fence(Ordering::SeqCst);
    let local = local();
    // A guard that has left its runtime may be dropped where nothing is counted.
    let depth = local.depth.load(Ordering::Relaxed).saturating_sub(1);
    local.depth.store(depth, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    local.pending.load(Ordering::Relaxed) && depth == 0
}

#[cold]
fn take_deferred(in_allocator: bool) {
    // Another thread must not run on top of one that is unwinding: the standard library counts
    // panics per kernel thread.
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

/// Sets the counter, whatever guards were forgotten.
pub(crate) fn set_depth(depth: u32) {
    compiler_fence(Ordering::SeqCst);
    local().depth.store(depth, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
}

/// Asks for a look at the ready threads when the counter falls to zero.
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

/// The worker that this kernel thread is, if it is one.
#[inline]
pub(crate) fn current_worker() -> Option<&'static Worker> {
    let worker = local().worker.load(Ordering::Relaxed);
    // SAFETY: a worker registers itself for as long as it runs threads, and only those, its own
    // loop and the tick ask; what they get does not leave the kernel thread (`Worker` is not
    // `Sync`), so `'static` cannot be abused to outlive it.
    unsafe { worker.as_ref() }
}

/// The worker, or a panic that names the operation which needs one.
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
