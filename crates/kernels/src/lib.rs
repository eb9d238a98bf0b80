//! Loops whose compiled code is measured.
//!
//! # What it is
//!
//! [`read()`] and [`write()`] make one pass over a block of memory and touch every byte, as fast as
//! one core can. They use the widest registers of the processor, selected at run time, and several
//! registers per iteration, so that the loop is limited by memory and not by itself. Each
//! instruction set has its own file; all give the same results.
//!
//! [`change()`] and [`COPY_METHODS`] change and copy a block. [`Chain`] gives the latency of a load.
//!
//! [`Vectors`] are arithmetic operations in those registers.
//!
//! [`MULTIPLY_CHAIN`] and [`add_width()`] show the core's clock, and whether another program shares the core.
//!
//! [`levels`] are loops that compare compilers: one source at four optimisation levels, by two
//! compilers.
//!
//! # What it uses
//!
//! The standard library's intrinsics and processor feature detection, and the crates `level0` to
//! `level3` next to this one: the same source at different levels.
//!
//! # What it must never do
//!
//! Allocate, or call the operating system: that would be timed with the loop.

#![expect(
    unsafe_code,
    reason = "vector registers are loaded and stored through pointers"
)]

#[macro_use]
mod passes;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod chain;
mod change;
mod copy;
mod dispatch;
mod instruction_set;
pub mod levels;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod reference;
mod vectors;

pub use chain::Chain;
pub use change::change;
pub use copy::{COPY_METHODS, CopyMethod};
pub use instruction_set::InstructionSet;
pub use reference::{MULTIPLICATIONS, MULTIPLY_CHAIN, add_width};
pub use vectors::{VECTORS_IN_A_TURN, Vectors};

/// The exclusive or of the little-endian 64-bit words of `bytes`; the last word is padded with
/// zeros. Loads every byte once, in ascending order.
///
/// A caller that times it must use the result, or the compiler may remove the loop.
#[inline]
pub fn read(bytes: &[u8]) -> u64 {
    InstructionSet::best().read(bytes)
}

/// The exclusive or of the little-endian 32-bit words of `bytes`; the last word is padded with
/// zeros. It is the exclusive or of the two halves of [`read()`]'s result.
#[inline]
pub fn xor_words(bytes: &[u8]) -> u32 {
    let sum = read(bytes);
    sum as u32 ^ (sum >> 32) as u32
}

/// Fills `bytes` with the little-endian bytes of `word`, repeatedly; the last copy may be cut
/// short. Stores every byte once, in ascending order, through the caches: no store bypasses them.
#[inline]
pub fn write(bytes: &mut [u8], word: u64) {
    InstructionSet::best().write(bytes, word);
}
