//! The compiler kept the loops as written: each iteration loads or stores several of the widest
//! registers, follows a chain for eight steps, or uses the instruction after which its copy method
//! is named.

use crate::disassembly::{functions, most_in_a_loop};
use oscope_kernels::Chain;

/// True if an instruction moves a register `prefix` + number from or to memory. The address is in
/// parentheses on x86-64 and in brackets on ARM.
fn accesses_memory(text: &str, prefix: &str) -> bool {
    let is_register = |operand: &str| {
        operand
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.contains(['(', '[']) && text.split([' ', '\t', ',', '{', '}']).any(is_register)
}

fn check(function: &str, register: &str, least: usize) {
    check_all(function, register, least, |text| {
        accesses_memory(text, register)
    });
}

/// Checks that a loop of the function has at least `least` wanted instructions.
fn check_all(function: &str, what: &str, least: usize, is_wanted: impl Fn(&str) -> bool) {
    let Some(found) = functions(&format!("oscope_kernels::{function}")) else {
        return;
    };
    let count = most_in_a_loop(&found[0], is_wanted);
    assert!(
        count >= least,
        "{function}: {count} times {what} in its longest loop"
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
    // One instruction may move a pair of registers.
    check("neon::read", "q", 4);
    check("neon::write", "q", 4);
}

/// Each load takes its address from the previous one, and none is left out.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn a_chain_is_followed_eight_steps_a_turn() {
    let mut memory = [0_u8; 32];
    let first = memory.as_ptr().align_offset(8);
    Chain::link(&mut memory, [first, first + 8]).follow(1);
    check_all("chain::Chain::follow", "a load", 8, |text| {
        let is_load = text.starts_with("mov ") || text.starts_with("ldr");
        is_load && text.contains(['(', '['])
    });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn copies_past_the_caches_store_past_the_caches() {
    for method in oscope_kernels::CopyMethod::available() {
        method.copy(&mut [0; 64], &[1; 64]);
    }
    let is_past = |text: &str| text.contains("movnt");
    check_all("copy::x86_64::wide", "such a store", 1, is_past);
    check_all("copy::x86_64::narrow", "such a store", 4, is_past);
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn changing_bytes_loads_and_stores_them() {
    oscope_kernels::change(&mut [1]);
    check_all("change::change", "a load or store", 2, |text| {
        text.contains(['(', '[']) && !text.contains("nop")
    });
}

/// Each instruction of the chain has the register that it changes as an operand, and all are the same.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn each_multiplication_of_the_reference_waits_for_the_one_before() {
    oscope_kernels::MULTIPLY_CHAIN.expect("it is written for this processor")();
    let Some(found) = functions("oscope_kernels::reference::multiply_chain") else {
        return;
    };
    let is_multiplication = |text: &str| text.starts_with("imul") || text.starts_with("mul");
    let mut texts = found[0].iter().map(|instruction| instruction.text.as_str());
    let first = texts.find(|text| is_multiplication(text)).expect("one");
    let (_, operands) = first.split_once(char::is_whitespace).expect("operands");
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    // The changed register is the first of three on ARM, and the second of two on x86-64.
    let waits = match operands[..] {
        [changed, one, _] => changed == one,
        [factor, changed] => factor != changed,
        _ => false,
    };
    assert!(waits, "{first}");
    assert_eq!(most_in_a_loop(&found[0], is_multiplication), 16);
    assert_eq!(most_in_a_loop(&found[0], |text| text == first), 16);
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn the_other_reference_adds_to_eight_registers_in_turn() {
    oscope_kernels::add_width();
    let Some(found) = functions("oscope_kernels::reference::add_width") else {
        return;
    };
    let is_addition = |text: &str| text.starts_with("add ") || text.starts_with("add\t");
    assert_eq!(most_in_a_loop(&found[0], is_addition), 48);
    let texts = found[0].iter().map(|instruction| instruction.text.as_str());
    let mut different: Vec<&str> = texts.filter(|text| is_addition(text)).collect();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() >= 8, "{different:?}");
}

/// Makes the linker keep the loops in this program.
fn keep() {
    assert_eq!(oscope_kernels::read(&[1]), 1);
    oscope_kernels::write(&mut [], 0);
}
