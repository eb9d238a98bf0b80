//! aarch64, the procedure call standard of Arm (AAPCS64).

use core::arch::{asm, naked_asm};
use core::ptr;

use super::Entry;

/// What survives a switch: everything else is declared clobbered, so the compiler saves at the call
/// only what is live there. `x18` belongs to the platform and FPCR stays at its default.
#[repr(C)]
pub(crate) struct Context {
    stack_pointer: *mut u8,
    program_counter: *const u8,
    // The two registers that LLVM reserves and that an `asm!` block therefore cannot clobber.
    x29: *mut (),
    x19: *const (),
}

impl Context {
    /// A context that has not been saved to yet.
    pub(crate) const fn empty() -> Self {
        Self {
            stack_pointer: ptr::null_mut(),
            program_counter: ptr::null(),
            x29: ptr::null_mut(),
            x19: ptr::null(),
        }
    }

    /// A context that calls `entry(argument)` on the stack that ends at `top`, which must be
    /// aligned to 16 bytes.
    #[inline]
    pub(crate) fn fresh(top: *mut u8, entry: Entry, argument: *mut ()) -> Self {
        debug_assert!(top.addr().is_multiple_of(16));
        Self {
            stack_pointer: top,
            program_counter: begin as *const u8,
            x29: argument,
            x19: entry as *const (),
        }
    }
}

/// First instructions of every thread: the call-frame information says that there is no caller, so
/// that a backtrace ends here. The entry is not called but jumped to, with its return address in
/// place: it never returns, and a call would leave the return predictor out of step.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined x30",
        "mov x0, x29",
        "mov x29, xzr",
        "adr x30, 2f",
        "br x19",
        "2:",
        "brk #1",
        ".cfi_endproc",
    )
}

/// Saves the running context in `from` and continues `to`. Returns when somebody switches back.
///
/// It leaves by `br`: a `ret` whose call was made on another stack misses the return predictor.
///
/// # Safety
/// `to` must be fresh, or saved by a switch and not continued since; its stack must be alive. The
/// kernel thread must be the one on which `to` was saved.
#[expect(
    clippy::inline_always,
    reason = "a call would cost as much as the switch"
)]
#[inline(always)]
pub(crate) unsafe fn switch(from: *mut Context, to: *const Context) {
    // SAFETY: the stack pointer, both reserved registers and the address to continue at are
    // saved; every other register is declared clobbered. The caller vouches for `to`.
    unsafe {
        asm!(
            "adr x9, 2f",
            "mov x10, sp",
            "stp x10, x9, [x0]",
            "stp x29, x19, [x0, #16]",
            "ldp x10, x9, [x1]",
            "ldp x29, x19, [x1, #16]",
            "mov sp, x10",
            "br x9",
            "2:",
            inout("x0") from => _,
            inout("x1") to => _,
            out("x20") _, out("x21") _, out("x22") _, out("x23") _, out("x24") _,
            out("x25") _, out("x26") _, out("x27") _, out("x28") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            clobber_abi("C"),
        );
    }
}

/// The instruction that a signal interrupted.
pub(crate) fn program_counter(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}

/// The stack pointer at the time of the signal.
pub(crate) fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.sp as usize
}
