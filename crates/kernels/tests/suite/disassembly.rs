//! The functions of the running test, disassembled by objdump.

use std::env;
use std::sync::LazyLock;
use testing::Command;

/// One instruction of a disassembly.
pub struct Instruction {
    address: u64,
    /// Mnemonic and operands.
    pub text: String,
}

impl Instruction {
    /// The target address, if it is a jump.
    fn jumps_to(&self) -> Option<u64> {
        let mut words = self.text.split_whitespace();
        let mnemonic = words.next()?;
        let is_jump = mnemonic.starts_with('j')
            || mnemonic.starts_with("b.")
            || matches!(mnemonic, "b" | "cbz" | "cbnz" | "tbz" | "tbnz");
        let target = words.find_map(|word| u64::from_str_radix(word.trim_matches(','), 16).ok());
        target.filter(|_| is_jump)
    }
}

/// This program, disassembled by objdump, or by the program in `OBJDUMP`, which another
/// architecture needs; `None` without a disassembler.
static LISTING: LazyLock<Option<String>> = LazyLock::new(|| {
    let program = env::current_exe().expect("a running program has a path");
    let objdump = env::var_os("OBJDUMP").unwrap_or_else(|| "objdump".into());
    let output = Command::new(objdump)
        .args(["--disassemble", "--no-show-raw-insn", "--demangle"])
        .arg(program)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
});

/// The functions called `name`; C may have several. Prints a note and returns `None` without a
/// disassembler.
pub fn functions(name: &str) -> Option<Vec<Vec<Instruction>>> {
    let Some(listing) = &*LISTING else {
        println!("skipped: there is no objdump here that knows this program");
        return None;
    };
    let header = format!("<{name}>:");
    let functions = listing
        .split("\n\n")
        .filter(|block| block.contains(&header));
    let functions: Vec<_> = functions.map(instructions).collect();
    assert!(!functions.is_empty(), "this program has no {header}");
    Some(functions)
}

fn instructions(block: &str) -> Vec<Instruction> {
    let instructions = block.lines().filter_map(|line| {
        let (address, text) = line.trim().split_once(":\t")?;
        let address = u64::from_str_radix(address, 16).ok()?;
        Some(Instruction {
            address,
            text: text.to_owned(),
        })
    });
    instructions.collect()
}

/// The number of instructions that satisfy `is_wanted`, in the loop that has the most of them.
pub fn most_in_a_loop(function: &[Instruction], is_wanted: impl Fn(&str) -> bool) -> usize {
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
