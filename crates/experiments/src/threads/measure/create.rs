//! Threads that do nothing, and threads that wait.

use super::{START, run};
use crate::prelude::*;
use crate::threads::create::{CREATE, Create, ENOUGH, MEMORY};
use crate::threads::kind::{KIND, Kind, THREADS, UserThreads};
use crate::together::start_together;
use platform::memory::footprint_bytes;
use std::error::Error as _;
use std::thread;
use uthread::{Builder, Runtime, SpawnError, suspend, yield_now};

impl UserThreads for Create {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Count(threads) = point.level(THREADS)?;
        let kind = point.level(KIND)?;
        // Memory comes first, while no stack has been used yet.
        if threads >= ENOUGH {
            let grown = match kind {
                Kind::User => user_memory(threads)?,
                Kind::Kernel => kernel_memory(threads)?,
            };
            if let Some(bytes) = grown {
                sampler.value(MEMORY, bytes as f64 / threads as f64);
            }
        }
        let start_and_join = match kind {
            Kind::User => user_threads,
            Kind::Kernel => kernel_threads,
        };
        sampler.repeat(CREATE, threads as f64, |rounds| {
            start_and_join(threads, rounds)
        })
    }
}

fn user_threads(threads: u64, rounds: u64) -> Result<(), MeasureError> {
    run(Runtime::builder(), || {
        let mut handles = Vec::with_capacity(threads as usize);
        for _ in 0..rounds {
            for _ in 0..threads {
                let handle = Builder::new().spawn(|| ());
                handles.push(handle.map_err(|error| no_room(&error))?);
            }
            for handle in handles.drain(..) {
                handle.join().expect("it does nothing");
            }
        }
        Ok(())
    })?
}

/// The error if a user thread cannot be started: the system has no room for its stack.
fn no_room(error: &SpawnError) -> MeasureError {
    let reason = error.source().map(ToString::to_string);
    let reason = reason.unwrap_or_default();
    MeasureError::Unsupported(format!(
        "no room for the stack of another user thread: {reason}"
    ))
}

fn kernel_threads(threads: u64, rounds: u64) -> Result<(), MeasureError> {
    let mut handles = Vec::with_capacity(threads as usize);
    for _ in 0..rounds {
        for _ in 0..threads {
            let handle = thread::Builder::new().spawn(|| ());
            handles.push(handle.map_err(MeasureError::system(START))?);
        }
        for handle in handles.drain(..) {
            handle.join().expect("it does nothing");
        }
    }
    Ok(())
}

/// The growth of the footprint since it was `before`.
fn grown(before: Option<u64>) -> Option<u64> {
    Some(footprint_bytes()?.saturating_sub(before?))
}

fn user_memory(threads: u64) -> Result<Option<u64>, MeasureError> {
    run(Runtime::builder(), || {
        let before = footprint_bytes();
        let mut handles = Vec::with_capacity(threads as usize);
        let start = || Builder::new().spawn(suspend);
        let all = (0..threads).try_for_each(|_| start().map(|handle| handles.push(handle)));
        // Every thread runs once, and suspends itself.
        yield_now();
        let grown = grown(before);
        for handle in handles {
            handle.thread().resume();
            handle.join().expect("it only waits");
        }
        all.map(|()| grown).map_err(|error| no_room(&error))
    })?
}

fn kernel_memory(threads: u64) -> Result<Option<u64>, MeasureError> {
    let before = footprint_bytes();
    start_together(threads as usize, || grown(before), |_| ()).map_err(MeasureError::system(START))
}

#[cfg(test)]
mod tests {
    use super::{CREATE, Create, Kind, MEMORY};
    use crate::made_up::{sampled, values};
    use crate::threads::kind::point;

    #[test]
    fn both_kinds_are_measured_here_and_a_waiting_thread_keeps_memory() {
        for kind in [Kind::User, Kind::Kernel] {
            let samples = sampled(&Create, &point(kind, 200), &[CREATE]);
            let memory = values(&samples, MEMORY);
            let is_usual = matches!(memory[..], [bytes] if (2000.0..2e6).contains(&bytes));
            assert!(is_usual, "{memory:?}");
        }
    }
}
