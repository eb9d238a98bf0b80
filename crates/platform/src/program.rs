//! Runs other programs from start to end: wall time, resource usage, exit.

use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::process::Finished;

/// True where a process begins as a copy of its parent, whose memory counts as its own: no peak is below that of
/// this process.
pub const COUNTS_FROM_PARENT: bool = !cfg!(windows);

/// A program that ran to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Wall time in ns, from before the start of the process until its exit is known.
    pub wall_ns: u64,
    /// Its exit, and the usage of it and of the children that it waited for.
    pub finished: Finished,
    /// Peak resident memory of the largest process among them, in bytes; on Windows of the program itself.
    /// See [`COUNTS_FROM_PARENT`].
    pub peak_bytes: u64,
    /// The end of its standard error, if that is a pipe.
    pub stderr: String,
}

face! {
    os::program;

    /// Runs `command` to its end. Reads and discards its standard output and error where they are pipes,
    /// and keeps the last 16 KiB of standard error. `None` if `interrupted` became true: the program was
    /// killed.
    ///
    /// The program gets a process group of its own, so that Ctrl-C on a terminal reaches only this
    /// process. The rest of the group is killed with it, and left alone after a regular exit.
    ///
    /// # Errors
    /// If it cannot be started, or its pipes fail.
    pub fn run(command: &mut Command, interrupted: &AtomicBool) -> io::Result<Option<Ran>>
        = refuse_io();
}
