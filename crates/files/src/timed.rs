//! How long work takes.

use crate::Result;
use platform::clock::{now_ns, process_cpu_ns};

/// How long work took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed<T> {
    /// What came of it.
    pub value: T,
    /// Wall time in ns.
    pub wall_ns: u64,
    /// CPU time of all threads of this process together in ns. It is no wall time: of two threads
    /// that work side by side, both count.
    pub cpu_ns: u64,
}

/// Does `work` and tells how long it took.
///
/// # Errors
/// Those of `work`.
pub fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<Timed<T>> {
    let cpu_before_ns = process_cpu_ns()?;
    let begin_ns = now_ns();
    let value = work()?;
    let wall_ns = now_ns().saturating_sub(begin_ns);
    let cpu_ns = process_cpu_ns()?.saturating_sub(cpu_before_ns);
    Ok(Timed {
        value,
        wall_ns,
        cpu_ns,
    })
}
