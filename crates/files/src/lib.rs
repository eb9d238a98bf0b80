//! Files, read, summed, written and copied by every method there is, as fast as each allows.
//!
//! # What it is
//!
//! The machinery under the direct commands and under the experiments on files: where a file is cut
//! into blocks ([`lane`]), how blocks are read ([`read()`]), the exclusive or over all of them
//! ([`sum()`]), how the fastest way is found ([`choose`]), and writing, copying and growing files.
//!
//! # What it uses
//!
//! `platform` for the calls, `kernels` for the loops, `instrument` for quantities and random numbers.
//!
//! # What it must never do
//!
//! Know an experiment or a command, or print. A file that changes while it is read gives an error
//! and never a result.

pub mod cache;
pub mod choose;
pub mod copy;
pub mod dd;
mod error;
pub mod grow;
pub mod lane;
mod method;
mod partial;
pub mod pass;
pub mod read;
mod source;
pub mod sum;
mod timed;
mod watch;
pub mod write;

pub use copy::copy;
pub use error::{Error, Result};
pub use method::Method;
pub use partial::{Partial, folder};
pub use pass::pass;
pub use read::read;
pub use source::Source;
pub use sum::sum;
pub use timed::{Timed, timed};
pub use watch::Watch;
pub use write::write;
