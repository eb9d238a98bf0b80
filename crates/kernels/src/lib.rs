//! The loops whose compiled code is the subject of a measurement.
//!
//! # What it is
//!
//! [`read()`] and [`write()`] go over a block of memory once, touching every byte, as fast as one core
//! can: with the widest registers the processor has, chosen at run time, and several of them in
//! turn, so that the loop waits for memory and not for itself. Each instruction set has a file of
//! its own; all of them give the same results.
//!
//! [`Vectors`] are arithmetic operations in those registers.
//!
//! [`levels`] are loops whose compiled code itself is in question: one source at four optimisation
//! levels, by two compilers.
//!
//! # What it uses
//!
//! Nothing but the standard library's intrinsics and the processor's word on what it can do, and the
//! crates `level0` to `level3` beside this one, which are its own source at other levels.
//!
//! # What it must never do
//!
//! Allocate, or call the operating system: whatever else ran inside a loop would be timed with it.

#![expect(
    unsafe_code,
    reason = "vector registers are loaded and stored through pointers"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod chain;
mod change;
mod copy;
mod instruction_set;
pub mod levels;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod vectors;

pub use chain::Chain;
pub use change::change;
pub use copy::CopyMethod;
pub use instruction_set::InstructionSet;
pub use vectors::{VECTORS_IN_A_TURN, Vectors};

/// The exclusive or of the little-endian 64-bit words of `bytes`, the last one filled up with
/// zeros. Every byte is loaded once, in ascending order.
///
/// A caller that times it must use the result, or the compiler may leave the loop out.
#[inline]
pub fn read(bytes: &[u8]) -> u64 {
    InstructionSet::best().read(bytes)
}

/// The exclusive or of the little-endian 32-bit words of `bytes`, the last one filled up with zeros:
/// what [`read()`] gives, its two halves put together.
#[inline]
pub fn xor_words(bytes: &[u8]) -> u32 {
    let sum = read(bytes);
    sum as u32 ^ (sum >> 32) as u32
}

/// Fills `bytes` with the little-endian bytes of `word` over and over, the last one cut short.
/// Every byte is stored once, in ascending order, through the caches: no store bypasses them.
#[inline]
pub fn write(bytes: &mut [u8], word: u64) {
    InstructionSet::best().write(bytes, word);
}
