//! Printing from preemptible threads.

use std::fmt;
use std::io::Write;

use crate::no_preempt;

/// Like `std::println!`. Formats the line first, then writes it with preemption disabled, because
/// the standard library holds a lock while it writes.
///
/// ```
/// uthread::run(|| uthread::println!("{} and {}", 1, 2));
/// ```
#[macro_export]
macro_rules! println {
    () => { $crate::print_line(::core::format_args!("")) };
    ($($arguments:tt)*) => { $crate::print_line(::core::format_args!($($arguments)*)) };
}

/// Like `std::eprintln!`; see [`println!`](crate::println!).
///
/// ```
/// uthread::run(|| uthread::eprintln!("careful"));
/// ```
#[macro_export]
macro_rules! eprintln {
    () => { $crate::print_error_line(::core::format_args!("")) };
    ($($arguments:tt)*) => { $crate::print_error_line(::core::format_args!($($arguments)*)) };
}

#[doc(hidden)]
pub fn print_line(arguments: fmt::Arguments<'_>) {
    let line = format!("{arguments}\n");
    let _guard = no_preempt();
    // Uses the macro: a test cannot capture writes to the standard output's handle.
    print!("{line}");
    let _ = std::io::stdout().flush();
}

#[doc(hidden)]
pub fn print_error_line(arguments: fmt::Arguments<'_>) {
    let line = format!("{arguments}\n");
    let _guard = no_preempt();
    eprint!("{line}");
}
