//! x86-64, System V calling convention.

use core::arch::{asm, naked_asm};
use core::ops::Range;
use core::ptr;

use super::Entry;
use super::float_control::FloatControl;

/// Registers that a switch saves. It declares all others as clobbered, so the compiler saves only
/// those that are live at the call, on the stack.
///
/// ```text
///   Context, in the control block              stack of the thread
///   +----+-----------------+                   |                       |
///   |  0 | stack_pointer   |--- rsp ---------> +-----------------------+
///   |  8 | program_counter |    label 2        | live registers, saved |
///   | 16 | rbp             |                   | by the compiler       |
///   | 24 | rbx             |                   | frames of the callers |
///   | 32 | float_control   |                   +-----------------------+
///   +----+-----------------+
/// ```
///
/// A fresh context has `rsp` at the top of the stack, `begin` as program counter, the argument in
/// `rbp` and the entry in `rbx`.
#[repr(C)]
pub(crate) struct Context {
    stack_pointer: *mut u8,
    program_counter: *const u8,
    // LLVM reserves these two registers, so an `asm!` block cannot clobber them.
    rbp: *mut (),
    rbx: *const (),
    float_control: FloatControl,
}

impl Context {
    /// A context before its first save.
    pub(crate) const fn empty() -> Self {
        Self {
            stack_pointer: ptr::null_mut(),
            program_counter: ptr::null(),
            rbp: ptr::null_mut(),
            rbx: ptr::null(),
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
            rbp: argument,
            rbx: entry as *const (),
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

/// Saves the running context in `from` and continues `to`. Returns when another thread switches
/// back.
///
/// The last instruction is `jmp`: the return predictor would mispredict a `ret` whose call was made
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
            "lea rax, [rip + 2f]",
            "mov [rdi], rsp",
            "mov [rdi + 8], rax",
            "mov [rdi + 16], rbp",
            "mov [rdi + 24], rbx",
            switch_float_control!("32"),
            "mov rsp, [rsi]",
            "mov rbp, [rsi + 16]",
            "mov rbx, [rsi + 24]",
            "jmp [rsi + 8]",
            load_float_control!("32"),
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

/// Continues `to` for good: the running context is not saved.
///
/// # Safety
/// As for [`switch`].
#[cfg(not(uthread_tsan))]
#[inline]
pub(crate) unsafe fn abandon(_from: *mut Context, to: *const Context) -> ! {
    // SAFETY: the caller's contract, as in `switch`.
    unsafe {
        #[cfg(feature = "float-control")]
        asm!("ldmxcsr [{0} + 32]", "fldcw [{0} + 36]", in(reg) to, options(nostack));
        asm!(
            "mov rsp, [rsi]",
            "mov rbp, [rsi + 16]",
            "mov rbx, [rsi + 24]",
            "jmp [rsi + 8]",
            in("rsi") to,
            options(noreturn),
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

/// True if a fault without an address may have caused the signal. False only if it cannot: the number is that
/// of the last fault of the kernel thread, also for signals with another cause.
pub(crate) fn may_have_faulted(context: &libc::ucontext_t) -> bool {
    /// Overflow, bounds, and the range from an invalid task segment to a general protection fault (*Intel 64
    /// and IA-32 Architectures Software Developer's Manual*, volume 3, 6.15).
    const WITHOUT_ADDRESS: [core::ops::RangeInclusive<i64>; 2] = [4..=5, 10..=13];
    let number = context.uc_mcontext.gregs[libc::REG_TRAPNO as usize];
    WITHOUT_ADDRESS.iter().any(|range| range.contains(&number))
}
