//! The Windows implementation of the calls whose cost is measured. Each function makes Windows' own call
//! in place of the one that Linux has.

mod clock;
mod file;
mod memory;
mod path;
mod process;
mod thread;

pub(crate) use crate::call::lacking::*;

pub(crate) use clock::{clock_gettime, clock_gettime_syscall};
pub(crate) use file::{create_delete, fopen_fclose, open_close, read_byte, seek, stat, write_byte};
pub(crate) use file::{create_sync_delete, fopen_write_fclose, open_sync_close};
pub(crate) use memory::{malloc_free, map_unmap};
pub(crate) use path::CallPath;
pub(crate) use process::{getpid_syscall, program_that_does_nothing, spawn_wait};
pub(crate) use thread::thread_create_join;
