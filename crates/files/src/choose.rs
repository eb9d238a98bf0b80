//! The fastest way to sum a file, found on the file itself.
//!
//! Which way is fastest depends on more than a program can look up: whether the page cache holds the
//! file, and in pages of what size; what a page fault, a system call and a copy cost here. So the
//! ways are tried in turn on the first stretches of the file, whose sums count, and the rest is read
//! in the fastest of them.

use crate::lane::Lane;
use crate::sum::{Sum, SumOptions, Xor, sum_lane, sum_stream};
use crate::{Error, Method, Result, Source, Watch};
use platform::clock::now_ns;
use platform::file::residency;
use std::thread;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A smaller file is over before anything was tried.
const WORTH_TRYING_BYTES: u64 = 128 * MIB as u64;
/// From here on several threads do more than starting them costs.
const WORTH_THREADS_BYTES: u64 = 8 * MIB as u64;
/// How much of a file in the page cache each way gets.
const WARM_STRETCH_BYTES: u64 = 8 * MIB as u64;
/// How much of a file on the device: longer than what the kernel reads ahead.
const COLD_STRETCH_BYTES: u64 = 32 * MIB as u64;
/// More threads than this have not been seen to read faster.
const MOST_THREADS: usize = 16;

/// Half of the level-2 cache of common processors: what was copied there is still there when it is
/// summed.
pub const WARM_BLOCK_BYTES: usize = 256 * KIB;
/// Large enough for huge pages of the page cache to be mapped as such.
const MAPPED_BLOCK_BYTES: usize = 2 * MIB;
const COLD_BLOCK_BYTES: usize = MIB;

/// What the caller has decided already; the rest is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The method.
    pub method: Option<Method>,
    /// The size of a block, in bytes.
    pub block_bytes: Option<usize>,
    /// The number of threads.
    pub threads: Option<usize>,
}

/// How a file was summed, and why so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The way most of it was read.
    pub options: SumOptions,
    /// What led to it.
    pub reason: Reason,
}

/// What led to a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The caller left nothing open.
    AsAsked,
    /// It can only be read from start to end.
    Stream,
    /// It is too small for trying to pay.
    Small,
    /// Tried on a file that is in the page cache.
    TriedWarm,
    /// Tried on a file that is not in the page cache.
    TriedCold,
}

impl Reason {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AsAsked => "as asked",
            Self::Stream => "it has no size to divide",
            Self::Small => "it is small",
            Self::TriedWarm => "the fastest of those tried; it is in the page cache",
            Self::TriedCold => "the fastest of those tried; it is not in the page cache",
        }
    }
}

/// Sums a file in the fastest way that fits the wishes.
///
/// # Errors
/// As [`crate::sum()`].
pub fn sum_fastest(source: &Source, wishes: &Wishes, watch: &Watch<'_>) -> Result<(Sum, Choice)> {
    let Some(size) = source.size() else {
        if let Some(method) = wishes.method
            && method != Method::Read
            && source.metadata().len() > 0
        {
            return Err(Error::NoOffsets(source.path().to_owned()));
        }
        let options = wishes.over(Method::Read, WARM_BLOCK_BYTES, 1);
        let options = SumOptions {
            method: Method::Read,
            threads: 1,
            ..options
        };
        let sum = sum_stream(source, options.block_bytes, watch)?;
        let reason = Reason::Stream;
        return Ok((sum, Choice { options, reason }));
    };
    let (candidates, reason, stretch_bytes) = candidates(source, size, wishes);
    let mut trial = Trial {
        source,
        watch,
        size,
        done: 0,
        xor: Xor::default(),
    };
    let options = match candidates.as_slice() {
        [only] => *only,
        several => trial.fastest(several, stretch_bytes)?,
    };
    trial.run(&options, size)?;
    source.ensure_unchanged()?;
    let sum = Sum {
        xor: trial.xor,
        bytes: size,
    };
    Ok((sum, Choice { options, reason }))
}

impl Wishes {
    fn over(&self, method: Method, block_bytes: usize, threads: usize) -> SumOptions {
        SumOptions {
            method: self.method.unwrap_or(method),
            block_bytes: self.block_bytes.unwrap_or(block_bytes),
            threads: self.threads.unwrap_or(threads).max(1),
        }
    }
}

/// The ways worth trying, the likeliest first, and how much of the file each gets.
fn candidates(source: &Source, size: u64, wishes: &Wishes) -> (Vec<SumOptions>, Reason, u64) {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let several = processors.min(MOST_THREADS);
    let usual_threads = if size < WORTH_THREADS_BYTES {
        1
    } else {
        several
    };
    let usual = wishes.over(Method::Pread, WARM_BLOCK_BYTES, usual_threads);
    let is_open = wishes.method.is_none() || wishes.threads.is_none();
    if !is_open && wishes.block_bytes.is_some() {
        return (vec![usual], Reason::AsAsked, 0);
    }
    if size < WORTH_TRYING_BYTES {
        return (vec![usual], Reason::Small, 0);
    }
    let is_warm = residency(source.file())
        .is_ok_and(|residency| residency.resident_bytes >= residency.total_bytes / 2);
    let ways: &[(Method, usize, usize)] = if is_warm {
        &[
            (Method::Pread, WARM_BLOCK_BYTES, several),
            (Method::Mmap, MAPPED_BLOCK_BYTES, several),
            (Method::Pread, WARM_BLOCK_BYTES, 1),
            (Method::Mmap, MAPPED_BLOCK_BYTES, 1),
        ]
    } else {
        &[
            (Method::DirectUring, COLD_BLOCK_BYTES, 1),
            (Method::Direct, COLD_BLOCK_BYTES, several),
            (Method::Pread, COLD_BLOCK_BYTES, 1),
        ]
    };
    let mut options = Vec::new();
    for &(method, block_bytes, threads) in ways {
        let way = wishes.over(method, block_bytes, threads);
        if !options.contains(&way) {
            options.push(way);
        }
    }
    let (reason, least_bytes) = if is_warm {
        (Reason::TriedWarm, WARM_STRETCH_BYTES)
    } else {
        (Reason::TriedCold, COLD_STRETCH_BYTES)
    };
    // Every thread gets two blocks at least.
    let blocks = |way: &SumOptions| 2 * (way.threads * way.block_bytes) as u64;
    let stretch_bytes = options.iter().map(blocks).fold(least_bytes, u64::max);
    (options, reason, stretch_bytes)
}

/// A file of which the first part is summed.
struct Trial<'a> {
    source: &'a Source,
    watch: &'a Watch<'a>,
    size: u64,
    done: u64,
    xor: Xor,
}

impl Trial<'_> {
    /// Sums on up to `end`.
    fn run(&mut self, options: &SumOptions, end: u64) -> Result<()> {
        let lane = Lane::whole(self.done, end.min(self.size), options.block_bytes);
        let part = sum_lane(
            self.source,
            options.method,
            &lane,
            options.threads,
            self.watch,
        )?;
        self.xor.0 ^= part.0;
        self.done = lane.end;
        Ok(())
    }

    /// Tries each way on a stretch of its own. A way that this file or system does not offer is left
    /// out, and its stretch goes to the next.
    fn fastest(&mut self, ways: &[SumOptions], stretch_bytes: u64) -> Result<SumOptions> {
        let mut best: Option<(u64, SumOptions)> = None;
        let mut refusal = None;
        for way in ways {
            let end = self.done + stretch_bytes;
            let begin_ns = now_ns();
            match self.run(way, end) {
                Ok(()) => {
                    let took_ns = now_ns().saturating_sub(begin_ns);
                    if best.is_none_or(|(best_ns, _)| took_ns < best_ns) {
                        best = Some((took_ns, *way));
                    }
                }
                Err(error @ (Error::Changed { .. } | Error::Stopped)) => return Err(error),
                Err(error) => refusal = Some(error),
            }
        }
        match (best, refusal) {
            (Some((_, way)), _) => Ok(way),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(ways[0]),
        }
    }
}
