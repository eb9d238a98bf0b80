//! Tells valgrind(1) of stacks. Otherwise it takes a switch between two for the growth of one, and reports
//! errors in the memory between them.
//!
//! The requests are instructions that do nothing on a processor (valgrind.h), so programs need not be built
//! for it.

use core::arch::asm;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

static RUNS: AtomicBool = AtomicBool::new(false);

/// The number that valgrind gives a stack; zero if the program does not run in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackId(usize);

/// Looks whether the program runs in valgrind, for [`runs`].
pub(super) fn look() {
    const RUNNING_ON_VALGRIND: usize = 0x1001;
    RUNS.store(request(RUNNING_ON_VALGRIND, 0, 0) > 0, Ordering::Relaxed);
}

/// True if the program runs in valgrind, once there is memory for stacks.
#[inline]
pub(crate) fn runs() -> bool {
    RUNS.load(Ordering::Relaxed)
}

/// Tells that a free stack may be used from any address on: the thread before did not return from all of
/// its functions, and memory of those that returned is no memory for valgrind.
#[cold]
pub(crate) fn renew(stack: Range<*mut u8>) {
    const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
    let bytes = stack.end.addr() - stack.start.addr();
    request(MAKE_MEM_UNDEFINED, stack.start.addr(), bytes);
}

/// Tells that the addresses are a stack.
pub(crate) fn register(stack: Range<*mut u8>) -> StackId {
    const STACK_REGISTER: usize = 0x1501;
    let highest = stack.end.addr() - 1;
    StackId(request(STACK_REGISTER, stack.start.addr(), highest))
}

/// Tells that the stack is one no longer.
pub(crate) fn deregister(stack: StackId) {
    const STACK_DEREGISTER: usize = 0x1502;
    request(STACK_DEREGISTER, stack.0, 0);
}

#[cfg(target_arch = "x86_64")]
fn request(number: usize, first: usize, second: usize) -> usize {
    let arguments = [number, first, second, 0, 0, 0];
    let mut result = 0;
    // SAFETY: the four rotations make 128 bits together, so no register changes but `rdx`.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &raw const arguments,
            inout("rdx") result,
            options(nostack),
        );
    }
    result
}

#[cfg(target_arch = "aarch64")]
fn request(number: usize, first: usize, second: usize) -> usize {
    let arguments = [number, first, second, 0, 0, 0];
    let mut result = 0;
    // SAFETY: the four rotations make 128 bits together, so no register changes but `x3`.
    unsafe {
        asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") &raw const arguments,
            inout("x3") result,
            options(nostack),
        );
    }
    result
}
