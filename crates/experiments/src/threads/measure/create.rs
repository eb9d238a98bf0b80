//! Threads that do nothing, and threads that wait.

use super::super::create::{CREATE, ENOUGH, KERNEL, KIND, MEMORY, THREADS, USER};
use super::{START, run, unknown};
use crate::together::start_together;
use instrument::experiment::MeasureError;
use instrument::point::Point;
use instrument::sampler::Sampler;
use platform::memory::footprint_bytes;
use std::error::Error as _;
use std::thread;
use uthread::{Builder, Runtime, SpawnError, suspend, yield_now};

pub(in super::super) fn create(
    point: &Point,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let threads = point.number(THREADS)?;
    let is_user = match point.choice(KIND)? {
        USER => true,
        KERNEL => false,
        other => return Err(unknown("kind of threads", other)),
    };
    // First, while no stack has been used.
    if threads >= ENOUGH {
        let grown = if is_user {
            user_memory(threads)?
        } else {
            kernel_memory(threads)?
        };
        if let Some(bytes) = grown {
            sampler.value(MEMORY, bytes as f64 / threads as f64)?;
        }
    }
    let start_and_join = if is_user {
        user_threads
    } else {
        kernel_threads
    };
    sampler.repeat(CREATE, threads as f64, |rounds| {
        start_and_join(threads, rounds)
    })
}

fn user_threads(threads: u64, rounds: u64) -> Result<(), MeasureError> {
    run(Runtime::builder(), || {
        let mut handles = Vec::with_capacity(threads as usize);
        for _ in 0..rounds {
            for _ in 0..threads {
                handles.push(
                    Builder::new()
                        .spawn(|| ())
                        .map_err(|error| no_room(&error))?,
                );
            }
            for handle in handles.drain(..) {
                handle.join().expect("it does nothing");
            }
        }
        Ok(())
    })?
}

/// Why a user thread could not be started: the system has no room for its stack.
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

/// What the footprint has grown by since it was `before`.
fn grown(before: Option<u64>) -> Option<u64> {
    Some(footprint_bytes()?.saturating_sub(before?))
}

fn user_memory(threads: u64) -> Result<Option<u64>, MeasureError> {
    run(Runtime::builder(), || {
        let before = footprint_bytes();
        let mut handles = Vec::with_capacity(threads as usize);
        let start = || Builder::new().spawn(suspend);
        let all = (0..threads).try_for_each(|_| start().map(|handle| handles.push(handle)));
        // All have their turn, and stop.
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
