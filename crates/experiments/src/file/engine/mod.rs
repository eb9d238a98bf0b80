//! `file.engine`: which way of reading gives the most reads a second, and the most bytes.

mod findings;
mod kind;

use super::page_cache::{Evidence, warm};
use super::scratch_file::ScratchFile;
use super::sizes::{KIB, MIB, by_profile, file_size};
use super::{BLOCK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use instrument::statistics::random::Random;
use kind::{Engine, Reads};
use platform::file::{OpenMode, open_read};

/// Which way of reading gives the most.
pub(crate) struct Engines;

pub(super) const ENGINE: &str = "engine";
pub(super) const THROUGH: &str = "through";
pub(super) const CACHE: &str = "page cache";
pub(super) const DIRECT: &str = "direct";
pub(super) const RATE: &str = "rate";
const THROUGHPUT: &str = "throughput";

/// Random reads of this size are what databases do.
pub(super) const SMALL_BLOCK: u64 = 4 * KIB;
/// Even a copy of one line takes a nanosecond.
const MOST_PER_SECOND: f64 = 1e9;

impl Experiment for Engines {
    fn id(&self) -> &'static str {
        "file.engine"
    }

    fn definition(&self) -> Definition {
        let [resident, from_storage] = Evidence::PLAIN.metrics("");
        Definition {
            id: self.id().into(),
            title: "Ways of reading".into(),
            question: "Which way of reading gives the most reads a second, out of the page cache \
                       and past it?"
                .into(),
            method: "Blocks of a scratch file are read at offsets drawn beforehand, in random order, \
                     by one thread: pread; preadv2 with RWF_NOWAIT, which never waits, and with \
                     RWF_DONTCACHE, which leaves nothing behind; mmap of the whole file and a copy \
                     out of it, page faults and the mapping itself within the time; io_uring with 1 \
                     to 64 reads under way, of which each that ends is replaced and all are handed \
                     over and taken back together, also with buffers and file registered. Through \
                     the page cache the whole file is in it beforehand; direct reads (O_DIRECT) go \
                     past it, to the device. What was resident before, and what came from storage, \
                     is on the record. A read that fails fails the point."
                .into(),
            source: "common practice".into(),
            axes: vec![
                Axis::choice(ENGINE, "way of reading"),
                Axis::choice(THROUGH, "through"),
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: vec![
                Metric::new(RATE, "reads per second", Unit::OperationsPerSecond, Better::Higher)
                    .bounded(MOST_PER_SECOND),
                Metric::new(THROUGHPUT, "throughput", Unit::BytesPerSecond, Better::Higher)
                    .bounded(MOST_BYTES_PER_SECOND),
                resident,
                from_storage,
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let file = Bytes(wanted_size(setting));
        vec![Need::Space(file), Need::Memory(file)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let large: &[u64] = by_profile(
            setting.profile,
            [
                &[MIB],
                &[64 * KIB, MIB],
                &[16 * KIB, 64 * KIB, 256 * KIB, MIB],
            ],
        );
        let size = wanted_size(setting);
        let depths: &[u32] = by_profile(
            setting.profile,
            [&[1, 8, 64], &[1, 4, 16, 64], &[1, 2, 4, 8, 16, 32, 64]],
        );
        let mut points = Vec::new();
        for block in [SMALL_BLOCK].iter().chain(large) {
            for through in [CACHE, DIRECT] {
                for engine in Engine::all(depths) {
                    if through == CACHE || engine.can_be_direct() {
                        let point = Point::new()
                            .with(ENGINE, engine.name().as_str())
                            .with(THROUGH, through);
                        points.push(point.with(BLOCK_SIZE, *block).with(FILE_SIZE, size));
                    }
                }
            }
        }
        points
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let len = point.number(FILE_SIZE)?;
        let block = point.number(BLOCK_SIZE)?;
        let engine = Engine::named(point.choice(ENGINE)?)?;
        let is_direct = point.choice(THROUGH)? == DIRECT;
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
        let mut reader = reads.reader(engine)?;
        let bytes = (offsets.len() as u64 * block) as f64;
        Evidence::PLAIN.of_passes_as(
            sampler,
            &[(RATE, offsets.len() as f64), (THROUGHPUT, bytes)],
            bytes,
            || warm(&scratch),
            || reader.read_all(),
        )
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

fn wanted_size(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [64 * MIB, 256 * MIB, 1024 * MIB]);
    file_size(setting, 2, wanted)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{count, measure, setting};
    use instrument::plan::Profile;

    #[test]
    fn every_engine_reads_or_says_why_not() {
        let scratch = scratch();
        for through in [CACHE, DIRECT] {
            for engine in Engine::all(&[1, 8]) {
                if through == DIRECT && !engine.can_be_direct() {
                    continue;
                }
                let point = Point::new()
                    .with(ENGINE, engine.name().as_str())
                    .with(THROUGH, through);
                let point = point.with(BLOCK_SIZE, SMALL_BLOCK).with(FILE_SIZE, 8 * MIB);
                match measure(&Engines, &point, scratch.path()) {
                    Ok((samples, _)) => assert!(count(&samples, RATE) >= 1, "{point}"),
                    Err(error) => {
                        assert!(engine != Engine::Pread || through == DIRECT, "{error}");
                        println!("skipped: {point}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_quick_profile_has_few_points() {
        assert!(Engines.points(&setting(Profile::Quick)).len() <= 28);
    }
}
