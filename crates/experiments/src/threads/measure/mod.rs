//! The measurements of the experiments, where there are user threads.

mod async_io;
mod create;
mod inversion;
mod io;
#[cfg(target_os = "linux")]
mod lock;
mod monitor;
mod slice;
mod switch;
mod two_locks;

use crate::prelude::*;
use platform::lock::{CriticalSection, PthreadMutex, PthreadSpin, SlimLock};
use std::sync::{Mutex, PoisonError};
use uthread::RuntimeBuilder;
use uthread_workload::{Section, WorkloadError};

/// The action in the error if a kernel thread cannot be started.
const START: &str = "start a kernel thread";

/// The error of a point whose workload could not be run.
fn refused(error: WorkloadError) -> MeasureError {
    match error {
        WorkloadError::Build(error) => MeasureError::Unsupported(error.to_string()),
        WorkloadError::Start(error) => MeasureError::system("start threads")(error),
        WorkloadError::Transfer(error) => MeasureError::system("transfer the scratch file")(error),
    }
}

/// Runs `main` in a cooperative runtime; fails if none could be started.
fn run<T>(builder: RuntimeBuilder, main: impl FnOnce() -> T) -> Result<T, MeasureError> {
    let runtime = builder.build().map_err(|error| refused(error.into()))?;
    let start = MeasureError::system("start a runtime");
    runtime.try_run(main).map_err(start)
}

#[cfg(windows)]
impl super::kind::UserThreads for super::lock::Lock {
    fn take(&self, _: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
        Err(MeasureError::Unsupported(
            "user threads are not preempted on Windows, so no thread loses its turn inside a lock"
                .into(),
        ))
    }
}

/// The least time of a run, in ns, if threads may lose their turn inside the lock: on several
/// processors, where the kernel takes one away every few milliseconds, or where slices end while
/// they compute. Only a run in which that happens many times shows what it costs.
const LONG_RUN_NS: u64 = 40_000_000;

/// A lock of kernel threads around the shared number.
trait Exclusive: Sync {
    fn with(&self, work: impl FnOnce(&mut u64));
}

/// The locks of the system already have such a method.
macro_rules! exclusive {
    ($($lock:ty),*) => {
        $(impl Exclusive for $lock {
            fn with(&self, work: impl FnOnce(&mut u64)) {
                self.with(work);
            }
        })*
    };
}

exclusive!(PthreadMutex, PthreadSpin, SlimLock, CriticalSection);

impl Exclusive for Mutex<u64> {
    fn with(&self, work: impl FnOnce(&mut u64)) {
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Entries of each thread in the run whose result is checked.
const CHECKED_ENTRIES: u64 = 3;

/// Checks the number behind `lock` after this many threads made [`CHECKED_ENTRIES`] entries each.
fn check_lock(lock: &impl Exclusive, section: Section, threads: u64) -> Result<(), MeasureError> {
    let mut found = 0;
    lock.with(|value| found = *value);
    check(found, section, threads * CHECKED_ENTRIES)
}

/// Makes sure that all entries were made, one at a time, and that each computed.
fn check(found: u64, section: Section, entries: u64) -> Result<(), MeasureError> {
    if found == section.expected(entries) {
        Ok(())
    } else {
        Err(MeasureError::Unsupported(format!(
            "the lock did not exclude: {found} is not what {entries} entries give"
        )))
    }
}
