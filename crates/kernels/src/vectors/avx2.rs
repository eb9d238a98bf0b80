//! Arithmetic in registers of 32 bytes (AVX2, and FMA); it has no 64-bit multiplication.

use super::Set;

pub(super) fn set() -> Option<Set> {
    let has_it = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    has_it.then_some(Set {
        name: "AVX2",
        register_bytes: 32,
        operations: [u32::ALL, u64::ALL, f32::ALL, f64::ALL],
    })
}

mod u32 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_mullo_epi32, _mm256_set1_epi32, _mm256_sub_epi32,
    };

    chains! {
        "u32", "avx2,fma", __m256i, ymm_reg "/* {0} */", |word: u64| _mm256_set1_epi32(word as i32);
        add: |x, y| _mm256_add_epi32(x, y);
        subtract: |x, y| _mm256_sub_epi32(x, y);
        multiply: |x, y| _mm256_mullo_epi32(x, y);
    }
}

mod u64 {
    use std::arch::x86_64::{__m256i, _mm256_add_epi64, _mm256_set1_epi64x, _mm256_sub_epi64};

    chains! {
        "u64", "avx2,fma", __m256i, ymm_reg "/* {0} */", |word: u64| _mm256_set1_epi64x(word.cast_signed());
        add: |x, y| _mm256_add_epi64(x, y);
        subtract: |x, y| _mm256_sub_epi64(x, y);
    }
}

mod f32 {
    use std::arch::x86_64::{
        __m256, _mm256_add_ps, _mm256_div_ps, _mm256_fmadd_ps, _mm256_mul_ps, _mm256_set1_ps,
        _mm256_sqrt_ps, _mm256_sub_ps,
    };

    chains! {
        "f32", "avx2,fma", __m256, ymm_reg "/* {0} */", |word: u64| _mm256_set1_ps(f32::from_bits(word as u32));
        add: |x, y| _mm256_add_ps(x, y);
        subtract: |x, y| _mm256_sub_ps(x, y);
        multiply: |x, y| _mm256_mul_ps(x, y);
        divide: |x, y| _mm256_div_ps(y, x);
        fused: |x, y| _mm256_fmadd_ps(x, y, y);
        root: |x, y| _mm256_sqrt_ps(x), then _mm256_mul_ps(x, y);
    }
}

mod f64 {
    use std::arch::x86_64::{
        __m256d, _mm256_add_pd, _mm256_div_pd, _mm256_fmadd_pd, _mm256_mul_pd, _mm256_set1_pd,
        _mm256_sqrt_pd, _mm256_sub_pd,
    };

    chains! {
        "f64", "avx2,fma", __m256d, ymm_reg "/* {0} */", |word: u64| _mm256_set1_pd(f64::from_bits(word));
        add: |x, y| _mm256_add_pd(x, y);
        subtract: |x, y| _mm256_sub_pd(x, y);
        multiply: |x, y| _mm256_mul_pd(x, y);
        divide: |x, y| _mm256_div_pd(y, x);
        fused: |x, y| _mm256_fmadd_pd(x, y, y);
        root: |x, y| _mm256_sqrt_pd(x), then _mm256_mul_pd(x, y);
    }
}
