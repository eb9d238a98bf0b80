//! The same nested loop in four ways: inline, by function, by recursion, and row by row for whoever
//! wants to have each row computed elsewhere. All give the same sum.

use core::hint::black_box;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The address of a variable in the innermost frame of the last recursion: how much of the stack a
/// call takes follows from two of them.
pub static DEEPEST: AtomicUsize = AtomicUsize::new(0);

/// The inner loop, written out wherever it stands.
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

/// The inner loop is a function of its own.
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

/// Each row is a call of the next, `rows` deep.
#[inline(never)]
pub fn by_recursion(rows: u64, steps: u64) -> u64 {
    descend(rows, steps)
}

// What is called in the loops is private: calls of what other crates may see go by a table.

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
    // Something is left to do after the call and nothing is known of what it returns, or the
    // compiler would make a loop of the recursion.
    #[cfg_attr(not(optimised), expect(unused_mut, reason = "there it is not hidden"))]
    let mut rest = descend(at, steps);
    veil!(integer rest);
    sum + rest
}
