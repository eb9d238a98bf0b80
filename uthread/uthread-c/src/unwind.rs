//! Ends a thread from within its functions of C and C++ by forced unwinding, as `pthread_cancel(3)` does
//! (*Itanium C++ ABI: Exception Handling*, 1.3): destructors run, and handlers for all exceptions, which
//! must rethrow. A panic of Rust would look to the handlers like an exception that they may keep.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use std::panic::resume_unwind;

/// A function of C, which may unwind by `uthread_exit` or `uthread_terminate`.
pub(crate) type Function = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// The payload with which a terminated thread leaves its function.
pub(crate) struct Terminated;

/// `_Unwind_Exception`, aligned as the largest type.
#[repr(C, align(16))]
struct Exception {
    class: u64,
    cleanup: unsafe extern "C" fn(c_int, *mut Self),
    private: [usize; 2],
}

/// `_Unwind_Context`.
#[repr(C)]
struct Context {
    _private: [u8; 0],
}

type Stop = unsafe extern "C-unwind" fn(
    c_int,
    c_int,
    u64,
    *mut Exception,
    *mut Context,
    *mut c_void,
) -> c_int;

unsafe extern "C-unwind" {
    fn _Unwind_ForcedUnwind(exception: *mut Exception, stop: Stop, argument: *mut c_void) -> c_int;
}

unsafe extern "C" {
    fn _Unwind_GetRegionStart(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
}

const CLASS: u64 = u64::from_be_bytes(*b"UTHRTERM");

/// Answers of the unwinder, and a question to a stop function.
const NO_REASON: c_int = 0;
const END_OF_STACK: c_int = 16;

/// Calls a function of C. Forced unwinding ends at this frame, and a panic with [`Terminated`] goes on.
///
/// # Safety
/// The function must take this argument.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(crate) unsafe extern "C-unwind" fn enclose(
    function: Function,
    argument: *mut c_void,
) -> *mut c_void {
    naked_asm!(
        ".cfi_startproc",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
    )
}

/// Same as on x86-64.
///
/// # Safety
/// The function must take this argument.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(crate) unsafe extern "C-unwind" fn enclose(
    function: Function,
    argument: *mut c_void,
) -> *mut c_void {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov x29, sp",
        "mov x9, x0",
        "mov x0, x1",
        "blr x9",
        "ldp x29, x30, [sp], #16",
        ".cfi_restore x29",
        ".cfi_restore x30",
        ".cfi_def_cfa_offset 0",
        "ret",
        ".cfi_endproc",
    )
}

/// Unwinds the running thread to the innermost [`enclose`]. The frames of Rust from there to here must
/// catch nothing.
pub(crate) fn unwind() -> ! {
    let exception = Box::into_raw(Box::new(Exception {
        class: CLASS,
        cleanup: kept,
        private: [0; 2],
    }));
    // SAFETY: the exception is on the heap, and `stop` frees it at the end; no frame of it is used
    // afterwards.
    unsafe { _Unwind_ForcedUnwind(exception, stop, core::ptr::null_mut()) };
    fail("a function on the way has no unwind tables")
}

/// A handler for all exceptions has not rethrown this one.
unsafe extern "C" fn kept(_: c_int, _: *mut Exception) {
    fail("a handler for all exceptions must rethrow")
}

fn fail(reason: &str) -> ! {
    uthread::eprintln!("uthread: a terminated thread cannot unwind: {reason}");
    std::process::abort()
}

/// Called before each frame is unwound.
unsafe extern "C-unwind" fn stop(
    _: c_int,
    actions: c_int,
    _: u64,
    exception: *mut Exception,
    context: *mut Context,
    _: *mut c_void,
) -> c_int {
    // SAFETY: the unwinder passes its own context.
    let (start, end) = unsafe { (_Unwind_GetRegionStart(context), _Unwind_GetCFA(context)) };
    forget_frames(end);
    if start == enclose as *const () as usize {
        // SAFETY: made by `unwind`. The unwinder does not come back to it.
        drop(unsafe { Box::from_raw(exception) });
        // The frames of C between here and `enclose` have had their turn: they do nothing more.
        resume_unwind(Box::new(Terminated));
    }
    if actions & END_OF_STACK != 0 {
        fail("its function was not called by this library");
    }
    NO_REASON
}

/// Tells the address sanitizer, if the program has it, that the frames from here to `end` do not return.
#[inline(never)]
fn forget_frames(end: usize) {
    type Unpoison = unsafe extern "C" fn(*const u8, usize);
    let begin = &raw const end;
    let unpoison = uthread::weak_symbol!("__asan_unpoison_memory_region");
    // SAFETY: the sanitizer gives the function this type, and a null pointer is `None`. The range is on
    // the stack of this thread.
    unsafe {
        if let Some(unpoison) = core::mem::transmute::<*const (), Option<Unpoison>>(unpoison) {
            unpoison(begin.cast(), end.saturating_sub(begin.addr()));
        }
    }
}
