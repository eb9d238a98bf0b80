//! The same context with a fiber of the thread sanitizer, which follows the threads by it. Only builds with
//! that sanitizer have it (`--cfg uthread_tsan`).

use core::cell::Cell;
use core::ffi::{c_uint, c_void};
use core::ops::Range;
use core::ptr;

use super::{Entry, machine};

/// The sanitizer's name of one flow of control.
type Fiber = *mut c_void;

unsafe extern "C" {
    fn __tsan_get_current_fiber() -> Fiber;
    fn __tsan_create_fiber(flags: c_uint) -> Fiber;
    fn __tsan_switch_to_fiber(fiber: Fiber, flags: c_uint);
    fn __tsan_destroy_fiber(fiber: Fiber);
}

/// All that happens before a switch happens before what follows it: both run on one kernel thread.
const SYNCHRONIZES: c_uint = 0;

pub(crate) struct Context {
    machine: machine::Context,
    fiber: Fiber,
}

impl Context {
    pub(crate) const fn empty() -> Self {
        Self {
            machine: machine::Context::empty(),
            fiber: ptr::null_mut(),
        }
    }

    /// Same as the machine's.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn write_fresh(
        place: *mut Self,
        stack: Range<*mut u8>,
        entry: Entry,
        argument: *mut (),
    ) {
        // SAFETY: the caller's contract; without flags, a fiber has no precondition.
        unsafe {
            machine::Context::write_fresh(&raw mut (*place).machine, stack, entry, argument);
            (&raw mut (*place).fiber).write(__tsan_create_fiber(0));
        }
    }

    /// Ends the fiber of a thread that has ended. The caller may still run on it until the next switch,
    /// so it is destroyed when the next thread of this kernel thread ends.
    ///
    /// # Safety
    /// `this` must be of a thread that was fresh and never continues.
    pub(crate) unsafe fn bury(this: *const Self) {
        thread_local!(static LAST: Cell<Fiber> = const { Cell::new(ptr::null_mut()) });
        // SAFETY: the caller's contract.
        let before = LAST.replace(unsafe { (*this).fiber });
        if !before.is_null() {
            // SAFETY: its thread has ended, and this one runs on another.
            unsafe { __tsan_destroy_fiber(before) };
        }
    }
}

/// Same as the machine's switch.
///
/// # Safety
/// As there.
#[expect(
    clippy::inline_always,
    reason = "the sanitizer counts calls and returns of each fiber"
)]
#[inline(always)]
pub(crate) unsafe fn switch(from: *mut Context, to: *const Context) {
    // SAFETY: the caller's contract; the fiber of `to` was created with it, or was current when it was
    // saved.
    unsafe {
        (*from).fiber = __tsan_get_current_fiber();
        __tsan_switch_to_fiber((*to).fiber, SYNCHRONIZES);
        machine::switch(&raw mut (*from).machine, &raw const (*to).machine);
    }
}
