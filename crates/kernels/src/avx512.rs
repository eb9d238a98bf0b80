//! Loops over registers of 64 bytes (AVX-512 Foundation).

use std::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_set1_epi64, _mm512_storeu_si512, _mm512_xor_si512,
};

passes! {
    "AVX-512", is_x86_feature_detected!("avx512f"), __m512i;
    load: _mm512_loadu_si512, store: _mm512_storeu_si512, xor: _mm512_xor_si512,
    splat: |word: u64| _mm512_set1_epi64(word.cast_signed())
}
