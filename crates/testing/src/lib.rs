//! Shared by the tests of all crates: programs that start with default signals and end with their test, and
//! waits with an end.
//!
//! It depends on no other crate of oscope, and only tests depend on it.

#![cfg_attr(
    unix,
    expect(unsafe_code, reason = "the effect of a signal has no safe call")
)]

mod command;
mod count;
mod directory;
mod process;
mod signals;
mod wait;

pub use command::Command;
pub use count::bytes_read;
pub use directory::directory_on_disk;
pub use process::Process;
pub use wait::{LONGEST_WAIT, joined, wait_until};
