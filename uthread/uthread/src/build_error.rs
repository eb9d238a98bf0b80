//! Reasons that a runtime cannot be built.

use core::time::Duration;
use std::io;

/// Reason that a runtime cannot be built on this system.
///
/// ```
/// use std::time::Duration;
/// use uthread::{BuildError, Runtime};
///
/// // SAFETY: nothing runs.
/// let builder = unsafe { Runtime::builder().slice(Duration::from_micros(1)) };
/// assert!(matches!(builder.build(), Err(BuildError::SliceTooShort(_))));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The C library, or only its `malloc`, is part of the program's own text, so a tick cannot tell them apart.
    #[error(
        "threads cannot be preempted in a program that contains its C library, or a malloc of its own"
    )]
    StaticLibrary,
    /// The slice is shorter than 20 µs.
    #[error("a slice of {0:?} is too short: 20 µs is the least")]
    SliceTooShort(Duration),
    /// No stack can be that large.
    #[error("a stack of {bytes} bytes is too large: {most} is the most")]
    StackTooLarge {
        /// The size that was asked for.
        bytes: usize,
        /// The largest size there is.
        most: usize,
    },
    /// A deterministic runtime has one worker.
    #[error("a deterministic runtime cannot have {0} workers")]
    SeveralDeterministic(usize),
    /// No signal of a timer can interrupt a thread on this system: threads are cooperative here.
    #[error("threads cannot be preempted on this system: build the runtime without a time slice")]
    NoPreemption,
    /// The system has no free timer or signal.
    #[error("cannot set up the timer that preempts threads")]
    Timer(#[source] io::Error),
}
