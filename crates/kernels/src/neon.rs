//! Loops over registers of 16 bytes (NEON).

use std::arch::aarch64::{
    uint8x16_t, vdupq_n_u64, veorq_u8, vld1q_u8, vreinterpretq_u8_u64, vst1q_u8,
};
use std::arch::is_aarch64_feature_detected;

// The first byte in memory is the lowest byte of a register, as in a little-endian word.
passes! {
    "NEON", is_aarch64_feature_detected!("neon"), uint8x16_t;
    load: vld1q_u8, store: vst1q_u8, xor: veorq_u8,
    splat: |word: u64| vreinterpretq_u8_u64(vdupq_n_u64(word))
}
