//! Address of the kernel thread's own [`Local`](super::super::local::Local); that of Linux says why it is
//! taken by hand, and computed again at each use.

use core::arch::{asm, global_asm};

/// Size of the variable in bytes. It is zero at the start of every kernel thread.
pub(crate) const BYTES: usize = 16;

global_asm!(
    ".section .tls$,\"dw\"",
    concat!(".globl ", symbol!()),
    ".p2align 4",
    concat!(symbol!(), ":"),
    ".zero 16",
    ".text",
);

/// The address of the variable (*PE Format*, "The .tls Section"): in the block of this program or library, of
/// which the thread environment block lists one for each.
#[inline]
pub(crate) fn address() -> *mut () {
    let address;
    // SAFETY: the code reads the thread's list of blocks and constants of the linker.
    unsafe {
        asm!(
            "mov {index:e}, dword ptr [rip + _tls_index]",
            "mov {address}, qword ptr gs:[0x58]",
            "mov {address}, qword ptr [{address} + 8*{index}]",
            concat!("lea {address}, [{address} + ", symbol!(), "@SECREL32]"),
            address = out(reg) address,
            index = out(reg) _,
            options(nomem, nostack, preserves_flags),
        );
    }
    address
}
