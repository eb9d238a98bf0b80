//! Every question that oscope puts to the operating system, behind one face.
//!
//! The modules here hold the types and thin functions that the other crates see. What differs from
//! system to system lives in one backend, chosen once, below: `linux` where that is the target, and
//! `unsupported` elsewhere, which answers what the standard library can answer and otherwise says
//! [`Error::NotSupported`] or `None`. A backend for another system is a folder beside these two with
//! the same functions.
//!
//! Uses: `rustix` where it has a safe call, `libc` for the rest, `raw-cpuid` on x86-64.
//!
//! It must never hold policy: it tells and does what it is asked, and decides nothing about how to
//! measure. A fact that cannot be had is `None`, never a guess. It depends on no other crate of
//! oscope.

pub mod call;
pub mod clock;
pub mod environment;
mod error;
pub mod file;
pub mod load;
pub mod machine;
pub mod memory;
pub mod placement;
pub mod process;
pub mod scratch;
pub mod signal;
pub mod storage;
pub mod usage;

#[cfg(target_arch = "x86_64")]
mod cpuid;

mod unsupported;
use unsupported as os;

pub use error::{Error, Result};
