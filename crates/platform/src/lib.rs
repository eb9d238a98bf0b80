//! oscope's only interface to the operating system.
//!
//! The modules here contain the types and thin functions for the other crates. System-specific code
//! is in one backend, selected once, below: `linux` on that target, and `unsupported` elsewhere,
//! which returns what the standard library knows and otherwise [`Error::NotSupported`] or `None`. A
//! backend for another system is a folder beside these two with the same functions.
//!
//! Uses: `rustix` for calls that it wraps safely, `io-uring` for rings, `libc` for the rest,
//! `raw-cpuid` on x86-64.
//!
//! It must never contain policy: it answers queries and executes calls, and does not decide how to
//! measure. An unknown fact is `None`, never a guess. It depends on no other crate of oscope.

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
pub mod program;
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
