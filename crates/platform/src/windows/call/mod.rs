//! The Windows implementation of the calls whose cost is measured. Each function makes Windows' own call
//! in place of the one that Linux has.

mod clock;
mod file;
mod memory;
mod path;
mod process;
mod thread;

use std::ffi::CStr;

use crate::error::{Result, refuse};

pub use clock::{clock_gettime, clock_gettime_syscall};
pub use file::{create_delete, fopen_fclose, open_close, read_byte, seek, stat, write_byte};
pub use file::{create_sync_delete, fopen_write_fclose, open_sync_close};
pub use memory::{malloc_free, map_unmap};
pub use path::CallPath;
pub use process::{getpid_syscall, program_that_does_nothing, spawn_wait};
pub use thread::thread_create_join;

pub fn fork_exit_wait() -> Result<()> {
    refuse("fork")
}

pub fn vfork_exit_wait() -> Result<()> {
    refuse("vfork")
}

pub fn fork_exec_wait(_program: &CStr) -> Result<()> {
    refuse("fork")
}

#[derive(Debug)]
pub enum SignalProbe {}

impl SignalProbe {
    pub fn new() -> Result<Self> {
        refuse("sigaction")
    }

    pub fn install(&self) -> Result<()> {
        match *self {}
    }

    pub fn deliver(&self) -> Result<()> {
        match *self {}
    }
}
