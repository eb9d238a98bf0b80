//! Arithmetic in registers of 16 bytes (NEON); it has no 64-bit multiplication.

use super::Set;
use std::arch::is_aarch64_feature_detected;

pub(super) fn set() -> Option<Set> {
    is_aarch64_feature_detected!("neon").then_some(Set {
        name: "NEON",
        register_bytes: 16,
        operations: [u32::ALL, u64::ALL, f32::ALL, f64::ALL],
    })
}

mod u32 {
    use std::arch::aarch64::{uint32x4_t, vaddq_u32, vdupq_n_u32, vmulq_u32, vsubq_u32};

    chains! {
        "u32", "neon", uint32x4_t, vreg "/* {0:v} */", |word: u64| vdupq_n_u32(word as u32);
        add: |x, y| vaddq_u32(x, y);
        subtract: |x, y| vsubq_u32(x, y);
        multiply: |x, y| vmulq_u32(x, y);
    }
}

mod u64 {
    use std::arch::aarch64::{uint64x2_t, vaddq_u64, vdupq_n_u64, vsubq_u64};

    chains! {
        "u64", "neon", uint64x2_t, vreg "/* {0:v} */", |word: u64| vdupq_n_u64(word);
        add: |x, y| vaddq_u64(x, y);
        subtract: |x, y| vsubq_u64(x, y);
    }
}

mod f32 {
    use std::arch::aarch64::{
        float32x4_t, vaddq_f32, vdivq_f32, vdupq_n_f32, vfmaq_f32, vmulq_f32, vsqrtq_f32, vsubq_f32,
    };

    chains! {
        "f32", "neon", float32x4_t, vreg "/* {0:v} */", |word: u64| vdupq_n_f32(f32::from_bits(word as u32));
        add: |x, y| vaddq_f32(x, y);
        subtract: |x, y| vsubq_f32(x, y);
        multiply: |x, y| vmulq_f32(x, y);
        divide: |x, y| vdivq_f32(y, x);
        fused: |x, y| vfmaq_f32(y, x, y);
        root: |x, y| vsqrtq_f32(x), then vmulq_f32(x, y);
    }
}

mod f64 {
    use std::arch::aarch64::{
        float64x2_t, vaddq_f64, vdivq_f64, vdupq_n_f64, vfmaq_f64, vmulq_f64, vsqrtq_f64, vsubq_f64,
    };

    chains! {
        "f64", "neon", float64x2_t, vreg "/* {0:v} */", |word: u64| vdupq_n_f64(f64::from_bits(word));
        add: |x, y| vaddq_f64(x, y);
        subtract: |x, y| vsubq_f64(x, y);
        multiply: |x, y| vmulq_f64(x, y);
        divide: |x, y| vdivq_f64(y, x);
        fused: |x, y| vfmaq_f64(y, x, y);
        root: |x, y| vsqrtq_f64(x), then vmulq_f64(x, y);
    }
}
