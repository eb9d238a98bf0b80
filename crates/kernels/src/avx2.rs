//! Loops over registers of 32 bytes (AVX2).

use std::arch::x86_64::{
    __m256i, _mm256_loadu_si256, _mm256_set1_epi64x, _mm256_storeu_si256, _mm256_xor_si256,
};

passes! {
    "AVX2", is_x86_feature_detected!("avx2"), __m256i;
    load: _mm256_loadu_si256, store: _mm256_storeu_si256, xor: _mm256_xor_si256,
    splat: |word: u64| _mm256_set1_epi64x(word.cast_signed())
}
