//! Measures the time of an operation.

use crate::Result;
use platform::clock::{now_ns, process_cpu_ns};

/// The outcome and the times of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed<T> {
    /// The outcome.
    pub value: T,
    /// Wall time in ns.
    pub wall_ns: u64,
    /// CPU time of all threads of this process in ns. With two busy threads it grows twice as fast
    /// as the wall time.
    pub cpu_ns: u64,
}

/// Runs `work` and measures its time.
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
