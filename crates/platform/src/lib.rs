//! oscope's only interface to the operating system.
//!
//! Each module here is one subject: its types, what is the same on all systems, and the functions and types
//! of the backend, which it re-exports.
//!
//! System-specific code is in one backend, selected once, below: `linux` or `windows`. Both have a module for
//! each subject, with the same signatures: the compiler reports what is missing. The documentation is at the
//! functions of `linux`. A function that a system cannot offer refuses ([`Error::NotSupported`]) or returns
//! nothing (`None`, 0, an empty list); a type that it cannot offer is an `enum` without variants.
//!
//! Uses: `rustix` for calls that it wraps safely, `io-uring` for rings, `libc` for the rest;
//! `windows-sys` on Windows; `raw-cpuid` on x86-64.
//!
//! It must never contain policy: it answers queries and executes calls, and does not decide how to
//! measure. An unknown fact is `None`, never a guess. It depends on no other crate of oscope.

#![expect(
    unsafe_code,
    reason = "some system calls have no safe wrapper in any crate"
)]

#[cfg(not(any(target_os = "linux", windows)))]
compile_error!("oscope runs on Linux and Windows only: this system has no backend in `platform`");

#[cfg(test)]
use testing as _;

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
pub mod job;
pub mod load;
pub mod lock;
mod locked;
pub mod machine;
pub mod memory;
pub mod node;
pub mod partner;
pub mod placement;
pub mod power;
pub mod process;
pub mod program;
pub mod programs;
pub mod readiness;
pub mod ring;
pub mod sandbox;
pub mod scratch;
pub mod shared;
mod shared_memory;
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

#[cfg(windows)]
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "each function is documented where `linux` has it"
)]
mod windows;
#[cfg(windows)]
use windows as os;

pub use error::{Error, Result, is_lacking};
