//! Programs that are known to bear preemption.
//!
//! [`RuntimeBuilder::slice`](crate::RuntimeBuilder::slice) is `unsafe`, since only who wrote the code
//! that will run can promise that it may be interrupted anywhere. For the classical programs here
//! this crate gives the promise itself: their threads use atomic numbers, this crate's locks and the
//! clock; they touch no thread-local, and take and give back no memory, so that it does not matter
//! which allocator the program has. So they can be run preemptively by safe code, to measure what
//! locks cost and to see what priorities do.

mod contention;
mod inversion;

pub use contention::{Contention, Entered, LockKind, Section};
pub use inversion::{Inversion, Lane, Lanes};

use crate::{BuildError, RuntimeBuilder};
use core::time::Duration;
use std::io;

/// Why a workload could not be run.
///
/// ```
/// use std::time::Duration;
/// use uthread::Protocol;
/// use uthread::workload::{Inversion, WorkloadError};
///
/// let inversion = Inversion {
///     slice: Duration::from_nanos(1),
///     steps: 1,
///     protocol: Protocol::None,
/// };
/// assert!(matches!(inversion.run(), Err(WorkloadError::Build(_))));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The runtime cannot be had.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The system lacks what its workers or threads need.
    #[error("cannot start the threads: {0}")]
    Start(#[from] io::Error),
}

/// `builder` with a time slice.
fn preemptive(builder: RuntimeBuilder, slice: Duration) -> RuntimeBuilder {
    // SAFETY: only programs of this module come here, and they keep to what it says above.
    unsafe { builder.slice(slice) }
}

/// Computes for `steps` steps, each of which needs the one before (xorshift; Marsaglia, *Journal of
/// Statistical Software* 8, 2003), so that no compiler can leave one out: the result depends on all
/// of them, and no formula for it is known.
///
/// ```
/// use uthread::workload::compute;
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
