//! aarch64, the procedure call standard of Arm (AAPCS64).

use core::arch::{asm, naked_asm};
use core::ops::Range;
use core::ptr;

use super::Entry;
use super::float_control::FloatControl;

/// Registers that a switch saves. It declares all others as clobbered, so the compiler saves only
/// those that are live at the call, on the stack. `x18` belongs to the platform.
///
/// ```text
///   Context, in the control block              stack of the thread
///   +----+-----------------+                   |                       |
///   |  0 | stack_pointer   |--- sp ----------> +-----------------------+
///   |  8 | program_counter |    label 2        | live registers, saved |
///   | 16 | x29             |                   | by the compiler       |
///   | 24 | x19             |                   | frames of the callers |
///   | 32 | float_control   |                   +-----------------------+
///   +----+-----------------+
/// ```
///
/// A fresh context has `sp` at the top of the stack, `begin` as program counter, the argument in
/// `x29` and the entry in `x19`.
#[repr(C)]
pub(crate) struct Context {
    stack_pointer: *mut u8,
    program_counter: *const u8,
    // LLVM reserves these two registers, so an `asm!` block cannot clobber them.
    x29: *mut (),
    x19: *const (),
    float_control: FloatControl,
}

impl Context {
    /// A context before its first save.
    pub(crate) const fn empty() -> Self {
        Self {
            stack_pointer: ptr::null_mut(),
            program_counter: ptr::null(),
            x29: ptr::null_mut(),
            x19: ptr::null(),
            float_control: FloatControl::DEFAULT,
        }
    }

    /// Writes a context that calls `entry(argument)` on a stack. The end of that must be aligned to 16
    /// bytes.
    ///
    /// # Safety
    /// `place` must be valid for writes.
    #[inline]
    pub(crate) unsafe fn write_fresh(
        place: *mut Self,
        stack: Range<*mut u8>,
        entry: Entry,
        argument: *mut (),
    ) {
        debug_assert!(stack.end.addr().is_multiple_of(16));
        let fresh = Self {
            stack_pointer: stack.end,
            program_counter: begin as *const u8,
            x29: argument,
            x19: entry as *const (),
            float_control: FloatControl::DEFAULT,
        };
        // SAFETY: the caller's contract.
        unsafe {
            place.write(fresh);
            FloatControl::save(&raw mut (*place).float_control);
        }
    }
}

/// First instructions of every thread. The call-frame information says that there is no caller, so
/// a backtrace ends here. The code jumps to the entry, with a return address in place: the entry
/// never returns, and a call without a return would put the return predictor out of step.
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

/// Saves the running context in `from` and continues `to`. Returns when another thread switches
/// back.
///
/// The last instruction is `br`: the return predictor would mispredict a `ret` whose call was made
/// on another stack.
///
/// # Safety
/// `to` must be fresh, or saved by a switch and not continued since. Its stack must be alive. The
/// calling kernel thread must be the one on which `to` was saved.
#[expect(
    clippy::inline_always,
    reason = "a call would cost as much as the switch"
)]
#[inline(always)]
pub(crate) unsafe fn switch(from: *mut Context, to: *const Context) {
    // SAFETY: the code saves the stack pointer, both reserved registers and the address to continue
    // at; every other register is declared clobbered. The caller guarantees that `to` is valid.
    unsafe {
        asm!(
            "adr x9, 2f",
            "mov x10, sp",
            "stp x10, x9, [x0]",
            "stp x29, x19, [x0, #16]",
            switch_float_control!("32"),
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

/// Every fault for which the kernel sends `SIGSEGV` has an address.
pub(crate) fn may_have_faulted(_context: &libc::ucontext_t) -> bool {
    false
}
