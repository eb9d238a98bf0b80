//! Printing from threads that can be preempted.

use std::fmt;
use std::io::Write;

use crate::no_preempt;

/// As `std::println!`: the line is formatted first, and then written with preemption off, since
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

/// As `std::eprintln!`, in the way of [`println!`](crate::println!).
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
    // Not through the handle of the standard output, which a test could not capture.
    print!("{line}");
    let _ = std::io::stdout().flush();
}

#[doc(hidden)]
pub fn print_error_line(arguments: fmt::Arguments<'_>) {
    let line = format!("{arguments}\n");
    let _guard = no_preempt();
    eprint!("{line}");
}
