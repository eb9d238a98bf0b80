//! Operations on whole registers give the results of operations on single numbers, in every
//! instruction set.

use crate::disassembly::{functions, most_in_a_loop};
use oscope_kernels::Vectors;
use oscope_kernels::levels::{Level, Loops, OPERATIONS_IN_A_TURN};

/// The result of a loop whose elements all end as `bits`, of a type of `bytes` bytes.
fn mixed(bits: u64, bytes: u32, register_bytes: u64) -> u64 {
    let word = if bytes == 4 { bits << 32 | bits } else { bits };
    (0..10 * register_bytes / 8).fold(0, |sum: u64, _| sum.rotate_left(7) ^ word)
}

fn check(operation: &str, sort: &str, (x, y): (u64, u64)) {
    let name = format!("{operation}_{sort}");
    let bytes = if sort.ends_with("32") { 4 } else { 8 };
    let single = Loops::rust(Level::O1).operation(&name);
    let single = single.expect("processors with vectors have it");
    for turns in [0, 1, 3] {
        let bits = single.latency(turns, x, y);
        for vectors in Vectors::available(&name) {
            // Each turn has two operations on each register.
            let found = vectors.throughput(turns * OPERATIONS_IN_A_TURN / 2, x, y);
            let expected = mixed(bits, bytes, vectors.register_bytes);
            assert_eq!(found, expected, "{name} by {}, {turns} turns", vectors.set);
        }
    }
}

#[test]
fn integers_are_as_single_ones() {
    for operation in ["add", "subtract", "multiply"] {
        check(operation, "u32", (60_013, 0xffff_fff1));
        check(operation, "u64", (0x1_0000_000f, 0xffff_ffff_ffff_ffc5));
    }
}

#[test]
fn floats_are_as_single_ones() {
    for operation in ["add", "subtract", "multiply", "divide", "fused"] {
        check(
            operation,
            "f32",
            (1.7_f32.to_bits().into(), 1.01_f32.to_bits().into()),
        );
        check(operation, "f64", (1.7_f64.to_bits(), 1.01_f64.to_bits()));
    }
}

#[test]
fn roots_are_multiplied_after_each_turn() {
    let (mut single, mut double) = (1.7_f32, 1.7_f64);
    for turns in 0..4 {
        for vectors in Vectors::available("root_f32") {
            let found =
                vectors.throughput(turns, 1.7_f32.to_bits().into(), 1.7_f32.to_bits().into());
            let expected = mixed(single.to_bits().into(), 4, vectors.register_bytes);
            assert_eq!(found, expected, "{} of 32, {turns} turns", vectors.set);
        }
        for vectors in Vectors::available("root_f64") {
            let found = vectors.throughput(turns, 1.7_f64.to_bits(), 1.7_f64.to_bits());
            let expected = mixed(double.to_bits(), 8, vectors.register_bytes);
            assert_eq!(found, expected, "{} of 64, {turns} turns", vectors.set);
        }
        single = single.sqrt().sqrt() * 1.7;
        double = double.sqrt().sqrt() * 1.7;
    }
}

#[test]
fn what_no_set_has_is_missing() {
    for name in ["divide_u32", "divide_u64", "fused_u32", "add_u8", ""] {
        assert_eq!(Vectors::available(name).count(), 0, "{name}");
    }
}

/// No operation was folded into another: the loop has all instructions of an iteration.
#[test]
fn a_turn_has_all_its_instructions() {
    for vectors in Vectors::available("add_f32") {
        // Keeps the linker from removing the loop.
        vectors.throughput(1, 0, 0);
        let (module, addition, register) = match vectors.set {
            "AVX-512" => ("avx512", "vaddps", "%zmm"),
            "NEON" => ("neon", "fadd", ".4s"),
            _ => ("avx2", "vaddps", "%ymm"),
        };
        let name = format!("oscope_kernels::vectors::{module}::f32::add");
        let Some(found) = functions(&name) else {
            return;
        };
        let sums = most_in_a_loop(&found[0], |text| {
            text.starts_with(addition) && text.contains(register)
        });
        assert_eq!(sums, 20, "{name}");
    }
}
