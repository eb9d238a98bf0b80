//! The Linux implementation of the calls whose cost is measured.

mod clock;
mod file;
mod memory;
mod path;
mod process;
mod signal;
mod thread;

use std::io;

use crate::error::{Error, Result};

pub use clock::{clock_gettime, clock_gettime_syscall};
pub use file::{create_delete, fopen_fclose, open_close, read_byte, seek, stat, write_byte};
pub use file::{create_sync_delete, fopen_write_fclose, open_sync_close};
pub use memory::{malloc_free, map_unmap};
pub use path::CallPath;
pub(super) use process::wait;
pub use process::{
    fork_exec_wait, fork_exit_wait, getpid_syscall, program_that_does_nothing, spawn_wait,
    vfork_exit_wait,
};
pub use signal::SignalProbe;
pub use thread::thread_create_join;

/// A separate function, to keep it out of the measured path.
#[cold]
fn failed<T>(action: &'static str) -> Result<T> {
    Err(Error::os(action)(io::Error::last_os_error()))
}
