//! oscope's only interface to the operating system.
//!
//! Each module here holds one subject: its types, and the questions to the system. A question stands
//! in one place, with its documentation, its signature and, after `=`, the answer of a system that
//! lacks it (`face!`).
//!
//! System-specific code is in one backend, selected once, below: `linux` or `windows`. Where the system
//! lacks all of a subject, the backend says `pub(crate) use crate::timer::lacking as timer`; where it
//! lacks a part, its module begins with `pub(crate) use crate::file::lacking::*`, and its own functions go
//! before those. A type of its own gets the answers for the methods that it lacks with
//! `impl methods::Directory for Directory {}`. The compiler names all that is missing.
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

#[macro_use]
mod face;

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
mod windows;
#[cfg(windows)]
use windows as os;

pub use error::{Error, Result, is_lacking};
