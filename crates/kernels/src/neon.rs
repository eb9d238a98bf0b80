//! Loops over registers of 16 bytes (NEON).

use crate::instruction_set::InstructionSet;
use crate::portable;
use std::arch::aarch64::{
    uint8x16_t, vdupq_n_u8, vdupq_n_u64, veorq_u8, vld1q_u8, vreinterpretq_u8_u64, vst1q_u8,
};
use std::arch::is_aarch64_feature_detected;
use std::mem;

/// Bytes per register.
const WIDTH: usize = 16;
/// Registers per iteration. The iteration is unrolled by hand, since the compiler does not always
/// unroll an inner loop.
const UNROLLED: usize = 8;

pub(crate) fn loops() -> Option<InstructionSet> {
    is_aarch64_feature_detected!("neon").then_some(InstructionSet {
        name: "NEON",
        // SAFETY: the processor has NEON, as checked above.
        read: |bytes| unsafe { read(bytes) },
        // SAFETY: as for `read`.
        write: |bytes, word| unsafe { write(bytes, word) },
    })
}

#[target_feature(enable = "neon")]
#[inline(never)]
fn read(bytes: &[u8]) -> u64 {
    let (vectors, tail) = bytes.as_chunks::<WIDTH>();
    let (groups, singles) = vectors.as_chunks::<UNROLLED>();
    let mut sums = [vdupq_n_u8(0); UNROLLED];
    for [a, b, c, d, e, f, g, h] in groups {
        sums[0] = veorq_u8(sums[0], load(a));
        sums[1] = veorq_u8(sums[1], load(b));
        sums[2] = veorq_u8(sums[2], load(c));
        sums[3] = veorq_u8(sums[3], load(d));
        sums[4] = veorq_u8(sums[4], load(e));
        sums[5] = veorq_u8(sums[5], load(f));
        sums[6] = veorq_u8(sums[6], load(g));
        sums[7] = veorq_u8(sums[7], load(h));
    }
    for vector in singles {
        sums[0] = veorq_u8(sums[0], load(vector));
    }
    let halves = [
        veorq_u8(veorq_u8(sums[0], sums[1]), veorq_u8(sums[2], sums[3])),
        veorq_u8(veorq_u8(sums[4], sums[5]), veorq_u8(sums[6], sums[7])),
    ];
    let sum = veorq_u8(halves[0], halves[1]);
    // SAFETY: both are 16 plain bytes.
    let words: [u64; 2] = unsafe { mem::transmute(sum) };
    let sum = words.into_iter().fold(0, |sum, word| sum ^ word);
    // The call takes as long as a short block.
    if tail.is_empty() {
        sum
    } else {
        sum ^ portable::read(tail)
    }
}

#[target_feature(enable = "neon")]
#[inline(never)]
fn write(bytes: &mut [u8], word: u64) {
    // The first byte in memory is the lowest byte of a register, as in a little-endian word.
    let pattern = vreinterpretq_u8_u64(vdupq_n_u64(word));
    let (vectors, tail) = bytes.as_chunks_mut::<WIDTH>();
    let (groups, singles) = vectors.as_chunks_mut::<UNROLLED>();
    for [a, b, c, d, e, f, g, h] in groups {
        store(a, pattern);
        store(b, pattern);
        store(c, pattern);
        store(d, pattern);
        store(e, pattern);
        store(f, pattern);
        store(g, pattern);
        store(h, pattern);
    }
    for vector in singles {
        store(vector, pattern);
    }
    if !tail.is_empty() {
        portable::write(tail, word);
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn load(vector: &[u8; WIDTH]) -> uint8x16_t {
    // SAFETY: the reference covers the 16 bytes that are loaded, at any alignment.
    unsafe { vld1q_u8(vector.as_ptr()) }
}

#[target_feature(enable = "neon")]
#[inline]
fn store(vector: &mut [u8; WIDTH], value: uint8x16_t) {
    // SAFETY: the reference covers the 16 bytes that are stored, at any alignment.
    unsafe { vst1q_u8(vector.as_mut_ptr(), value) }
}
