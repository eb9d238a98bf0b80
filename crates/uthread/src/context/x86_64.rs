//! x86-64, System V calling convention.

use core::arch::{asm, naked_asm};
use core::ptr;

use super::Entry;

/// What survives a switch: everything else is declared clobbered, so the compiler saves at the call
/// only what is live there. The control words of SSE and x87 are not kept: Rust requires them to
/// stay at their defaults.
#[repr(C)]
pub(crate) struct Context {
    stack_pointer: *mut u8,
    program_counter: *const u8,
    // The two registers that LLVM reserves and that an `asm!` block therefore cannot clobber.
    rbp: *mut (),
    rbx: *const (),
}

impl Context {
    /// A context that has not been saved to yet.
    pub(crate) const fn empty() -> Self {
        Self {
            stack_pointer: ptr::null_mut(),
            program_counter: ptr::null(),
            rbp: ptr::null_mut(),
            rbx: ptr::null(),
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
            rbp: argument,
            rbx: entry as *const (),
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
        ".cfi_undefined rip",
        "mov rdi, rbp",
        "xor ebp, ebp",
        "lea rax, [rip + 2f]",
        "push rax",
        "jmp rbx",
        "2:",
        "ud2",
        ".cfi_endproc",
    )
}

/// Saves the running context in `from` and continues `to`. Returns when somebody switches back.
///
/// It leaves by `jmp`: a `ret` whose call was made on another stack misses the return predictor.
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
            "lea rax, [rip + 2f]",
            "mov [rdi], rsp",
            "mov [rdi + 8], rax",
            "mov [rdi + 16], rbp",
            "mov [rdi + 24], rbx",
            "mov rsp, [rsi]",
            "mov rbp, [rsi + 16]",
            "mov rbx, [rsi + 24]",
            "jmp [rsi + 8]",
            "2:",
            inout("rdi") from => _,
            inout("rsi") to => _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

/// The instruction that a signal interrupted.
pub(crate) fn program_counter(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}

/// The stack pointer at the time of the signal.
pub(crate) fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}
