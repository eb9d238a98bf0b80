//! Address of the kernel thread's own [`Local`](super::local::Local).
//!
//! The standard `thread_local!` uses functions that are inlined only with link-time optimization.
//! Here the address takes two instructions everywhere. The compiler must not cache the address of a
//! thread-local value across a switch to another kernel thread. That cannot happen here: a user
//! thread stays on the kernel thread on which it started.
//!
//! Each use computes the address again: the code is not `pure`. The compiler would keep a `pure`
//! address in a register, which a switch saves and restores. Then every switch would wait until the
//! processor has restored the register of the one before, and could not overlap with it.

use core::arch::global_asm;

/// Size of the variable in bytes. It is zero at the start of every kernel thread.
pub(crate) const BYTES: usize = 16;

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    concat!(".globl ", symbol!()),
    concat!(".hidden ", symbol!()),
    concat!(".type ", symbol!(), ",@object"),
    concat!(".size ", symbol!(), ", 16"),
    ".p2align 4",
    concat!(symbol!(), ":"),
    ".zero 16",
    ".text",
);

/// The address of the variable (*ELF Handling For Thread-Local Storage*, the initial-exec model).
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
pub(crate) fn address() -> *mut () {
    let address;
    // SAFETY: the code reads the thread pointer and a constant of the linker.
    unsafe {
        core::arch::asm!(
            concat!("mov {address}, qword ptr [rip + ", symbol!(), "@GOTTPOFF]"),
            "add {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(nomem, nostack),
        );
    }
    address
}

/// The address of the variable (*ELF for the Arm 64-bit Architecture*, the initial-exec model).
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline]
pub(crate) fn address() -> *mut () {
    let address;
    // SAFETY: the code reads the thread pointer and a constant of the linker.
    unsafe {
        core::arch::asm!(
            concat!("adrp {address}, :gottprel:", symbol!()),
            concat!("ldr {address}, [{address}, :gottprel_lo12:", symbol!(), "]"),
            "mrs {thread}, tpidr_el0",
            "add {address}, {address}, {thread}",
            address = out(reg) address,
            thread = out(reg) _,
            options(nomem, nostack),
        );
    }
    address
}

/// Miri runs no assembly.
#[cfg(miri)]
pub(crate) fn address() -> *mut () {
    #[repr(align(16))]
    struct Variable(core::cell::UnsafeCell<[u8; BYTES]>);
    std::thread_local!(static LOCAL: Variable = const { Variable(core::cell::UnsafeCell::new([0; BYTES])) });
    LOCAL.with(|variable| variable.0.get().cast())
}
