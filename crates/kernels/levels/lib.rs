//! Loops whose compiled code is measured, from one compiler at one optimisation level.
//!
//! # What it is
//!
//! One source for four crates, which differ only in their `opt-level` in the workspace's profiles;
//! `loops.c` has the same loops in C. `oscope_kernels::levels` is the interface to all of them.
//!
//! # What it must never do
//!
//! Be inlined into another crate, which would compile the code again at its own level: every entry
//! is `#[inline(never)]`, and none is generic. Loops are `while`, since the iterator of a `for` is
//! a call without optimisation.

#![cfg_attr(
    optimised,
    expect(
        unsafe_code,
        reason = "an empty piece of assembly is what hides a register from the compiler"
    )
)]

#[macro_use]
mod veil;
#[expect(
    clippy::assign_op_pattern,
    reason = "not every operation has an operator that assigns"
)]
mod arithmetic;
mod call_styles;
mod pass;
mod repeat;

pub use arithmetic::{AVX2, CHAINS, ELEMENTS_BYTES, Loop, Loops, OPERATIONS_IN_A_TURN, PLAIN};
pub use call_styles::{DEEPEST, by_function, by_recursion, inline, row};
pub use pass::write;
pub use repeat::repeat;

/// cargo's optimisation level.
pub const LEVEL: &str = env!("OSCOPE_KERNELS_LEVEL");
/// Additional compiler flags.
pub const FLAGS: &str = env!("OSCOPE_KERNELS_FLAGS");
/// True if the flags override the level.
pub const IS_OVERRULED: bool = matches!(env!("OSCOPE_KERNELS_OVERRULED").as_bytes(), b"true");
