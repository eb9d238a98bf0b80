//! The axes, levels and metrics of `threads.lock`.

use crate::prelude::*;
use instrument::point::{AxisKind, Level, LevelOf};
use std::fmt;

pub(in crate::threads) const BODY: AxisOf<Body> = AxisOf::new("body", "body");
pub(in crate::threads) const LOCK: AxisOf<LockType> = AxisOf::new("lock", "lock");
pub(in crate::threads) const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");

/// The slice of user threads, where it is not the usual one.
pub(in crate::threads) const SLICE: AxisOf<Count> = AxisOf::new("slice", "slice in µs");

pub(in crate::threads) const RUN: Metric<&str> = Metric::time("run", "run, each enters once");
/// Since its second version runs are long enough for threads to lose their turn inside.
pub(in crate::threads) const ENTRY: Metric<&str> =
    Metric::time("entry", "entry in a long run").in_version(2);
pub(in crate::threads) const TURNS_TAKEN: Metric<&str> =
    Metric::fact("turns_taken", "turns taken in a run", Unit::Count);

/// The locks.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::threads) enum LockType {
    /// Of user threads on one worker: `uthread::Lock::fifo`, the report's Lock, which is handed over in the order
    /// of coming.
    #[choice("Lock")]
    Lock,
    #[choice("SpinLock")]
    SpinLock,
    /// Of user threads on as many workers as there are processors.
    #[choice("Lock, all cores")]
    LockOnAllCores,
    #[choice("SpinLock, all cores")]
    SpinLockOnAllCores,
    /// Of kernel threads on all processors.
    PthreadMutex,
    #[choice("std Mutex")]
    StdMutex,
    PthreadSpin,
}

/// The work inside the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::threads) enum Body {
    Simple,
    SimpleYield,
    Complex { steps: u64 },
}

/// Steps of the *complex* body, where they are not themselves varied.
pub(super) const COMPLEX_STEPS: u64 = 1000;

impl Body {
    /// The *complex* body of the usual length.
    pub(super) const COMPLEX: Self = Self::complex(COMPLEX_STEPS);

    /// The *complex* body of so many steps.
    pub(in crate::threads) const fn complex(steps: u64) -> Self {
        Self::Complex { steps }
    }

    /// The steps that it computes.
    #[cfg(test)]
    pub(in crate::threads) fn steps(self) -> u64 {
        match self {
            Self::Complex { steps } => steps,
            Self::Simple | Self::SimpleYield => 0,
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple => f.write_str("simple"),
            Self::SimpleYield => f.write_str("simple yield"),
            Self::Complex { steps } => write!(f, "complex, {steps} steps"),
        }
    }
}

impl LevelOf for Body {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.to_string())
    }

    fn of(level: &Level) -> Option<Self> {
        match level {
            Level::Choice(name) if name == "simple" => Some(Self::Simple),
            Level::Choice(name) if name == "simple yield" => Some(Self::SimpleYield),
            Level::Choice(name) => {
                let steps = name.strip_prefix("complex, ")?.strip_suffix(" steps")?;
                steps.parse().ok().map(Self::complex)
            }
            Level::Number(_) => None,
        }
    }
}

/// The number of threads for which everything else is compared.
pub(in crate::threads) const MIDDLE: Count = Count(10);

/// Two kernel threads have a processor each nearly everywhere, so that preemption by the kernel
/// does not hide the cost of spinning and blocking.
pub(in crate::threads) const PAIR: Count = Count(2);

/// Lengths of the section in which spinning and blocking kernel threads are compared, in steps.
pub(super) const LENGTHS: [u64; 5] = [10, 100, 1000, 10_000, 100_000];

/// Steps of the section whose length shows that the body is computed.
pub(super) const LONG_STEPS: u64 = 10 * COMPLEX_STEPS;

/// The slice in runs of the *simple yield* body and in all long runs. It is as short as can be
/// afforded, so that 99 threads that burn their slices are done within a second.
pub(in crate::threads) const SHORT_SLICE_US: u64 = 50;
/// The slice in runs in which every thread enters once, within which they are over.
pub(in crate::threads) const LONG_SLICE_US: u64 = 2000;

/// The point of these levels.
pub(in crate::threads) fn point(body: Body, lock: LockType, threads: Count) -> Point {
    Point::new()
        .at(BODY, body)
        .at(LOCK, lock)
        .at(THREADS, threads)
}

/// The levels by which that point is found.
pub(in crate::threads) fn at(
    body: Body,
    lock: LockType,
    threads: Count,
) -> [(&'static str, Level); 3] {
    [BODY.at(body), LOCK.at(lock), THREADS.at(threads)]
}

#[cfg(test)]
mod tests {
    use super::Body;
    use instrument::point::{Level, LevelOf};

    #[test]
    fn a_body_is_read_back_as_it_is_stored() {
        for body in [Body::Simple, Body::SimpleYield, Body::complex(100)] {
            assert_eq!(Body::of(&body.level()), Some(body));
        }
        assert_eq!(Body::complex(100).level(), "complex, 100 steps".into());
        for other in ["heavy", "complex", "complex, many steps"] {
            assert_eq!(Body::of(&other.into()), None);
        }
        assert_eq!(Body::of(&Level::Number(1)), None);
    }
}
