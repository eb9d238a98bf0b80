//! Arithmetic in registers of 64 bytes (AVX-512 Foundation, and DQ for 64-bit multiplication).

use super::Set;

pub(super) fn set() -> Option<Set> {
    let has_it = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    has_it.then_some(Set {
        name: "AVX-512",
        register_bytes: 64,
        operations: [u32::ALL, u64::ALL, f32::ALL, f64::ALL],
    })
}

mod u32 {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_mullo_epi32, _mm512_set1_epi32, _mm512_sub_epi32,
    };

    chains! {
        "u32", "avx512f,avx512dq", __m512i, zmm_reg "/* {0} */", |word: u64| _mm512_set1_epi32(word as i32);
        add: |x, y| _mm512_add_epi32(x, y);
        subtract: |x, y| _mm512_sub_epi32(x, y);
        multiply: |x, y| _mm512_mullo_epi32(x, y);
    }
}

mod u64 {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi64, _mm512_mullo_epi64, _mm512_set1_epi64, _mm512_sub_epi64,
    };

    chains! {
        "u64", "avx512f,avx512dq", __m512i, zmm_reg "/* {0} */", |word: u64| _mm512_set1_epi64(word.cast_signed());
        add: |x, y| _mm512_add_epi64(x, y);
        subtract: |x, y| _mm512_sub_epi64(x, y);
        multiply: |x, y| _mm512_mullo_epi64(x, y);
    }
}

mod f32 {
    use std::arch::x86_64::{
        __m512, _mm512_add_ps, _mm512_div_ps, _mm512_fmadd_ps, _mm512_mul_ps, _mm512_set1_ps,
        _mm512_sqrt_ps, _mm512_sub_ps,
    };

    chains! {
        "f32", "avx512f,avx512dq", __m512, zmm_reg "/* {0} */", |word: u64| _mm512_set1_ps(f32::from_bits(word as u32));
        add: |x, y| _mm512_add_ps(x, y);
        subtract: |x, y| _mm512_sub_ps(x, y);
        multiply: |x, y| _mm512_mul_ps(x, y);
        divide: |x, y| _mm512_div_ps(y, x);
        fused: |x, y| _mm512_fmadd_ps(x, y, y);
        root: |x, y| _mm512_sqrt_ps(x), then _mm512_mul_ps(x, y);
    }
}

mod f64 {
    use std::arch::x86_64::{
        __m512d, _mm512_add_pd, _mm512_div_pd, _mm512_fmadd_pd, _mm512_mul_pd, _mm512_set1_pd,
        _mm512_sqrt_pd, _mm512_sub_pd,
    };

    chains! {
        "f64", "avx512f,avx512dq", __m512d, zmm_reg "/* {0} */", |word: u64| _mm512_set1_pd(f64::from_bits(word));
        add: |x, y| _mm512_add_pd(x, y);
        subtract: |x, y| _mm512_sub_pd(x, y);
        multiply: |x, y| _mm512_mul_pd(x, y);
        divide: |x, y| _mm512_div_pd(y, x);
        fused: |x, y| _mm512_fmadd_pd(x, y, y);
        root: |x, y| _mm512_sqrt_pd(x), then _mm512_mul_pd(x, y);
    }
}
