//! x86-64, Microsoft's calling convention.

use core::arch::{asm, naked_asm};
use core::ops::Range;
use core::ptr;

use super::Entry;
use super::float_control::FloatControl;
use crate::stack::guard_bytes;

/// Registers that a switch saves, and what the system knows of the stack. The switch declares all other
/// registers as clobbered, also those that this convention preserves (`rdi`, `rsi`, `xmm6` to `xmm15`), so the
/// compiler saves only those that are live at the call, on the stack.
///
/// ```text
///   Context, in the control block              stack of the thread
///   +----+-----------------+                   |                       |
///   |  0 | stack_pointer   |--- rsp ---------> +-----------------------+
///   |  8 | program_counter |    label 2        | live registers, saved |
///   | 16 | rbp             |                   | by the compiler       |
///   | 24 | rbx             |                   | frames of the callers |
///   | 32 | base            |--- gs:[8] ------> +-----------------------+
///   | 40 | limit           |    gs:[16], its lowest address in use
///   | 48 | lowest          |    gs:[0x1478], with its guard
///   | 56 | handlers        |    gs:[0]
///   | 64 | float_control   |
///   +----+-----------------+
/// ```
///
/// Three of those from `base` on are `StackBase` and `StackLimit` of the thread information block, and
/// `DeallocationStack` of the block around it. The system takes a frame outside of them for a broken stack: no
/// exception, and so no panic, would find its handler there. The fourth is `ExceptionList`. Windows does
/// not use it on x86-64, but Wine does, and takes all handlers at lower addresses for those of inner functions.
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
    base: *mut u8,
    limit: *mut u8,
    lowest: *mut u8,
    handlers: *mut u8,
    float_control: FloatControl,
}

/// The end of the list of handlers.
const NO_HANDLERS: *mut u8 = ptr::without_provenance_mut(usize::MAX);

impl Context {
    /// A context before its first save.
    pub(crate) const fn empty() -> Self {
        Self {
            stack_pointer: ptr::null_mut(),
            program_counter: ptr::null(),
            rbp: ptr::null_mut(),
            rbx: ptr::null(),
            base: ptr::null_mut(),
            limit: ptr::null_mut(),
            lowest: ptr::null_mut(),
            handlers: NO_HANDLERS,
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
            base: stack.end,
            limit: stack.start.wrapping_add(guard_bytes()),
            lowest: stack.start,
            handlers: NO_HANDLERS,
            float_control: FloatControl::DEFAULT,
        };
        // SAFETY: the caller's contract.
        unsafe {
            place.write(fresh);
            FloatControl::save(&raw mut (*place).float_control);
        }
    }
}

/// First instructions of every thread. They leave the 32 bytes that a function may use above its return
/// address. The unwind information leads to a return address of zero, where a backtrace ends. The code
/// jumps to the entry, with a return address in place: the entry never returns, and a call without a
/// return would put the return predictor out of step.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!(
        ".seh_proc {begin}",
        "push 0",
        "sub rsp, 40",
        ".seh_stackalloc 40",
        ".seh_endprologue",
        "mov rcx, rbp",
        "xor ebp, ebp",
        "lea rax, [rip + 2f]",
        "push rax",
        "jmp rbx",
        "2:",
        "ud2",
        ".seh_endproc",
        begin = sym begin,
    )
}

/// Saves the running context in `from` and continues `to`. Returns when another thread switches
/// back.
///
/// The last instruction is `jmp`: the return predictor would mispredict a `ret` whose call was made
/// on another stack. The limit of a kernel thread's stack changes as that grows, so it is saved too.
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
    // SAFETY: the code saves the stack pointer, the bounds of the stack, both reserved registers and the
    // address to continue at; every other register is declared clobbered: the convention of System V
    // preserves only those named here. The caller guarantees that `to` is valid.
    unsafe {
        asm!(
            "lea rax, [rip + 2f]",
            "mov rcx, gs:[0x08]",
            "mov rdx, gs:[0x10]",
            "mov r8, gs:[0x1478]",
            "mov r9, gs:[0x00]",
            "mov [rdi], rsp",
            "mov [rdi + 8], rax",
            "mov [rdi + 16], rbp",
            "mov [rdi + 24], rbx",
            "mov [rdi + 32], rcx",
            "mov [rdi + 40], rdx",
            "mov [rdi + 48], r8",
            "mov [rdi + 56], r9",
            switch_float_control!("64"),
            "mov rcx, [rsi + 32]",
            "mov rdx, [rsi + 40]",
            "mov r8, [rsi + 48]",
            "mov r9, [rsi + 56]",
            "mov rsp, [rsi]",
            "mov rbp, [rsi + 16]",
            "mov rbx, [rsi + 24]",
            "mov gs:[0x08], rcx",
            "mov gs:[0x10], rdx",
            "mov gs:[0x1478], r8",
            "mov gs:[0x00], r9",
            "jmp [rsi + 8]",
            load_float_control!("64"),
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
