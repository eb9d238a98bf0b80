//! Loops over registers of 32 bytes (AVX2).

use crate::instruction_set::InstructionSet;
use crate::portable;
use std::arch::x86_64::{
    __m256i, _mm256_loadu_si256, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_storeu_si256,
    _mm256_xor_si256,
};
use std::mem;

/// Bytes per register.
const WIDTH: usize = 32;
/// Registers per iteration. The iteration is unrolled by hand, since the compiler does not always
/// unroll an inner loop.
const UNROLLED: usize = 8;

pub(crate) fn loops() -> Option<InstructionSet> {
    is_x86_feature_detected!("avx2").then_some(InstructionSet {
        name: "AVX2",
        // SAFETY: the processor has AVX2, as checked above.
        read: |bytes| unsafe { read(bytes) },
        // SAFETY: as for `read`.
        write: |bytes, word| unsafe { write(bytes, word) },
    })
}

#[target_feature(enable = "avx2")]
#[inline(never)]
fn read(bytes: &[u8]) -> u64 {
    let (vectors, tail) = bytes.as_chunks::<WIDTH>();
    let (groups, singles) = vectors.as_chunks::<UNROLLED>();
    let mut sums = [_mm256_setzero_si256(); UNROLLED];
    for [a, b, c, d, e, f, g, h] in groups {
        sums[0] = _mm256_xor_si256(sums[0], load(a));
        sums[1] = _mm256_xor_si256(sums[1], load(b));
        sums[2] = _mm256_xor_si256(sums[2], load(c));
        sums[3] = _mm256_xor_si256(sums[3], load(d));
        sums[4] = _mm256_xor_si256(sums[4], load(e));
        sums[5] = _mm256_xor_si256(sums[5], load(f));
        sums[6] = _mm256_xor_si256(sums[6], load(g));
        sums[7] = _mm256_xor_si256(sums[7], load(h));
    }
    for vector in singles {
        sums[0] = _mm256_xor_si256(sums[0], load(vector));
    }
    let halves = [
        _mm256_xor_si256(
            _mm256_xor_si256(sums[0], sums[1]),
            _mm256_xor_si256(sums[2], sums[3]),
        ),
        _mm256_xor_si256(
            _mm256_xor_si256(sums[4], sums[5]),
            _mm256_xor_si256(sums[6], sums[7]),
        ),
    ];
    let sum = _mm256_xor_si256(halves[0], halves[1]);
    // SAFETY: both are 32 plain bytes.
    let words: [u64; 4] = unsafe { mem::transmute(sum) };
    let sum = words.into_iter().fold(0, |sum, word| sum ^ word);
    // The call takes as long as a short block.
    if tail.is_empty() {
        sum
    } else {
        sum ^ portable::read(tail)
    }
}

#[target_feature(enable = "avx2")]
#[inline(never)]
fn write(bytes: &mut [u8], word: u64) {
    let pattern = _mm256_set1_epi64x(word.cast_signed());
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

#[target_feature(enable = "avx2")]
#[inline]
fn load(vector: &[u8; WIDTH]) -> __m256i {
    // SAFETY: the reference covers the 32 bytes that are loaded, at any alignment.
    unsafe { _mm256_loadu_si256(vector.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(vector: &mut [u8; WIDTH], value: __m256i) {
    // SAFETY: the reference covers the 32 bytes that are stored, at any alignment.
    unsafe { _mm256_storeu_si256(vector.as_mut_ptr().cast(), value) }
}
