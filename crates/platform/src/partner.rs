//! A second process that takes part in a measurement.

use crate::{Result, os};

/// A copy of this process, on a CPU of its own choice, that runs one function. It is killed when this
/// is dropped and when the thread that started it ends, so that it never outlives its parent.
#[derive(Debug)]
pub struct Partner {
    _partner: os::partner::Partner,
}

impl Partner {
    /// Copies this process; the copy runs `body` on `cpu` and ends. Returns when the copy is there
    /// and pinned.
    ///
    /// The body should go on until it is killed or has nothing left to do. What it says on standard
    /// output would go where this process's does.
    ///
    /// # Errors
    /// If no process can be made, it cannot be pinned, or this process has several threads: of a
    /// copy, only the calling one would go on, and locks that others hold would never be free.
    pub fn start(cpu: usize, body: impl FnOnce()) -> Result<Self> {
        os::partner::Partner::start(cpu, body).map(|partner| Self { _partner: partner })
    }
}
