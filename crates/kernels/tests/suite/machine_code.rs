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

/// Checks that a loop of the function has at least `least` wanted instructions.
fn check(function: &str, what: &str, least: usize, is_wanted: impl Fn(&str) -> bool) {
    let Some(found) = functions(&format!("oscope_kernels::{function}")) else {
        return;
    };
    let count = most_in_a_loop(&found[0], is_wanted);
    assert!(
        count >= least,
        "{function}: {count} times {what} in its longest loop"
    );
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn each_turn_moves_eight_registers() {
    // Makes the linker keep the loops in this program.
    assert_eq!(oscope_kernels::read(&[1]), 1);
    oscope_kernels::write(&mut [], 0);
    // One instruction of ARM may move a pair of registers.
    #[cfg(target_arch = "aarch64")]
    let loops = [("neon::read", "q", 4), ("neon::write", "q", 4)];
    #[cfg(target_arch = "x86_64")]
    let loops = [
        ("avx512::read", "%zmm", 8),
        ("avx512::write", "%zmm", 8),
        ("avx2::read", "%ymm", 8),
        ("avx2::write", "%ymm", 8),
    ];
    for (function, register, least) in loops {
        let is_move = |text: &str| accesses_memory(text, register);
        check(function, register, least, is_move);
    }
}

/// Each load takes its address from the previous one, and none is left out.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn a_chain_is_followed_eight_steps_a_turn() {
    let mut memory = [0_u8; 32];
    let first = memory.as_ptr().align_offset(8);
    Chain::link(&mut memory, [first, first + 8]).follow(1);
    check("chain::Chain::follow", "a load", 8, |text| {
        let is_load = text.starts_with("mov ") || text.starts_with("ldr");
        is_load && text.contains(['(', '['])
    });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn copies_past_the_caches_store_past_the_caches() {
    for (_, copy) in oscope_kernels::COPY_METHODS {
        copy(&mut [0; 64], &[1; 64]);
    }
    let is_past = |text: &str| text.contains("movnt");
    check("copy::x86_64::wide", "such a store", 1, is_past);
    check("copy::x86_64::narrow", "such a store", 4, is_past);
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn changing_bytes_loads_and_stores_them() {
    oscope_kernels::change(&mut [1]);
    check("change::change", "a load or store", 2, |text| {
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
