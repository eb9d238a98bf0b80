//! The compiler left the loops as they were written: each turn loads or stores several of the
//! widest registers.

mod disassembly;

use disassembly::{functions, most_in_a_loop};

/// Whether an instruction moves a register called `prefix` and a number from or to memory, whose
/// address stands in parentheses on x86-64 and in brackets on ARM.
fn accesses_memory(text: &str, prefix: &str) -> bool {
    let is_register = |operand: &str| {
        operand
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.contains(['(', '[']) && text.split([' ', '\t', ',', '{', '}']).any(is_register)
}

fn check(function: &str, register: &str, least: usize) {
    let Some(found) = functions(&format!("oscope_kernels::{function}")) else {
        return;
    };
    let accesses = most_in_a_loop(&found[0], |text| accesses_memory(text, register));
    assert!(
        accesses >= least,
        "{function}: {accesses} accesses by {register} in its longest loop"
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_avx512_loops_move_eight_registers_a_turn() {
    keep();
    check("avx512::read", "%zmm", 8);
    check("avx512::write", "%zmm", 8);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_avx2_loops_move_eight_registers_a_turn() {
    keep();
    check("avx2::read", "%ymm", 8);
    check("avx2::write", "%ymm", 8);
}

#[cfg(target_arch = "aarch64")]
#[test]
fn the_neon_loops_move_eight_registers_a_turn() {
    keep();
    // A pair of registers may be moved by one instruction.
    check("neon::read", "q", 4);
    check("neon::write", "q", 4);
}

/// Makes the linker keep the loops in this program.
fn keep() {
    assert_eq!(oscope_kernels::read(&[1]), 1);
    oscope_kernels::write(&mut [], 0);
}
