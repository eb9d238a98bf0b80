//! `file.rewrite_passes`: a file is read, written over and read again, in five ways.

mod findings;
mod way;

use super::FILE_SIZE;
use super::order::CHUNK_SIZE;
use super::page_cache::Chiller;
use super::scratch_file::ScratchFile;
use super::sizes::{self, KIB, MIB, by_profile, powers};
use instrument::experiment::{
    Better, Confinement, Definition, Experiment, Isolation, MeasureError, Metric,
};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Level, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use platform::file::residency;
use platform::memory::{Mapping, PageSize};
use platform::usage::storage_read_bytes;
pub(super) use way::{CALLS, CALLS_SYNC, MAPPING, STDIO};
use way::{WAYS, Way, waits};

/// A file is read, written over and read again, in five ways.
pub(crate) struct RewritePasses;

pub(super) const WAY: &str = "way";
const MEMORY: &str = "memory";
const NOT_LIMITED: &str = "not limited";

pub(super) const READ: &str = "read";
pub(super) const REWRITE: &str = "rewrite";
pub(super) const READ_AGAIN: &str = "read_again";
const KEPT: &str = "kept";
const FROM_STORAGE: &str = "from_storage";

/// The file is so many times as large as the memory that the measurement may use.
const FILE_OVER_MEMORY: u64 = 2;

impl Experiment for RewritePasses {
    fn id(&self) -> &'static str {
        "file.rewrite_passes"
    }

    fn definition(&self) -> Definition {
        let cost = |name, title| Metric::new(name, title, Unit::Nanoseconds, Better::Lower);
        let share = |name, title| Metric::new(name, title, Unit::Share, Better::Neither);
        Definition {
            id: self.id().into(),
            title: "Read, write, read".into(),
            question: "What does it cost to read a file larger than memory, to write it back \
                       changed and to read it again, by stdio, by calls and by mmap?"
                .into(),
            method: format!(
                "A cold scratch file is read from its start to its end in chunks, written over with \
                 other data, and read again; the three passes are timed apart, each per KiB. By \
                 streams of the C library (fread, fwrite, and fflush at the end of writing) with \
                 their own buffer and with none (setvbuf); by read and write, plain and with \
                 O_SYNC; and by mmap of a chunk, a copy, for writing msync, and munmap. With O_SYNC \
                 and msync every chunk waits for the device; otherwise what is written back later \
                 is not in the time, unless memory runs short: the file is {FILE_OVER_MEMORY} times \
                 as large as the memory that the process may use, page cache included, limited by a \
                 control group. Where that cannot be had, or the file would have to be smaller \
                 since each of its many chunks waits, the memory is `{NOT_LIMITED}`, and the second \
                 reading comes from the page cache. How much of the file was still in memory before \
                 the second reading, and how much of that reading came from storage, is on the \
                 record."
            ),
            source: "Report E, section 4.1".into(),
            axes: vec![
                Axis::choice(WAY, "way"),
                Axis::bytes(CHUNK_SIZE, "chunk size"),
                Axis::bytes(FILE_SIZE, "file size"),
                Axis::bytes(MEMORY, "memory"),
            ],
            metrics: vec![
                cost(READ, "read, per KiB"),
                cost(REWRITE, "written over, per KiB"),
                cost(READ_AGAIN, "read again, per KiB"),
                share(KEPT, "in the page cache before reading again"),
                share(FROM_STORAGE, "of reading again, from storage"),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let file = Bytes(largest_file(setting));
        vec![Need::Space(file), Need::Memory(file)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let largest = largest_file(setting);
        let sizes: Vec<u64> = match setting.profile {
            // The smallest that can be mapped.
            Profile::Quick => [4 * KIB, 64 * KIB, MIB].into(),
            Profile::Standard => powers(4 * KIB, 4 * MIB).collect(),
            Profile::Thorough => powers(4 * KIB, largest / 8).collect(),
        };
        let turns = by_profile(setting.profile, [64, 512, 4096]);
        let of_way = |way: &'static str| {
            sizes.iter().map(move |&size| {
                let file_size = if waits(way) {
                    largest.min(size * turns)
                } else {
                    largest
                };
                let memory = if setting.can_limit_memory && file_size == largest {
                    Level::Number(largest / FILE_OVER_MEMORY)
                } else {
                    Level::Choice(NOT_LIMITED.into())
                };
                Point::new()
                    .with(WAY, way)
                    .with(CHUNK_SIZE, size)
                    .with(FILE_SIZE, file_size)
                    .with(MEMORY, memory)
            })
        };
        WAYS.into_iter().flat_map(of_way).collect()
    }

    fn confinement(&self, point: &Point) -> Option<Confinement> {
        let memory_bytes = point.number(MEMORY).ok()?;
        Some(Confinement {
            memory_bytes,
            swap_bytes: 0,
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let len = point.number(FILE_SIZE)?;
        let path = sampler.scratch().join(format!("{} {len}", self.id()));
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let mut way = Way::open(point.choice(WAY)?, &path)?;
        let mut memory = Mapping::anonymous(point.number(CHUNK_SIZE)? as usize, PageSize::Base)?;
        memory.populate()?;
        let chunk = memory.as_mut_slice();
        let mut chiller = Chiller::new(&file.file, &path)?;
        let (mut kept, mut from_storage) = (Vec::new(), Vec::new());

        sampler.phases(len as f64 / KIB as f64, |phases| {
            chiller.chill()?;
            phases.time(&[READ], || way.read(len, chunk))?;
            kernels::change(chunk);
            phases.time(&[REWRITE], || way.write(len, chunk))?;
            kept.push(residency(&file.file)?.resident_bytes as f64 / len as f64);
            let before = storage_read_bytes();
            phases.time(&[READ_AGAIN], || way.read(len, chunk))?;
            if let (Some(before), Some(after)) = (before, storage_read_bytes()) {
                from_storage.push(after.saturating_sub(before) as f64 / len as f64);
            }
            Ok(())
        })?;
        for share in kept {
            sampler.value(KEPT, share)?;
        }
        for share in from_storage {
            sampler.value(FROM_STORAGE, share)?;
        }
        match chiller.remark() {
            Some(remark) => sampler.remark(remark),
            None => Ok(()),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

fn largest_file(setting: &Setting) -> u64 {
    sizes::file_size(
        setting,
        2,
        by_profile(setting.profile, [32 * MIB, 128 * MIB, 512 * MIB]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{count, measure, setting, values};

    #[test]
    fn every_way_makes_three_passes() {
        let scratch = scratch();
        if !can_be_cold(scratch.path()) {
            return;
        }
        for way in WAYS {
            let point = Point::new()
                .with(WAY, way)
                .with(CHUNK_SIZE, 16 * KIB)
                .with(FILE_SIZE, 256 * KIB)
                .with(MEMORY, NOT_LIMITED);
            let (samples, _) = measure(&RewritePasses, &point, scratch.path()).expect(way);
            for metric in [READ, REWRITE, READ_AGAIN] {
                assert!(count(&samples, metric) >= 1, "{way}: {metric}");
            }
            // Nothing took memory away.
            assert!(values(&samples, KEPT)[0] > 0.5, "{way}");
        }
    }

    #[test]
    fn the_file_is_larger_than_the_memory_where_that_can_be_limited() {
        let mut setting = setting(Profile::Quick);
        let points = RewritePasses.points(&setting);
        assert_eq!(points.len(), 15);
        let limits = |points: &[Point]| {
            points
                .iter()
                .filter_map(|point| RewritePasses.confinement(point))
                .count()
        };
        assert_eq!(limits(&points), 0);
        setting.can_limit_memory = true;
        let points = RewritePasses.points(&setting);
        assert!(limits(&points) >= 9);
        for point in points {
            if let Some(confinement) = RewritePasses.confinement(&point) {
                let file = point.number(FILE_SIZE).expect("it has one");
                assert!(file >= 2 * confinement.memory_bytes, "{point}");
            }
        }
    }
}
