//! The compiler left the loops as they were written: each turn loads or stores several of the
//! widest registers.

use std::env;
use std::process::Command;

/// One instruction of a disassembly.
struct Instruction {
    address: u64,
    text: String,
}

impl Instruction {
    /// The address it jumps to, if it is a jump.
    fn jumps_to(&self) -> Option<u64> {
        let mut words = self.text.split_whitespace();
        let mnemonic = words.next()?;
        let is_jump = mnemonic.starts_with('j') || mnemonic.starts_with("b.") || mnemonic == "b";
        let target = words.find_map(|word| u64::from_str_radix(word.trim_matches(','), 16).ok());
        target.filter(|_| is_jump)
    }
}

/// The function `name` of this very program, disassembled; `None` without a disassembler.
fn disassemble(name: &str) -> Option<Vec<Instruction>> {
    let program = env::current_exe().expect("a running program has a path");
    let output = Command::new("objdump")
        .args(["--disassemble", "--no-show-raw-insn", "--demangle"])
        .arg(program)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let listing = String::from_utf8_lossy(&output.stdout);
    let header = format!("<oscope_kernels::{name}>:");
    let function = listing.split("\n\n").find(|block| block.contains(&header));
    let function = function.unwrap_or_else(|| panic!("this program has no {header}"));
    let instructions = function.lines().filter_map(|line| {
        let (address, text) = line.trim().split_once(":\t")?;
        let address = u64::from_str_radix(address, 16).ok()?;
        Some(Instruction {
            address,
            text: text.to_owned(),
        })
    });
    Some(instructions.collect())
}

/// How many instructions of a loop satisfy `is_wanted`, for the loop that has most of them.
fn most_in_a_loop(function: &[Instruction], is_wanted: impl Fn(&str) -> bool) -> usize {
    let wanted_in = |first: u64, last: u64| {
        let body = function
            .iter()
            .filter(|i| (first..=last).contains(&i.address));
        body.filter(|instruction| is_wanted(&instruction.text))
            .count()
    };
    let loops = function.iter().filter_map(|instruction| {
        let target = instruction.jumps_to()?;
        (target < instruction.address).then(|| wanted_in(target, instruction.address))
    });
    loops.max().unwrap_or(0)
}

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
    let Some(instructions) = disassemble(function) else {
        println!("skipped: there is no objdump here that knows this program");
        return;
    };
    let accesses = most_in_a_loop(&instructions, |text| accesses_memory(text, register));
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
