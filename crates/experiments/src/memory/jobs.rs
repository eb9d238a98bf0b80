//! Passes over memory by several threads at the same time, for `memory.parallel` and
//! `memory.nodes`.

use crate::prelude::*;
use crate::together::Gate;
use kernels::InstructionSet;
use platform::memory::{Mapping, PageSize};
use platform::placement::pin_to;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

pub(super) const READ: Metric<&str> = bandwidth("read");
pub(super) const WRITE: Metric<&str> = bandwidth("write");
pub(super) const COPY: Metric<&str> = bandwidth("copy");

/// Two registers of 64 bytes a cycle at 8 GHz, on each core.
const MOST_BYTES_PER_SECOND_AND_CORE: f64 = 128.0 * 8e9;
/// More cores than any machine has.
const MOST_CORES: f64 = 4096.0;

const fn bandwidth(name: &'static str) -> Metric<&'static str> {
    Metric::bandwidth(name, name).bounded(MOST_BYTES_PER_SECOND_AND_CORE * MOST_CORES)
}

/// The work of a pass.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    Read,
    Write,
    /// One half of each block to the other.
    Copy,
}

/// Stands for the index of a job when there are no more.
const NO_MORE: usize = usize::MAX;

impl Job {
    /// The bandwidth of all threads together.
    pub(super) fn metric(self) -> Metric<&'static str> {
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
            Self::Copy => COPY,
        }
    }

    fn work(self, block: &mut [u8], word: u64) {
        let set = InstructionSet::best();
        match self {
            Self::Read => {
                black_box(set.read(black_box(block)));
            }
            Self::Write => set.write(black_box(block), word),
            Self::Copy => {
                let (target, source) = block.split_at_mut(block.len() / 2);
                black_box(target).copy_from_slice(black_box(source));
            }
        }
    }
}

/// Starts a thread on each of `cpus` with a block of `each` bytes of its own, in the memory of `node`
/// if one is given, and times each of `jobs`.
pub(super) fn run(
    sampler: &mut Sampler<'_>,
    jobs: &[Job],
    cpus: &[usize],
    each: usize,
    node: Option<usize>,
) -> Result<(), MeasureError> {
    let next_job = AtomicUsize::new(NO_MORE);
    let [begin, end] = [(); 2].map(|()| Barrier::new(cpus.len() + 1));
    let failure = Mutex::new(None);
    let gate = Gate::default();
    let seed = sampler.seed();
    let turn = |cpu| {
        let mut block = prepare(cpu, each, node)
            .map_err(|error| *failure.lock().expect("nobody panics with it") = Some(error))
            .ok();
        // All threads are ready.
        end.wait();
        loop {
            begin.wait();
            let next = next_job.load(Ordering::Relaxed);
            if next == NO_MORE {
                return;
            }
            if let Some(block) = &mut block {
                jobs[next].work(block.as_mut_slice(), seed);
            }
            end.wait();
        }
    };
    thread::scope(|scope| {
        let started = gate.start(scope, cpus.iter().copied(), &turn);
        started.map_err(MeasureError::system("start a thread"))?;
        gate.open();
        end.wait();
        let outcome = match failure.lock().expect("nobody panics with it").take() {
            Some(error) => Err(error.into()),
            None => jobs.iter().enumerate().try_for_each(|(index, job)| {
                next_job.store(index, Ordering::Relaxed);
                let pass = || {
                    begin.wait();
                    end.wait();
                };
                // Puts the caches into the state that every timed pass starts from.
                pass();
                let size = cpus.len() * each;
                let counted = if *job == Job::Copy { size / 2 } else { size };
                sampler.once(
                    job.metric(),
                    counted as f64,
                    |_| Ok(()),
                    || {
                        pass();
                        Ok(())
                    },
                )
            }),
        };
        next_job.store(NO_MORE, Ordering::Relaxed);
        begin.wait();
        outcome
    })
}

/// Pins the thread, and gives it memory that it has touched itself.
fn prepare(cpu: usize, len: usize, node: Option<usize>) -> platform::Result<Mapping> {
    pin_to(&[cpu])?;
    let mut block = Mapping::anonymous(len, PageSize::Base)?;
    if let Some(node) = node {
        block.bind_to_node(node)?;
    }
    block.populate()?;
    Ok(block)
}
