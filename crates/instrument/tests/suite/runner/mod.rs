//! The runner with a mock clock and mock experiments: order, stopping rule, budget, failures and
//! interruption.

mod ends;
mod left_out;
mod limits;
mod mocks;
mod passes;
mod resumed;
mod scratch;
mod time;
