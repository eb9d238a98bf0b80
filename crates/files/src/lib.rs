//! Reads, sums, writes and copies files by every available method, as fast as each allows.
//!
//! # What it is
//!
//! The code under the direct commands and the file experiments. It divides a file into blocks
//! (`lane`), reads them (`read`), computes the exclusive or over all of them ([`sum()`]),
//! finds the fastest method ([`choose`]), and writes, copies and grows files.
//!
//! # What it uses
//!
//! `platform` for the calls, `kernels` for the loops, `instrument` for quantities and random numbers,
//! `choice` for the names of the methods.
//!
//! # What it must never do
//!
//! Know an experiment or a command, or print. A file that changes during a read gives an error,
//! never a result.

#[cfg(test)]
use testing as _;

pub mod cache;
pub mod choose;
pub mod copy;
pub mod dd;
mod error;
pub mod grow;
mod lane;
mod memory;
mod partial;
pub mod pass;
mod read;
mod source;
pub mod sum;
mod watch;
pub mod write;

pub use copy::copy;
pub use error::{Error, Result};
pub use partial::{Partial, folder, is_standard_output, names_standard_output};
pub use pass::{Timed, pass, timed};
pub use source::{Method, Source};
pub use sum::sum;
pub use watch::Watch;
pub use write::write;
