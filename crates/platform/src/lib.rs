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

pub mod allocator;
pub mod block_io;
pub mod call;
pub mod directory;
pub mod environment;
mod error;
pub mod file;
pub mod job;
pub mod load;
pub mod lock;
pub mod machine;
pub mod memory;
pub mod placement;
pub mod process;
pub mod program;
pub mod programs;
pub mod ring;
pub mod scratch;
pub mod shared;
pub mod signal;
pub mod socket;
pub mod stack;
pub mod stdio;
pub mod storage;
pub mod stream_ring;
pub mod timer;
pub mod usage;

/// Channels between threads and processes that the standard library does not have, as files to read from
/// and write to.
pub mod channel {
    pub use crate::os::partner::{event_counter, unix_socket_pair};
}

/// Runs a function in a child process.
pub mod child {
    pub use crate::os::partner::value;
}

/// Wall and CPU clocks.
pub mod clock {
    pub use crate::os::clock::{now_ns, process_cpu_ns};
}

/// Limits on the memory of a worker, and swap for it. Both are undone even if this process is
/// killed.
///
/// Everything created here is recorded in a scratch directory first. [`crate::scratch`] undoes it
/// before it removes that directory, whether its owner exited or was killed, in this order: it
/// kills the processes of the group and waits for them, raises the limit, switches the swap file
/// off, and removes the group, the file and the record.
pub mod confinement {
    pub use crate::os::confinement::{MemoryGroup, SwapFile, can_limit_memory, free_swap_bytes};
}

/// Nodes: processors and their local memory (NUMA).
pub mod node {
    pub use crate::os::topology::all;

    /// Processors and their local memory. Either may be absent.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Node {
        /// Its number; numbers need not be contiguous.
        pub number: usize,
        /// Its online processors, in ascending order.
        pub cpus: Vec<usize>,
        /// Its memory available without swapping, in bytes; `None` if it has no memory.
        pub available_bytes: Option<u64>,
    }
}

/// The machine's power source.
pub mod power {
    pub use crate::os::environment::batteries;

    /// A battery that powers the machine. Batteries of mice and other devices are left out.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Battery {
        /// The kernel's name for it, e.g. `BAT0`.
        pub name: String,
        /// True if the machine currently draws power from it.
        pub is_discharging: bool,
        /// Charge, in per cent.
        pub percent: Option<u8>,
    }

    /// True if a battery powers the machine now; `None` if no battery is known.
    pub fn is_on_battery() -> Option<bool> {
        let batteries = batteries();
        let is_discharging = batteries.iter().any(|battery| battery.is_discharging);
        (!batteries.is_empty()).then_some(is_discharging)
    }
}

/// A second process that takes part in a measurement.
pub mod partner {
    pub use crate::os::partner::Partner;
}

/// Waits until one of many files is ready to be read.
pub mod readiness {
    pub use crate::os::readiness::{Epoll, PollList, allow_descriptors, most_descriptors};
}

/// Forbids system calls, as a container's profile does.
pub mod sandbox {
    pub use crate::os::sandbox::forbid;

    /// A system call that can be forbidden.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Call {
        /// Creation of an event counter ([`crate::channel::event_counter`]).
        EventCounter,
        /// A copy within the kernel ([`crate::block_io::copy_range`]).
        CopyRange,
    }
}

/// The state of this process at its start.
pub mod startup {
    use std::io;
    use std::path::PathBuf;

    pub use crate::os::startup::{had_standard_input, had_standard_output, has_small_stack};

    /// The file of this program, to start it once more: also where there is no `/proc` to ask, if the working
    /// directory is still the one in which it was started.
    pub fn program() -> io::Result<PathBuf> {
        std::env::current_exe().or_else(|error| crate::os::startup::started_as().ok_or(error))
    }
}

#[cfg(target_arch = "x86_64")]
mod cpuid;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as os;

#[cfg(windows)]
#[allow(
    missing_docs,
    reason = "each function is documented where `linux` has it"
)]
mod windows;
#[cfg(windows)]
use windows as os;

pub use error::{Error, Result, is_unavailable};
