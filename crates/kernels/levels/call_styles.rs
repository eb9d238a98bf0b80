//! The same nested loop in four forms: inline, by function, by recursion, and row by row for a
//! caller that computes each row elsewhere. All give the same sum.

use core::hint::black_box;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The address of a variable in the innermost frame of the last recursion. The difference of two
/// such addresses gives the stack size of a call.
pub static DEEPEST: AtomicUsize = AtomicUsize::new(0);

/// The inner loop, expanded in place.
macro_rules! add_row {
    ($sum:ident, $row:expr, $steps:expr) => {
        let mut step = 0;
        while step < $steps {
            $sum += $row ^ step;
            step += 1;
        }
    };
}

/// Both loops in one function.
#[inline(never)]
pub fn inline(rows: u64, steps: u64) -> u64 {
    let mut sum = 0_u64;
    let mut at = 0;
    while at < rows {
        add_row!(sum, at, steps);
        at += 1;
    }
    sum
}

/// Each row is a call of the inner loop's function.
#[inline(never)]
pub fn by_function(rows: u64, steps: u64) -> u64 {
    let mut sum = 0_u64;
    let mut at = 0;
    while at < rows {
        sum += one_row(at, steps);
        at += 1;
    }
    sum
}

/// The inner loop.
#[inline(never)]
pub fn row(at: u64, steps: u64) -> u64 {
    one_row(at, steps)
}

/// Each row is a recursive call, `rows` deep.
#[inline(never)]
pub fn by_recursion(rows: u64, steps: u64) -> u64 {
    descend(rows, steps)
}

// The loops call private functions: calls of public functions of other crates may go through a
// table.

#[inline(never)]
fn one_row(at: u64, steps: u64) -> u64 {
    let mut sum = 0_u64;
    add_row!(sum, at, steps);
    sum
}

#[inline(never)]
fn descend(rows: u64, steps: u64) -> u64 {
    if rows == 0 {
        let innermost = 0_u8;
        DEEPEST.store((&raw const innermost).addr(), Ordering::Relaxed);
        black_box(&innermost);
        return 0;
    }
    let at = rows - 1;
    let mut sum = 0_u64;
    add_row!(sum, at, steps);
    // Work is left after the call, and its result is opaque. Otherwise the compiler would turn the
    // recursion into a loop.
    #[cfg_attr(not(optimised), expect(unused_mut, reason = "there it is not hidden"))]
    let mut rest = descend(at, steps);
    veil!(integer rest);
    sum + rest
}
