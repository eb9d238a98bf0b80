//! Loops whose compiled code is the subject, as one compiler makes them at one optimisation level.
//!
//! # What it is
//!
//! One source for four crates, which differ in nothing but the `opt-level` that the workspace's
//! profiles give them; `loops.c` says the same in C. `oscope_kernels::levels` is the face of all.
//!
//! # What it must never do
//!
//! Be inlined into another crate, which would compile it anew at that crate's level: every entry is
//! `#[inline(never)]` and none is generic. Loops are `while`, since the iterator of a `for` is a call
//! where nothing is optimised.

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

/// The optimisation level that cargo asked for.
pub const LEVEL: &str = env!("OSCOPE_KERNELS_LEVEL");
/// The flags given to the compiler beside it.
pub const FLAGS: &str = env!("OSCOPE_KERNELS_FLAGS");
/// Whether the flags overrule the level.
pub const IS_OVERRULED: bool = matches!(env!("OSCOPE_KERNELS_OVERRULED").as_bytes(), b"true");
