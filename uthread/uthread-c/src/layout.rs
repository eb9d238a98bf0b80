//! A C compiler's view of the header's types, against that of this crate.

use core::fmt::Write as _;
use core::mem::offset_of;
use std::process::Command;

use crate::runtime::{Configuration, Statistics};
use crate::select::Choice;
use crate::synchronization::Once;
use crate::thread::Attributes;

macro_rules! layout {
    ($($rust:ident as $c:literal { $($field:ident),* })*) => {
        vec![
            $((format!("sizeof({})", $c), size_of::<$rust>()),
            $((format!("offsetof({}, {})", $c, stringify!($field)), offset_of!($rust, $field)),)*)*
        ]
    };
}

#[test]
fn the_types_of_the_header_have_the_same_layout() {
    let layout = layout! {
        Configuration as "uthread_config_t" {
            slice_us, workers, stack_size, main_stack_size, keep_priority, io,
            cpu_time_slices
        }
        Statistics as "uthread_statistics_t" { ticks_taken, ticks_deferred, preemptions }
        Attributes as "uthread_attr_t" { name, stack_size, priority }
        Choice as "uthread_choice_t" { receive, send, fd, events }
        Once as "uthread_once_t" { done }
    };
    let mut program = String::from("#include <stddef.h>\n#include \"uthread.h\"\n");
    for (expression, bytes) in layout {
        let _ = writeln!(
            program,
            "_Static_assert({expression} == {bytes}, \"{expression}\");"
        );
    }
    let folder = tempfile::tempdir().expect("there is room for a file");
    let source = folder.path().join("layout.c");
    std::fs::write(&source, program).expect("there is room for a file");
    let compiled = Command::new("cc")
        .args([
            "-std=c11",
            "-fsyntax-only",
            "-I",
            concat!(env!("CARGO_MANIFEST_DIR"), "/include"),
        ])
        .arg(&source)
        .output();
    match compiled {
        Ok(output) => assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => eprintln!("skipped: no C compiler ({error})"),
    }
}
