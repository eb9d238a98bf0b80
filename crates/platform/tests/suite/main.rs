//! Workers and scratch directories.

mod scratch;
mod worker;
