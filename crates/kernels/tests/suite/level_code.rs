//! The levels match their names: the code differs from level to level, and no compiler folded the
//! operations at any level.

#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use crate::disassembly::{Instruction, functions, most_in_a_loop};
use oscope_kernels::levels::{Level, Loops, OPERATIONS_IN_A_TURN};
use std::collections::BTreeSet;

/// Operations, and parts of their mnemonics on x86-64 and on ARM.
const OPERATIONS: &[(&str, &str, &str)] = &[
    ("add_u32", "add", "add"),
    ("subtract_u64", "sub", "sub"),
    ("multiply_u64", "mul", "mul"),
    ("divide_u32", "div", "div"),
    ("divide_u64", "div", "div"),
    ("add_f32", "addss", "fadd"),
    ("multiply_f64", "mulsd", "fmul"),
    ("divide_f64", "divsd", "fdiv"),
];
/// Operations that are library calls without optimisation.
const OPTIMISED_OPERATIONS: &[(&str, &str, &str)] = &[
    ("fused_f64", "fmadd", "fmadd"),
    ("root_f32", "sqrtss", "fsqrt"),
];

const IS_ARM: bool = cfg!(target_arch = "aarch64");
/// The variant of the loops under test.
const VARIANT: &str = if IS_ARM { "plain" } else { "avx2" };

/// The functions of that name at each level in Rust. Makes the linker keep them, and prints the
/// reason if they cannot be inspected.
fn in_rust(path: &str) -> Option<Vec<Vec<Instruction>>> {
    let levels = Level::ALL.map(|level| (level, Loops::rust(level)));
    if let Some(flags) = levels.iter().find_map(|(_, loops)| loops.overruled_by) {
        println!("skipped: the levels are overruled by {flags}");
        return None;
    }
    let functions = levels.map(|(level, loops)| {
        loops.operation("add_u64");
        let name = format!("oscope_kernels_level{}::{path}", level.digit());
        functions(&name).map(|mut found| found.remove(0))
    });
    functions.into_iter().collect()
}

/// The functions of that name in C, in no particular order.
fn in_c(name: &str) -> Option<Vec<Vec<Instruction>>> {
    let levels = Level::ALL.map(Loops::c);
    if let Some(flags) = levels.iter().find_map(|loops| loops.overruled_by) {
        println!("skipped: the levels are overruled by {flags}");
        return None;
    }
    functions(name)
}

/// The instructions without their addresses.
fn code(function: &[Instruction]) -> Vec<String> {
    let without_addresses = |instruction: &Instruction| {
        let text = instruction.text.split(['#', '<']).next().unwrap_or("");
        let is_hex = |word: &str| word.len() >= 4 && u64::from_str_radix(word, 16).is_ok();
        let words = text.split_whitespace().filter(|word| !is_hex(word));
        words.collect::<Vec<_>>().join(" ")
    };
    function.iter().map(without_addresses).collect()
}

fn instructions_of<'o>(x86: &'o str, arm: &'o str) -> impl Fn(&str) -> bool + 'o {
    let wanted = if IS_ARM { arm } else { x86 };
    move |text| {
        let mnemonic = text.split_whitespace().next();
        mnemonic.is_some_and(|mnemonic| mnemonic.contains(wanted))
    }
}

#[test]
fn no_operation_is_folded_away() {
    let check = |who: &str, function: &[Instruction], x86: &str, arm: &str| {
        let found = most_in_a_loop(function, instructions_of(x86, arm));
        assert!(
            found as u64 >= OPERATIONS_IN_A_TURN,
            "{who}: only {found} of its operations in a turn"
        );
    };
    for kind in ["latency", "throughput"] {
        for (levels, operations) in [(0.., OPERATIONS), (1.., OPTIMISED_OPERATIONS)] {
            for (operation, x86, arm) in operations {
                let path = format!("arithmetic::{operation}::{VARIANT}::{kind}");
                for (level, function) in in_rust(&path).into_iter().flatten().enumerate() {
                    if levels.contains(&level) {
                        check(
                            &format!("Rust {level}, {operation} {kind}"),
                            &function,
                            x86,
                            arm,
                        );
                    }
                }
                let name = format!("{operation}_{kind}_{VARIANT}");
                for function in in_c(&name).into_iter().flatten() {
                    check(&format!("C, {operation} {kind}"), &function, x86, arm);
                }
            }
        }
    }
}

#[test]
fn what_is_repeated_is_called_through_a_pointer_once_a_turn() {
    for level in Level::ALL {
        assert!(level.repeat(1, &mut || true));
    }
    let Some(functions) = in_rust("repeat::repeat") else {
        return;
    };
    for (level, function) in functions.iter().enumerate() {
        let calls = most_in_a_loop(function, |text| {
            text.starts_with("blr") || (text.starts_with("call") && text.contains('*'))
        });
        assert_eq!(calls, 1, "level {level}");
    }
    assert_ne!(code(&functions[0]), code(&functions[3]));
}

#[test]
fn a_pass_stores_in_its_loop() {
    let stores = |text: &str| text.starts_with("st") || text.ends_with(')');
    for (level, function) in in_rust("pass::write").into_iter().flatten().enumerate() {
        assert!(most_in_a_loop(&function, stores) > 0, "Rust {level}");
    }
    for function in in_c("write_words").into_iter().flatten() {
        assert!(most_in_a_loop(&function, stores) > 0, "C");
    }
}

/// What a turn of a listed loop executes, at each level.
#[test]
fn listed_passes_take_one_int_at_a_time() {
    let of_memory = |text: &str| {
        if IS_ARM {
            text.starts_with("ld") || text.starts_with("st")
        } else {
            text.contains('(') && !text.starts_with("lea")
        }
    };
    let is_vector = |text: &str| {
        let registers = if IS_ARM {
            [" q", " v"]
        } else {
            ["%xmm", "%ymm"]
        };
        registers.iter().any(|register| text.contains(register))
    };
    for name in ["write_ints", "read_ints", "listed_row"] {
        for function in in_c(name).into_iter().flatten() {
            assert!(most_in_a_loop(&function, of_memory) > 0, "{name}");
            assert_eq!(most_in_a_loop(&function, is_vector), 0, "{name}");
        }
    }
}

#[test]
fn levels_differ() {
    for path in [
        "arithmetic::add_f64::plain::array",
        "call_styles::inline",
        "pass::write",
    ] {
        let Some(functions) = in_rust(path) else {
            return;
        };
        let lowest: BTreeSet<_> = functions[..3]
            .iter()
            .map(|function| code(function))
            .collect();
        assert_eq!(
            lowest.len(),
            3,
            "{path}: two of the levels 0, 1 and 2 are the same code"
        );
    }
    for name in [
        "add_f64_array_plain",
        "in_line",
        "write_words",
        "listed_in_line",
    ] {
        let Some(functions) = in_c(name) else {
            return;
        };
        let different: BTreeSet<_> = functions.iter().map(|function| code(function)).collect();
        assert!(different.len() >= 3, "{name}: levels are the same code");
    }
}

#[test]
fn only_optimised_code_uses_vectors_for_arrays() {
    let path = format!("arithmetic::add_f64::{VARIANT}::array");
    let is_vector = |text: &str| {
        if IS_ARM {
            text.starts_with("fadd") && text.contains(".2d")
        } else {
            text.starts_with("vaddpd")
        }
    };
    for (level, function) in in_rust(&path).into_iter().flatten().enumerate() {
        let vectors = most_in_a_loop(&function, is_vector);
        assert_eq!(
            vectors > 0,
            level >= 2,
            "level {level}: {vectors} vector operations in a turn"
        );
    }
}

#[test]
fn a_recursion_stays_one() {
    let calls_itself = |function: &[Instruction], name: &str| {
        function.iter().any(|instruction| {
            let text = &instruction.text;
            (text.starts_with("call") || text.starts_with("bl")) && text.contains(name)
        })
    };
    for function in in_rust("call_styles::descend").into_iter().flatten() {
        assert!(calls_itself(&function, "descend"), "Rust made a loop of it");
    }
    for name in ["by_recursion", "listed_recursion"] {
        for function in in_c(name).into_iter().flatten() {
            assert!(calls_itself(&function, name), "C made a loop of it");
        }
    }
}

#[test]
fn a_function_stays_one() {
    let calls = |function: &[Instruction], name: &str| {
        most_in_a_loop(function, |text| text.contains(name)) > 0
    };
    for function in in_rust("call_styles::by_function").into_iter().flatten() {
        assert!(calls(&function, "one_row"), "Rust put it into its caller");
    }
    for (caller, row) in [
        ("by_function", "<row>"),
        ("listed_by_function", "<listed_row>"),
    ] {
        for function in in_c(caller).into_iter().flatten() {
            assert!(calls(&function, row), "C put it into its caller");
        }
    }
}
