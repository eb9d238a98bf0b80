//! Programs that are known to tolerate preemption.
//!
//! [`RuntimeBuilder::slice`](uthread::RuntimeBuilder::slice) is `unsafe`, because only the author of
//! the threads' code can guarantee that it may be interrupted anywhere. For the classic programs
//! here, this crate gives that guarantee itself. Their threads use atomic integers, the locks of
//! `uthread`, transfers of files, the clock and the processor's counter. They use no thread-local value but that of the
//! error of a call, and neither allocate nor free memory, so any allocator will do. Safe code can therefore run them
//! preemptively, to measure the cost of locks and slices and to observe the effect of priorities.

#![expect(
    unsafe_code,
    reason = "a time slice is a promise about the code of all threads"
)]

mod contention;
mod inversion;
mod slices;
mod transfers;

pub use contention::{Contention, Entered, LockKind, Section};
pub use inversion::{Inversion, Lane, Lanes};
pub use slices::{Slices, Turn};
pub use transfers::{Buffer, Transfers};

use core::time::Duration;
use std::io;
use uthread::{BuildError, RuntimeBuilder};

/// Reason that a workload could not run.
///
/// ```
/// use std::time::Duration;
/// use uthread::Protocol;
/// use uthread_workload::{Inversion, WorkloadError};
///
/// let inversion = Inversion {
///     slice: Duration::from_nanos(1),
///     steps: 1,
///     low_steps: 1,
///     protocol: Protocol::None,
///     decay: false,
/// };
/// assert!(matches!(inversion.run(), Err(WorkloadError::Build(_))));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The runtime cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The system has no resources for the workers or threads.
    #[error("cannot start the threads: {0}")]
    Start(#[from] io::Error),
    /// The system cannot read or write the file of [`Transfers`].
    #[error("cannot read or write the file: {0}")]
    Transfer(io::Error),
}

/// `builder` with a time slice.
fn preemptive(builder: RuntimeBuilder, slice: Duration) -> RuntimeBuilder {
    // SAFETY: only programs of this crate come here, and they satisfy its description above.
    unsafe { builder.slice(slice) }
}

/// Computes `steps` steps (xorshift; Marsaglia, *Journal of Statistical Software* 8, 2003). Each
/// step needs the previous one, and no formula for the result is known, so no compiler can leave
/// one out.
///
/// ```
/// use uthread_workload::compute;
///
/// assert_eq!(compute(compute(1, 10), 20), compute(1, 30));
/// ```
#[must_use]
pub fn compute(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}
