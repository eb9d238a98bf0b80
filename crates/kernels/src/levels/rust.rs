//! The loops from rustc: one crate for each level.

use super::{Level, Loops, Operation};
use std::sync::atomic::Ordering;

/// The loops of one of the crates.
macro_rules! loops_of {
    ($level:ident, $digit:literal) => {
        Loops {
            operation: |name| {
                Operation::choose(
                    name,
                    |name| find($level::PLAIN, name),
                    |name| find($level::AVX2, name),
                )
            },
            inline: $level::inline,
            by_function: $level::by_function,
            by_recursion: $level::by_recursion,
            row: $level::row,
            deepest: || $level::DEEPEST.load(Ordering::Relaxed),
            write: $level::write,
            compiler: "rustc",
            overruled_by: match $level::LEVEL {
                $digit if !$level::IS_OVERRULED => None,
                $digit => Some($level::FLAGS),
                _ => Some(concat!("another profile: opt-level is not ", $digit)),
            },
        }
    };
}

pub(super) fn loops(level: Level) -> Loops {
    match level {
        Level::O0 => loops_of!(kernels_level0, "0"),
        Level::O1 => loops_of!(kernels_level1, "1"),
        Level::O2 => loops_of!(kernels_level2, "2"),
        Level::O3 => loops_of!(kernels_level3, "3"),
    }
}

pub(super) fn repeat(level: Level) -> fn(u64, &mut dyn FnMut() -> bool) -> bool {
    match level {
        Level::O0 => kernels_level0::repeat,
        Level::O1 => kernels_level1::repeat,
        Level::O2 => kernels_level2::repeat,
        Level::O3 => kernels_level3::repeat,
    }
}

fn find(table: &[(&str, kernels_level3::Loops)], name: &str) -> Option<kernels_level3::Loops> {
    let entry = table.iter().find(|(entry, _)| *entry == name);
    entry.map(|(_, loops)| *loops)
}
