//! Shared by the tests of all crates: programs that start with default signals and end with their test, and
//! waits with an end.
//!
//! It depends on no other crate of oscope, and only tests depend on it.

#![cfg_attr(
    unix,
    expect(unsafe_code, reason = "the effect of a signal has no safe call")
)]

mod command;
mod mount;
mod process;
mod signals;

use std::panic::resume_unwind;
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use command::Command;
pub use mount::{Mounted, Tmpfs};
pub use process::Process;

/// Number of bytes that this process has read, in all threads; 0 where the system does not count them.
pub fn bytes_read() -> u64 {
    let counts = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let mut lines = counts.lines();
    let read = lines.find_map(|line| line.strip_prefix("rchar: "));
    read.and_then(|read| read.parse().ok()).unwrap_or(0)
}

/// A temporary directory next to the running program: the usual place for temporary files may be memory. It is
/// in the usual place if that program lies where this user may not write.
pub fn directory_on_disk() -> TempDir {
    let program = std::env::current_exe().expect("a running program has a path");
    let folder = program.parent().expect("a program lies in a folder");
    let near = tempfile::tempdir_in(folder);
    near.or_else(|_| tempfile::tempdir())
        .expect("a place for temporary files")
}

/// Longest wait of a test, and longest life of a program that it starts. It only keeps tests from hanging: it
/// is far above what a busy machine takes.
pub const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// Waits until a condition is true.
///
/// # Panics
/// With `what` it waited for, after [`LONGEST_WAIT`].
pub fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < LONGEST_WAIT, "waited in vain: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// The value of a thread that ends by itself.
///
/// # Panics
/// As the thread does, and with `what` it waited for, after [`LONGEST_WAIT`].
pub fn joined<T>(what: &str, thread: JoinHandle<T>) -> T {
    wait_until(what, || thread.is_finished());
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
