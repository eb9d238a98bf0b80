//! Passes over memory by several threads at the same time, for `memory.parallel`, `memory.nodes` and
//! `memory.loaded`.

use super::{MOST_BYTES_PER_SECOND, SHARE_OF_MEMORY, hierarchy};
use crate::prelude::*;
use crate::together::on_cpus;
use kernels::InstructionSet;
use platform::machine::Machine;
use platform::memory::{Mapping, PageSize, available_bytes};
use std::hint::black_box;

pub(super) const READ: Metric = bandwidth("read");
pub(super) const WRITE: Metric = bandwidth("write");
pub(super) const COPY: Metric = bandwidth("copy");

/// More cores than any machine has.
const MOST_CORES: f64 = 4096.0;

/// A bandwidth of several threads together.
pub(super) const fn bandwidth(name: &'static str) -> Metric {
    Metric::bandwidth(name, name).bounded(MOST_BYTES_PER_SECOND * MOST_CORES)
}

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    Read,
    Write,
    /// One half of each block to the other.
    Copy,
}

impl Job {
    /// The bandwidth of all threads together.
    pub(super) fn metric(self) -> Metric {
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
            Self::Copy => COPY,
        }
    }

    /// The bytes that count of a pass over `len` bytes.
    pub(super) fn counted(self, len: usize) -> usize {
        match self {
            Self::Read | Self::Write => len,
            Self::Copy => len / 2,
        }
    }

    /// Makes one pass over `block`.
    pub(super) fn work(self, block: &mut [u8], word: u64) {
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

/// All blocks together: no cache may hold a good part of them.
const AT_LEAST: u64 = 256 * MIB;
const AT_MOST: u64 = 8192 * MIB;

/// Bytes of the block of each of `threads`, a multiple of `unit`: together four times as many as their caches have,
/// unless there is too little memory.
pub(super) fn block_bytes(machine: &Machine, threads: usize, unit: usize) -> usize {
    let wanted = (4 * hierarchy::bytes_for(machine, threads)).clamp(AT_LEAST, AT_MOST);
    let available = available_bytes().unwrap_or(AT_LEAST);
    let all = wanted.min(available / SHARE_OF_MEMORY) as usize;
    (all / threads / unit).max(1) * unit
}

/// Starts a thread on each of `cpus` with its own block of `each` bytes, in the memory of `node`
/// if one is given, and times each of `jobs`.
pub(super) fn run(
    sampler: &mut Sampler<'_>,
    jobs: &[Job],
    cpus: &[usize],
    each: usize,
    node: Option<usize>,
) -> Result<(), MeasureError> {
    let seed = sampler.seed();
    let work = |block: &mut Mapping, job: Job| {
        job.work(block.as_mut_slice(), seed);
        Ok(())
    };
    on_cpus(
        cpus,
        |_| prepare(each, node),
        work,
        |pass| {
            jobs.iter().try_for_each(|job| {
                // Puts the caches into the state that every timed pass starts from.
                pass(*job)?;
                let counted = job.counted(cpus.len() * each) as f64;
                sampler.once(job.metric(), counted, |_| Ok(()), || pass(*job))
            })
        },
    )
}

/// Memory that the calling thread has touched itself.
fn prepare(len: usize, node: Option<usize>) -> Result<Mapping, MeasureError> {
    let mut block = Mapping::anonymous(len, PageSize::Base)?;
    if let Some(node) = node {
        block.bind_to_node(node)?;
    }
    block.populate()?;
    Ok(block)
}
