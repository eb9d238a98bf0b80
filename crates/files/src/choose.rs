//! The fastest way to sum a file, found on the file itself.
//!
//! Which way is fastest depends on more than a program can look up: whether the page cache holds the
//! file, and in pages of what size; what a page fault, a system call and a copy cost here. So the
//! ways are tried in turn on the first stretches of the file, whose sums count, and the rest is read
//! in the fastest of them.

use crate::lane::Lane;
use crate::sum::{Sum, SumOptions, Xor, sum_lane, sum_stream};
use crate::{Error, Method, Result, Source, Watch};
use platform::file::residency;
use std::thread;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A smaller file is over before anything was tried.
const WORTH_TRYING_BYTES: u64 = 128 * MIB as u64;
/// From here on several threads do more than starting them costs.
const WORTH_THREADS_BYTES: u64 = 8 * MIB as u64;
/// A stretch of a file in the page cache is at least this long,
const WARM_STRETCH_BYTES: u64 = 8 * MIB as u64;
/// and this share of a large one: enough that chance decides little, and so little that slow ways
/// cost little,
const WARM_SHARE: u64 = 64;
/// but no longer than this.
const LONGEST_WARM_STRETCH_BYTES: u64 = 128 * MIB as u64;
/// Stretches of a file in the page cache that each way gets: it is judged by its best, since the
/// cache may hold the beginning of a file in smaller pages than the rest.
const WARM_ROUNDS: usize = 2;
/// How much of a file on the device: longer than what the kernel reads ahead.
const COLD_STRETCH_BYTES: u64 = 32 * MIB as u64;
/// More threads than this have not been seen to read faster.
const MOST_THREADS: usize = 16;

/// Half of the level-2 cache of common processors: what was copied there is still there when it is
/// summed.
pub const WARM_BLOCK_BYTES: usize = 256 * KIB;
/// Several huge pages, so that those of the page cache are mapped as such, and mapping costs little
/// beside what is mapped.
const MAPPED_BLOCK_BYTES: usize = 8 * MIB;
const DIRECT_BLOCK_BYTES: usize = MIB;

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
        let options = wishes.over(Method::Read, 1);
        let options = SumOptions {
            method: Method::Read,
            threads: 1,
            ..options
        };
        let sum = sum_stream(source, options.block_bytes, watch)?;
        let reason = Reason::Stream;
        return Ok((sum, Choice { options, reason }));
    };
    let Candidates {
        ways,
        reason,
        stretch_bytes,
        rounds,
    } = candidates(source, size, wishes);
    let mut trial = Trial {
        source,
        watch,
        size,
        done: 0,
        xor: Xor::default(),
    };
    let options = match ways.as_slice() {
        [only] => *only,
        several => trial.fastest(several, stretch_bytes, rounds)?,
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
    fn over(&self, method: Method, threads: usize) -> SumOptions {
        let method = self.method.unwrap_or(method);
        SumOptions {
            method,
            block_bytes: self.block_bytes.unwrap_or(good_block_bytes(method)),
            threads: self.threads.unwrap_or(threads).max(1),
        }
    }
}

const fn good_block_bytes(method: Method) -> usize {
    match method {
        Method::Read | Method::Pread | Method::Stdio | Method::Uring => WARM_BLOCK_BYTES,
        Method::Mmap => MAPPED_BLOCK_BYTES,
        Method::Direct | Method::DirectUring => DIRECT_BLOCK_BYTES,
    }
}

/// The ways worth trying.
struct Candidates {
    /// The likeliest first.
    ways: Vec<SumOptions>,
    reason: Reason,
    /// How much of the file each gets in a round.
    stretch_bytes: u64,
    rounds: usize,
}

impl Candidates {
    fn only(way: SumOptions, reason: Reason) -> Self {
        Self {
            ways: vec![way],
            reason,
            stretch_bytes: 0,
            rounds: 0,
        }
    }
}

fn candidates(source: &Source, size: u64, wishes: &Wishes) -> Candidates {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let several = processors.min(MOST_THREADS);
    let usual_threads = if size < WORTH_THREADS_BYTES {
        1
    } else {
        several
    };
    let usual = wishes.over(Method::Pread, usual_threads);
    let is_open = wishes.method.is_none() || wishes.threads.is_none();
    if !is_open && wishes.block_bytes.is_some() {
        return Candidates::only(usual, Reason::AsAsked);
    }
    if size < WORTH_TRYING_BYTES {
        return Candidates::only(usual, Reason::Small);
    }
    let is_warm = residency(source.file())
        .is_ok_and(|residency| residency.resident_bytes >= residency.total_bytes / 2);
    let ways: &[(Method, usize)] = if is_warm {
        &[
            (Method::Pread, several),
            (Method::Mmap, several),
            (Method::Pread, 1),
            (Method::Mmap, 1),
        ]
    } else {
        &[
            (Method::DirectUring, 1),
            (Method::Direct, several),
            (Method::Pread, 1),
        ]
    };
    let mut options = Vec::new();
    for &(method, threads) in ways {
        let way = wishes.over(method, threads);
        if !options.contains(&way) {
            options.push(way);
        }
    }
    let (reason, wanted_bytes, rounds) = if is_warm {
        let share_bytes = size / WARM_SHARE;
        let wanted_bytes = share_bytes.clamp(WARM_STRETCH_BYTES, LONGEST_WARM_STRETCH_BYTES);
        (Reason::TriedWarm, wanted_bytes, WARM_ROUNDS)
    } else {
        (Reason::TriedCold, COLD_STRETCH_BYTES, 1)
    };
    // Every way does whole blocks, and every thread as many of them.
    let blocks = |way: &SumOptions| (way.threads * way.block_bytes) as u64;
    let unit_bytes = options.iter().map(blocks).max().unwrap_or(1).max(1);
    Candidates {
        ways: options,
        reason,
        stretch_bytes: wanted_bytes.next_multiple_of(unit_bytes),
        rounds,
    }
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
    /// Sums on up to `end`, and tells how long the busiest thread took.
    fn run(&mut self, options: &SumOptions, end: u64) -> Result<u64> {
        let lane = Lane::whole(self.done, end.min(self.size), options.block_bytes);
        let part = sum_lane(
            self.source,
            options.method,
            &lane,
            options.threads,
            self.watch,
        )?;
        self.xor.0 ^= part.xor.0;
        self.done = lane.end;
        Ok(part.busy_ns)
    }

    /// Tries each way on stretches of its own, forth and back, and takes the one with the fastest
    /// stretch. A way that this file or system does not offer is left out, and its stretch goes to
    /// the next. Where the file ends before all were tried, those that were not are not chosen.
    fn fastest(
        &mut self,
        ways: &[SumOptions],
        stretch_bytes: u64,
        rounds: usize,
    ) -> Result<SumOptions> {
        let mut best: Option<(u64, SumOptions)> = None;
        let mut refusal = None;
        for round in 0..rounds {
            let mut order = ways.to_vec();
            if round % 2 == 1 {
                order.reverse();
            }
            for way in order {
                let end = self.done.saturating_add(stretch_bytes);
                // A shorter stretch would look faster than it is.
                if end > self.size {
                    break;
                }
                match self.run(&way, end) {
                    Ok(took_ns) if best.is_none_or(|(best_ns, _)| took_ns < best_ns) => {
                        best = Some((took_ns, way));
                    }
                    Ok(_) => {}
                    Err(error @ (Error::Changed { .. } | Error::Stopped)) => return Err(error),
                    Err(error) => refusal = Some(error),
                }
            }
        }
        match (best, refusal) {
            (Some((_, way)), _) => Ok(way),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(ways[0]),
        }
    }
}
