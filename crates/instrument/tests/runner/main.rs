//! The runner on a clock and experiments made up for the purpose: order, stopping rule, budget,
//! failures and the wish to stop.

#[path = "../common/mod.rs"]
mod common;
mod ends;
mod left_out;
mod limits;
mod mocks;
mod rounds;
mod scratch;
mod time;
