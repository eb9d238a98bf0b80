//! Where the kernel thread's own [`Local`](super::local::Local) is.
//!
//! The standard `thread_local!` goes through functions that are inlined only with link-time
//! optimization; here the address is two instructions anywhere. This is safe where the compiler's own
//! caching of it would be, for threads stay on the kernel thread on which they have started.

use core::arch::global_asm;

/// The name of the variable; it holds the version, for two of them may be linked together.
macro_rules! symbol {
    () => {
        concat!(
            "uthread_local_",
            env!("CARGO_PKG_VERSION_MAJOR"),
            "_",
            env!("CARGO_PKG_VERSION_MINOR"),
            "_",
            env!("CARGO_PKG_VERSION_PATCH"),
        )
    };
}

/// The size of the variable in bytes, zero at the start of every kernel thread.
pub(super) const BYTES: usize = 16;

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
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn address() -> *mut () {
    let address;
    // SAFETY: reads the thread pointer and a constant of the linker.
    unsafe {
        core::arch::asm!(
            concat!("mov {address}, qword ptr [rip + ", symbol!(), "@GOTTPOFF]"),
            "add {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(pure, nomem, nostack),
        );
    }
    address
}

/// The address of the variable (*ELF for the Arm 64-bit Architecture*, the initial-exec model).
#[cfg(target_arch = "aarch64")]
#[inline]
pub(super) fn address() -> *mut () {
    let address;
    // SAFETY: reads the thread pointer and a constant of the linker.
    unsafe {
        core::arch::asm!(
            concat!("adrp {address}, :gottprel:", symbol!()),
            concat!("ldr {address}, [{address}, :gottprel_lo12:", symbol!(), "]"),
            "mrs {thread}, tpidr_el0",
            "add {address}, {address}, {thread}",
            address = out(reg) address,
            thread = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    address
}
