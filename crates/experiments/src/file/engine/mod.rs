//! `file.engine`: which way of reading gives the most reads a second, and the most bytes.

mod kind;

use super::page_cache::{CacheMetrics, record_share, warm};
use super::scratch_file::ScratchFile;
use super::{BLOCK_SIZE, By, FILE_SIZE, THROUGHPUT, file_size, like, room};
use crate::estimates::{by_ratio, ratio};
use crate::figures::{bars, lines};
use crate::judging::NEAR_BEST;
use crate::prelude::*;
use kind::{Engine, Queue, Reads};
use platform::file::{OpenMode, open_read};
use platform::usage::COUNTS_DIRECT_READS;

pub(crate) struct Engines;

const ENGINE: AxisOf<Engine> = AxisOf::new("engine", "way of reading");
pub(super) const THROUGH: AxisOf<Through> = AxisOf::new("through", "through");
const RATE: Metric = Metric::rate("rate", "reads per second").bounded(MOST_PER_SECOND);

/// The path that the data takes.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    PageCache,
    Direct,
}

/// Databases do random reads of this size.
const SMALL_BLOCK: Bytes = Bytes(4 * KIB);
/// Even a copy of one line takes a nanosecond.
const MOST_PER_SECOND: f64 = 1e9;

pub(super) const DESIGN: Design = Design {
    id: "file.engine",
    title: "Ways of reading",
    question: "Which way of reading gives the most reads a second, from the page cache and past \
               it?",
    method: "One thread reads blocks of a scratch file at random offsets drawn beforehand, in \
             several ways. pread. preadv2 with RWF_NOWAIT, which never waits, and with \
             RWF_DONTCACHE, which leaves nothing in the page cache. mmap of the whole file and a \
             copy out of it; page faults and the mapping itself are timed. io_uring with 1 to 64 \
             reads in flight: each read that ends is replaced, and all are submitted and reaped \
             in batches; also with registered buffers and file. On Windows these are overlapped \
             reads, whose ends a completion port reports. Through the page cache, the \
             whole file is in it beforehand. Direct reads (O_DIRECT) go past it, to the device. \
             `resident` is the share of the file in the page cache before, `from_storage` the \
             share that came from storage. A read that fails fails the point.",
    source: "common practice",
    axes: &[
        ENGINE.axis(),
        THROUGH.axis(),
        BLOCK_SIZE.axis(),
        FILE_SIZE.axis(),
    ],
    metrics: &[
        RATE,
        THROUGHPUT,
        CacheMetrics::PLAIN.resident,
        CacheMetrics::PLAIN.from_storage,
    ],
};

impl Experiment for Engines {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(wanted_size(setting))
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let (large, depths): (&[u64], &[u32]) = match setting.profile {
            Profile::Quick => (&[MIB], &[1, 8, 64]),
            Profile::Standard => (&[64 * KIB, MIB], &[1, 4, 16, 64]),
            Profile::Thorough => (
                &[16 * KIB, 64 * KIB, 256 * KIB, MIB],
                &[1, 2, 4, 8, 16, 32, 64],
            ),
        };
        let size = wanted_size(setting);
        let mut points = Vec::new();
        for block in [SMALL_BLOCK.0].iter().chain(large) {
            for through in Through::ALL {
                for engine in Engine::all(depths) {
                    if *through == Through::PageCache || engine.can_be_direct() {
                        let point = Point::new().at(ENGINE, engine).at(THROUGH, *through);
                        let point = point.at(BLOCK_SIZE, Bytes(*block));
                        points.push(point.at(FILE_SIZE, Bytes(size)));
                    }
                }
            }
        }
        points
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(match point.level(ENGINE).ok()? {
            Engine::Pread => like(point, By::OWN_CALLS),
            Engine::Mmap => like(point, By::VIEW),
            Engine::Ring {
                depth,
                registered: false,
            } => {
                let other = Engine::Overlapped { depth };
                like(&point.clone().at(ENGINE, other), By::QUEUES)
            }
            Engine::Overlapped { depth } => {
                let registered = false;
                let other = Engine::Ring { depth, registered };
                like(&point.clone().at(ENGINE, other), By::QUEUES)
            }
            Engine::Ring { .. } => Counterpart::Missing("Windows registers no buffers"),
            Engine::WithoutWaiting | Engine::WithoutCaching => {
                Counterpart::Missing("Windows has no such reads")
            }
        })
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let is_direct = point.level(THROUGH) == Ok(Through::Direct);
        is_direct.then_some(Component::Disk)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(len) = point.level(FILE_SIZE)?;
        let Bytes(block) = point.level(BLOCK_SIZE)?;
        let engine = point.level(ENGINE)?;
        let is_direct = point.level(THROUGH)? == Through::Direct;
        let path = sampler.scratch().join(self.id());
        let scratch = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let mode = if is_direct {
            OpenMode::Direct
        } else {
            OpenMode::Plain
        };
        let file = open_read(&path, mode)?;
        let offsets = offsets(len, block, is_direct, sampler.seed());
        let reads = Reads {
            file: &file,
            path: &path,
            len,
            block_bytes: block as usize,
            offsets: &offsets,
        };
        let mut way = reads.by(engine)?;
        let bytes = (offsets.len() as u64 * block) as f64;
        let metrics = [(RATE, offsets.len() as f64), (THROUGHPUT, bytes)];
        let (prepare, body) = (|| warm(&scratch), || way.read_all(&reads));
        if is_direct && !COUNTS_DIRECT_READS {
            let observe = |sampler: &mut Sampler<'_>| {
                record_share(sampler, CacheMetrics::PLAIN.resident, prepare()?);
                Ok(())
            };
            return sampler.once_as(&metrics, observe, body);
        }
        CacheMetrics::PLAIN.of_passes(sampler, &metrics, bytes, prepare, body)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let of_block = |block| Through::ALL.iter().map(move |through| (block, *through));
        let ways = results.levels(BLOCK_SIZE).into_iter().flat_map(of_block);
        ways.filter_map(|(block, through)| fastest(results, block, through))
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let of_block = |block: Bytes| {
            bars(
                format!("rate_{}", block.0),
                &format!("Random reads of {block} by one thread"),
                (ENGINE, RATE),
                lines(results, RATE, ENGINE, THROUGH, &[BLOCK_SIZE.at(block)]),
            )
        };
        let blocks = results.levels(BLOCK_SIZE).into_iter();
        blocks.map(of_block).collect()
    }
}

fn wanted_size(setting: &Setting) -> u64 {
    file_size(setting, 2, [64 * MIB, 256 * MIB, 1024 * MIB])
}

/// Blocks of the file in random order; fewer where each may take as long as the device does.
fn offsets(len: u64, block: u64, is_direct: bool, seed: u64) -> Vec<u64> {
    const MOST_DIRECT_BYTES: u64 = 32 * MIB;
    const MOST_DIRECT: u64 = 512;
    const MOST: u64 = 16_384;
    let most = if is_direct {
        MOST_DIRECT.min(MOST_DIRECT_BYTES / block)
    } else {
        MOST
    };
    let blocks = len / block;
    let mut random = Random::new(seed);
    (0..blocks.min(most))
        .map(|_| random.below(blocks as usize) as u64 * block)
        .collect()
}

/// The reads of `pread` a second, and those of the other ways that `is_wanted` lets in.
fn rates<'r>(
    results: &'r Results,
    (block, through): (Bytes, Through),
    is_wanted: impl Fn(Engine) -> bool,
) -> Option<(&'r Estimate, Vec<(Engine, &'r Estimate)>)> {
    let levels = [BLOCK_SIZE.at(block), THROUGH.at(through)];
    let mut rates = results.along(ENGINE, RATE, &levels);
    let (_, pread) = *rates.iter().find(|(engine, _)| *engine == Engine::Pread)?;
    rates.retain(|(engine, _)| *engine != Engine::Pread && is_wanted(*engine));
    Some((pread, rates))
}

/// The plain queue of the fewest reads in flight over which no other gains more than [`NEAR_BEST`], its rate, and the
/// rate of `pread`, in small random reads.
pub(super) fn best_queue<'r>(
    results: &'r Results,
    through: Through,
) -> Option<((Queue, &'r Estimate), &'r Estimate)> {
    let is_plain = |engine| {
        matches!(
            engine,
            Engine::Ring {
                registered: false,
                ..
            } | Engine::Overlapped { .. }
        )
    };
    let (pread, rates) = rates(results, (SMALL_BLOCK, through), is_plain)?;
    let curve = Curve::within(NEAR_BEST, &rates, Better::Higher);
    let queues = curve
        .good()
        .filter_map(|(engine, rate)| Some((engine.queue()?, rate)));
    let fewest = queues.min_by_key(|(queue, _)| queue.depth)?;
    Some((fewest, pread))
}

/// The largest block and the bandwidth of a way that is shown to be as fast as any.
pub(super) fn best_of_large<'r>(
    results: &'r Results,
    through: Through,
) -> Option<(Bytes, &'r Estimate)> {
    let block = *results.levels(BLOCK_SIZE).last()?;
    let levels = [BLOCK_SIZE.at(block), THROUGH.at(through)];
    let speeds = results.along(ENGINE, THROUGHPUT, &levels);
    let (_, speed) = Curve::of(&speeds, Better::Higher).best().ok()?;
    Some((block, speed))
}

/// The way with the most reads against plain `pread`, where one of them is faster beyond doubt.
fn fastest(results: &Results, block: Bytes, through: Through) -> Option<Finding> {
    let (place, key) = match through {
        Through::PageCache => ("from the page cache", "cache"),
        Through::Direct => ("from the device (O_DIRECT)", "direct"),
    };
    let (pread, rates) = rates(results, (block, through), |_| true)?;
    let (engine, rate) = Curve::of(&rates, Better::Higher).best().ok()?;
    let gain = ratio(rate, pread)?;
    let weight = match through {
        Through::Direct => 0.65,
        Through::PageCache => 0.45,
    };
    let engine = engine.to_string();
    let said = sentence!(
        "Of the ways other than pread, {engine} is the fastest for one thread that reads {block} \
         at random {place}: {rate}, {gain} as many as with pread."
    );
    let finding = by_ratio(&format!("{key}_{}", block.0), said, &gain);
    (finding.grade == Grade::Certain).then(|| finding.weighing(weight))
}
