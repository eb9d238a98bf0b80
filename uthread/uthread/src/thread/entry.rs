//! The first and last steps of a thread.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;
use std::panic::AssertUnwindSafe;
use std::thread;

use super::control::{Birth, Control, DETACHED};
use super::locals::Locals;
use super::unwind::catch_unwind;
use crate::context::Context;
use crate::print::print_error_line;
use crate::stack::{MapError, class_bytes, class_for, guard_bytes, valgrind};
use crate::worker::{Worker, enter, leave, require_worker, set_depth};

/// A thread's function, and later its result in the same memory, just below the control block.
union Packet<F, T> {
    function: ManuallyDrop<F>,
    result: ManuallyDrop<thread::Result<T>>,
}

/// The stack is at least this many times as large as the packet at its top: builds without
/// optimization copy the packet several times.
const LEAST_SHARE: usize = 64;

/// Creates a thread that runs `function`; preemption must be disabled.
#[inline]
pub(super) fn make<F, T>(
    worker: &Worker,
    mut birth: Birth,
    function: F,
) -> Result<NonNull<Control>, MapError>
where
    F: FnOnce() -> T,
{
    let bytes = size_of::<Packet<F, T>>() + align_of::<Packet<F, T>>();
    birth.class = birth
        .class
        .max(class_for(bytes.saturating_mul(LEAST_SHARE))?);
    let slot = worker.stacks.take(birth.class)?;
    #[cfg(uthread_asan)]
    forget_the_dead(slot, birth.class);
    if valgrind::runs() {
        let start = slot.as_ptr().wrapping_add(guard_bytes());
        valgrind::renew(start..slot.as_ptr().wrapping_add(class_bytes(birth.class)));
    }
    // SAFETY: the slot was free and belongs to this function. The packet is below the control
    // block, aligned and inside the slot, of which it uses only a part.
    unsafe {
        let mut control = Control::place(slot, birth);
        let below = control.as_ptr().cast::<u8>().sub(size_of::<Packet<F, T>>());
        let packet = below.map_addr(|a| a & !(align_of::<Packet<F, T>>().max(16) - 1));
        packet.cast::<Packet<F, T>>().write(Packet {
            function: ManuallyDrop::new(function),
        });
        let top = packet.map_addr(|a| a & !15);
        control.as_mut().packet = packet.cast();
        control.as_mut().run = run::<F, T>;
        control.as_mut().drop_result = drop_result::<T>;
        let (context, argument) = (control.as_ref().context(), control.as_ptr().cast());
        Context::write_fresh(context, slot.as_ptr()..top, begin, argument);
        Ok(control)
    }
}

/// Tells the address sanitizer that the frames of the previous thread are gone. That thread did not
/// return from all of them.
#[cfg(uthread_asan)]
fn forget_the_dead(slot: NonNull<u8>, class: usize) {
    unsafe extern "C" {
        fn __asan_unpoison_memory_region(start: *const u8, bytes: usize);
    }
    // SAFETY: a slot has this size, and no thread has frames in it.
    unsafe { __asan_unpoison_memory_region(slot.as_ptr(), class_bytes(class)) };
}

unsafe extern "C" fn begin(control: *mut ()) -> ! {
    // SAFETY: `make` passed the control block, which is alive while its thread runs.
    let control = unsafe { &*control.cast::<Control>() };
    leave();
    // SAFETY: the packet holds the function, which is taken out once.
    unsafe { (control.run)(control.packet) };
    // SAFETY: only the thread itself uses its locals.
    if !unsafe { Locals::destroy(control.locals.get()) } {
        print_error_line(format_args!(
            "uthread: destructors of thread-local values create values without end"
        ));
        std::process::abort();
    }
    let worker = require_worker("the end of a thread");
    set_depth(1);
    if control.joiner.load(Ordering::Acquire) == DETACHED {
        leave();
        // SAFETY: the result is in place, and a detached thread has no handle that could use it.
        unsafe { control.discard_result() };
        enter();
    }
    // SAFETY: this stack holds nothing that is still needed.
    unsafe { worker.retire() }
}

unsafe fn run<F: FnOnce() -> T, T>(packet: *mut ()) {
    let packet = packet.cast::<Packet<F, T>>();
    // SAFETY: the caller's contract: the packet holds the function, which is taken out once.
    let function = unsafe { ManuallyDrop::take(&mut (*packet).function) };
    let result = catch_unwind(AssertUnwindSafe(function));
    // SAFETY: the memory of the function is free now.
    unsafe { (&raw mut (*packet).result).write(ManuallyDrop::new(result)) };
}

unsafe fn drop_result<T>(packet: *mut ()) {
    // SAFETY: the caller's contract: the result is in place, and is dropped once.
    unsafe { packet.cast::<thread::Result<T>>().drop_in_place() };
}

/// Moves the result out.
///
/// # Safety
/// The thread must have finished, `T` must be its type, and the result must not have been taken.
pub(super) unsafe fn take_result<T>(control: &Control) -> thread::Result<T> {
    // SAFETY: the caller's contract; all fields of a union begin at its address.
    unsafe { control.packet.cast::<thread::Result<T>>().read() }
}
