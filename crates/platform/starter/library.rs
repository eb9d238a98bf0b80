//! The functions that the compiler expects of a library, and the entry.

use core::arch::{asm, global_asm};

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call {run}",
    "ud2",
    run = sym crate::run,
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "mov x30, xzr",
    "mov x0, sp",
    "and sp, x0, #-16",
    "bl {run}",
    "brk #1",
    run = sym crate::run,
);

/// Sets bytes.
#[unsafe(no_mangle)]
extern "C" fn memset(to: *mut u8, value: i32, bytes: usize) -> *mut u8 {
    for index in 0..bytes {
        not_a_library_call();
        // SAFETY: the caller owns these bytes.
        unsafe { to.add(index).write(value as u8) };
    }
    to
}

/// Copies bytes.
#[unsafe(no_mangle)]
extern "C" fn memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    for index in 0..bytes {
        not_a_library_call();
        // SAFETY: the caller owns these bytes.
        unsafe { to.add(index).write(from.add(index).read()) };
    }
    to
}

/// Counts the bytes before the first zero byte.
#[unsafe(no_mangle)]
pub extern "C" fn strlen(text: *const u8) -> usize {
    let mut bytes = 0;
    // SAFETY: the text ends with a zero byte.
    while unsafe { text.add(bytes).read() } != 0 {
        not_a_library_call();
        bytes += 1;
    }
    bytes
}

/// Keeps the compiler from replacing a loop by a call of the function that it is in.
fn not_a_library_call() {
    // SAFETY: there is no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}
