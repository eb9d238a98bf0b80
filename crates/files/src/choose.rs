//! Finds the fastest method to sum a file by trying the methods on the file itself.
//!
//! The fastest method depends on more than a program can look up: the state of the page cache, its
//! page sizes, and the cost of a page fault, a system call and a copy on this machine. So each
//! candidate sums one of the first sections of the file, and the fastest candidate sums the rest.
//! The sums of the trials count.

use crate::lane::Lane;
use crate::sum::{Sum, SumOptions, Xor, sum_lane, sum_stream};
use crate::{Error, Method, Result, Source, Watch};
use platform::file::residency;
use std::thread;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A smaller file is finished before the trials would be.
const WORTH_TRYING_BYTES: u64 = 128 * MIB as u64;
/// From this size on, several threads save more than their start costs.
const WORTH_THREADS_BYTES: u64 = 8 * MIB as u64;
/// Minimum length of a section of a file in the page cache.
const WARM_SECTION_BYTES: u64 = 8 * MIB as u64;
/// A section of a large file in the page cache is one part in this many: long enough to limit noise,
/// and short enough that slow candidates cost little.
const WARM_SHARE: u64 = 64;
/// Maximum length of a section of a file in the page cache.
const LONGEST_WARM_SECTION_BYTES: u64 = 128 * MIB as u64;
/// Sections that each candidate gets of a file in the page cache. Its best section counts, since
/// the start of a file may lie in smaller pages than the rest.
const WARM_ROUNDS: usize = 2;
/// Length of a section of a file on the device: longer than the kernel's read-ahead.
const COLD_SECTION_BYTES: u64 = 32 * MIB as u64;
/// More threads have not been observed to read faster.
const MOST_THREADS: usize = 16;

/// Half of the L2 cache of common processors: a block is still in that cache when it is summed
/// after the copy.
pub const WARM_BLOCK_BYTES: usize = 256 * KIB;
/// Several huge pages. So huge pages of the page cache are mapped as such, and the mapping costs
/// little compared to reading it.
const MAPPED_BLOCK_BYTES: usize = 8 * MIB;
const DIRECT_BLOCK_BYTES: usize = MIB;

/// The options that the caller fixed; the search finds the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The method.
    pub method: Option<Method>,
    /// The size of a block, in bytes.
    pub block_bytes: Option<usize>,
    /// The number of threads.
    pub threads: Option<usize>,
}

/// The options of a sum, and the reason for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The options for most of the file.
    pub options: SumOptions,
    /// The reason, as words.
    pub reason: &'static str,
}

/// Sums a file with the fastest method that the caller's options allow.
pub fn sum_fastest(source: &Source, wishes: &Wishes, watch: &Watch<'_>) -> Result<(Sum, Choice)> {
    let Some(size) = source.size_from_start() else {
        if wishes.method.is_some_and(|method| method != Method::Read) {
            return Err(Error::NoOffsets(source.path().to_owned()));
        }
        let options = wishes.over(Method::Read, 1);
        let options = SumOptions {
            method: Method::Read,
            threads: 1,
            ..options
        };
        let sum = sum_stream(source, options.block_bytes, watch)?;
        let reason = "it has no size to divide";
        return Ok((sum, Choice { options, reason }));
    };
    let Candidates {
        ways,
        reason,
        section_bytes,
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
        several => trial.fastest(several, section_bytes, rounds)?,
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

/// The size of a block, in bytes, that reads fast by a method on most machines.
pub const fn good_block_bytes(method: Method) -> usize {
    match method {
        Method::Read | Method::Pread | Method::Stdio | Method::Uring => WARM_BLOCK_BYTES,
        Method::Mmap => MAPPED_BLOCK_BYTES,
        Method::Direct | Method::DirectUring => DIRECT_BLOCK_BYTES,
    }
}

/// The candidates for the trials.
struct Candidates {
    /// The likeliest candidate first.
    ways: Vec<SumOptions>,
    reason: &'static str,
    /// Length of the section that each candidate sums in a round.
    section_bytes: u64,
    rounds: usize,
}

impl Candidates {
    fn only(way: SumOptions, reason: &'static str) -> Self {
        Self {
            ways: vec![way],
            reason,
            section_bytes: 0,
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
        return Candidates::only(usual, "as asked");
    }
    if size < WORTH_TRYING_BYTES {
        return Candidates::only(usual, "it is small");
    }
    let is_warm = residency(source.file())
        .is_ok_and(|residency| residency.resident_bytes >= residency.total_bytes / 2);
    let (tried, reason, wanted_bytes, rounds) = if is_warm {
        let share_bytes = size / WARM_SHARE;
        (
            vec![
                (Method::Pread, several),
                (Method::Mmap, several),
                (Method::Pread, 1),
                (Method::Mmap, 1),
            ],
            "the fastest of those tried; it is in the page cache",
            share_bytes.clamp(WARM_SECTION_BYTES, LONGEST_WARM_SECTION_BYTES),
            WARM_ROUNDS,
        )
    } else {
        (
            vec![
                (Method::DirectUring, 1),
                (Method::Direct, several),
                (Method::Pread, 1),
            ],
            "the fastest of those tried; it is not in the page cache",
            COLD_SECTION_BYTES,
            1,
        )
    };
    let mut ways = Vec::new();
    for (method, threads) in tried {
        let way = wishes.over(method, threads);
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    // Each candidate sums whole blocks, and all of its threads the same number of them.
    let blocks = |way: &SumOptions| (way.threads as u64).saturating_mul(way.block_bytes as u64);
    let unit_bytes = ways.iter().map(blocks).max().unwrap_or(1).max(1);
    Candidates {
        ways,
        reason,
        section_bytes: wanted_bytes.div_ceil(unit_bytes).saturating_mul(unit_bytes),
        rounds,
    }
}

/// A file whose first part is summed already.
struct Trial<'a> {
    source: &'a Source,
    watch: &'a Watch<'a>,
    size: u64,
    done: u64,
    xor: Xor,
}

impl Trial<'_> {
    /// Sums on to `end`, and returns the time of the slowest thread in ns.
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

    /// Tries each candidate on its own sections, in ascending and then in descending order, and
    /// returns the candidate with the fastest section. A candidate that this file or system does
    /// not support is dropped, and the next one gets its section. If the file ends early, untried
    /// candidates are not chosen.
    fn fastest(
        &mut self,
        ways: &[SumOptions],
        section_bytes: u64,
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
                let end = self.done.saturating_add(section_bytes);
                // A shorter section would look faster than it is.
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
