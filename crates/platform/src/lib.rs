//! Every question that oscope puts to the operating system, behind one face.
//!
//! The modules here hold the types and thin functions that the other crates see. What differs from
//! system to system lives in one backend, chosen once, below: `linux` where that is the target, and
//! `unsupported` elsewhere, which answers what the standard library can answer and otherwise says
//! [`Error::NotSupported`] or `None`. A backend for another system is a folder beside these two with
//! the same functions.
//!
//! Uses: `rustix` where it has a safe call, `io-uring` for rings, `libc` for the rest, `raw-cpuid` on
//! x86-64.
//!
//! It must never hold policy: it tells and does what it is asked, and decides nothing about how to
//! measure. A fact that cannot be had is `None`, never a guess. It depends on no other crate of
//! oscope.

#![cfg_attr(
    target_os = "linux",
    expect(
        unsafe_code,
        reason = "some system calls have no safe wrapper in any crate"
    )
)]

pub mod block_io;
pub mod call;
pub mod channel;
pub mod child;
pub mod clock;
pub mod confinement;
pub mod directory;
pub mod environment;
mod error;
pub mod file;
pub mod load;
pub mod lock;
pub mod machine;
pub mod memory;
pub mod node;
pub mod partner;
pub mod placement;
pub mod power;
pub mod process;
pub mod programs;
pub mod ring;
pub mod sandbox;
pub mod scratch;
pub mod shared;
pub mod signal;
pub mod socket;
pub mod stack;
pub mod startup;
pub mod stdio;
pub mod storage;
pub mod stream_ring;
pub mod timer;
pub mod usage;

#[cfg(target_arch = "x86_64")]
mod cpuid;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as os;

#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(not(target_os = "linux"))]
use unsupported as os;

pub use error::{Error, Result, is_lacking};
