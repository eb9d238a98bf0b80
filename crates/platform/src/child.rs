//! Runs a function in a child process.

pub use crate::os::child::value;
