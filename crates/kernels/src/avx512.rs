//! Loops over registers of 64 bytes (AVX-512 Foundation).

use crate::instruction_set::InstructionSet;
use crate::portable;
use std::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_xor_si512,
};
use std::mem;

/// Bytes per register.
const WIDTH: usize = 64;
/// Registers per iteration. The iteration is unrolled by hand, since the compiler does not always
/// unroll an inner loop.
const UNROLLED: usize = 8;

pub(crate) fn loops() -> Option<InstructionSet> {
    is_x86_feature_detected!("avx512f").then_some(InstructionSet {
        name: "AVX-512",
        // SAFETY: the processor has AVX-512 Foundation, as checked above.
        read: |bytes| unsafe { read(bytes) },
        // SAFETY: as for `read`.
        write: |bytes, word| unsafe { write(bytes, word) },
    })
}

#[target_feature(enable = "avx512f")]
#[inline(never)]
fn read(bytes: &[u8]) -> u64 {
    let (vectors, tail) = bytes.as_chunks::<WIDTH>();
    let (groups, singles) = vectors.as_chunks::<UNROLLED>();
    let mut sums = [_mm512_setzero_si512(); UNROLLED];
    for [a, b, c, d, e, f, g, h] in groups {
        sums[0] = _mm512_xor_si512(sums[0], load(a));
        sums[1] = _mm512_xor_si512(sums[1], load(b));
        sums[2] = _mm512_xor_si512(sums[2], load(c));
        sums[3] = _mm512_xor_si512(sums[3], load(d));
        sums[4] = _mm512_xor_si512(sums[4], load(e));
        sums[5] = _mm512_xor_si512(sums[5], load(f));
        sums[6] = _mm512_xor_si512(sums[6], load(g));
        sums[7] = _mm512_xor_si512(sums[7], load(h));
    }
    for vector in singles {
        sums[0] = _mm512_xor_si512(sums[0], load(vector));
    }
    let halves = [
        _mm512_xor_si512(
            _mm512_xor_si512(sums[0], sums[1]),
            _mm512_xor_si512(sums[2], sums[3]),
        ),
        _mm512_xor_si512(
            _mm512_xor_si512(sums[4], sums[5]),
            _mm512_xor_si512(sums[6], sums[7]),
        ),
    ];
    let sum = _mm512_xor_si512(halves[0], halves[1]);
    // SAFETY: both are 64 plain bytes.
    let words: [u64; 8] = unsafe { mem::transmute(sum) };
    let sum = words.into_iter().fold(0, |sum, word| sum ^ word);
    // The call takes as long as a short block.
    if tail.is_empty() {
        sum
    } else {
        sum ^ portable::read(tail)
    }
}

#[target_feature(enable = "avx512f")]
#[inline(never)]
fn write(bytes: &mut [u8], word: u64) {
    let pattern = _mm512_set1_epi64(word.cast_signed());
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

#[target_feature(enable = "avx512f")]
#[inline]
fn load(vector: &[u8; WIDTH]) -> __m512i {
    // SAFETY: the reference covers the 64 bytes that are loaded, at any alignment.
    unsafe { _mm512_loadu_si512(vector.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(vector: &mut [u8; WIDTH], value: __m512i) {
    // SAFETY: the reference covers the 64 bytes that are stored, at any alignment.
    unsafe { _mm512_storeu_si512(vector.as_mut_ptr().cast(), value) }
}
