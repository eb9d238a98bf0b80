//! `file.rewrite_passes`: a file is read, written over and read again, in several ways.

mod way;

use super::page_cache::Chiller;
use super::scratch_file::ScratchFile;
use super::{By, CHUNK_SIZE, FILE_SIZE, by_profile, like, powers, room, whole_blocks};
use crate::estimates::{by_ratio, found, grade, ratio, ratio_within};
use crate::figures::{curves, lines, logarithmic};
use crate::file;
use crate::prelude::*;
use instrument::experiment::Confinement;
use platform::file::{reports_residency, residency};
use platform::usage::storage_read_bytes;
use way::{FILE_OVER_MEMORY, FROM_STORAGE, KEPT, MEMORY, Memory, NOT_LIMITED, least_memory};

pub(super) use way::{READ, READ_AGAIN, REWRITE, WAY};
pub(super) use way::{Way, map_part, move_on};

pub(crate) struct RewritePasses;

/// The chunk size at which ways are compared.
const CHUNK: Bytes = Bytes(64 * KIB);

pub(super) const DESIGN: Design = Design {
    id: "file.rewrite_passes",
    title: "Read, write, read",
    question: "What does it cost to read a file larger than memory, to write it back \
                       changed and to read it again, by stdio, by calls and by mmap?",
    method: formatcp!(
        "A cold scratch file is read from start to end in chunks, overwritten with other data, \
         and read again. The three passes are timed apart, each per KiB. There are six ways, and a mistaken one. \
         Streams of the C library (fread, fwrite, and fflush at the end of writing) with their \
         own buffer. The same with no buffer (setvbuf). read and write. read and write with \
         O_SYNC. mmap of a chunk, a copy, msync when writing, and munmap. mmap as the report's \
         listing has it: it maps offset 0 each time, copies, unmaps and moves the position by \
         lseek, so the first chunk is touched each time. Streams as the report's other listing has them: it opens \
         the file for reading, so that each fwrite fails at once and writes nothing. With O_SYNC and msync every chunk waits \
         for the device. In the other ways later writeback is not timed, unless memory runs \
         short. The file is {} times as large as the memory that the process may use, page cache \
         included, which a control group limits. Where no limit can be set, where the file is \
         smaller because each of its many chunks waits, and where the limit would not hold the \
         chunks, the memory is `{}`. The second reading then comes from the page cache. `kept` is the share of the file that was still in \
         memory before the second reading, `from_storage` the share of that reading that came \
         from storage.",
        FILE_OVER_MEMORY,
        NOT_LIMITED
    ),
    source: "Report E, section 4.1",
    axes: &[
        WAY.axis(),
        CHUNK_SIZE.open(KIB, 1 << 30).in_steps_of(KIB),
        FILE_SIZE.open(KIB, 1 << 40).in_steps_of(KIB),
        MEMORY.axis(),
    ],
    metrics: &[READ, REWRITE, READ_AGAIN, KEPT, FROM_STORAGE],
};

impl Experiment for RewritePasses {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(largest_file(setting))
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let largest = largest_file(setting);
        let sizes: Vec<u64> = match setting.profile {
            Profile::Quick => [64 * KIB, MIB].into(),
            // The smallest that no mapping shares a page with another.
            Profile::Standard => powers(4 * KIB, 4 * MIB).collect(),
            Profile::Thorough => powers(4 * KIB, largest / 8).collect(),
        };
        let turns = by_profile(setting.profile, [64, 512, 4096]);
        let of_way = |way: Way| {
            sizes.iter().map(move |&size| {
                let file_size = if way.waits() {
                    largest.min(size * turns)
                } else {
                    largest
                };
                let limit = Bytes(largest / FILE_OVER_MEMORY);
                let is_enough = limit >= least_memory(Bytes(size));
                let memory = if setting.can_limit_memory && file_size == largest && is_enough {
                    Memory::Limited(limit)
                } else {
                    Memory::NotLimited
                };
                Point::new()
                    .at(WAY, way)
                    .at(CHUNK_SIZE, Bytes(size))
                    .at(FILE_SIZE, Bytes(file_size))
                    .at(MEMORY, memory)
            })
        };
        let ways = Way::ALL.iter().copied();
        // The quick profile has no time for writes that all fail.
        let is_wanted = |way: &Way| *way != Way::StdioReadOnly || setting.profile != Profile::Quick;
        ways.filter(is_wanted).flat_map(of_way).collect()
    }

    fn confinement(&self, point: &Point) -> Option<Confinement> {
        match point.level(MEMORY).ok()? {
            Memory::Limited(Bytes(memory_bytes)) => Some(Confinement {
                memory_bytes,
                swap_bytes: 0,
            }),
            Memory::NotLimited => None,
        }
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        let by = match point.level(WAY).ok()? {
            Way::Stdio | Way::StdioUnbuffered | Way::StdioReadOnly => By::STREAM,
            Way::Calls => By::OWN_CALLS,
            Way::CallsSync => By::WAITING,
            Way::Mapping | Way::MappingOfStart => By::VIEW,
        };
        Some(like(point, by))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(len) = point.level(FILE_SIZE)?;
        let needed = least_memory(point.level(CHUNK_SIZE)?);
        if let Memory::Limited(limit) = point.level(MEMORY)?
            && limit < needed
        {
            return Err(MeasureError::Unsupported(format!(
                "chunks of this size need {needed:.3} of memory, and the limit is {limit:.3}"
            )));
        }
        whole_blocks(len, point.level(CHUNK_SIZE)?.0)?;
        let path = sampler.scratch().join(format!("{} {len}", self.id()));
        let mut file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let way = point.level(WAY)?;
        let mut memory = file::buffer(point.level(CHUNK_SIZE)?.0 as usize)?;
        let chunk = memory.as_mut_slice();
        let mut chiller = Chiller::new(&file)?;
        let is_cold = chiller.can_chill(&mut file)?;
        let mut opened = Some(way.open(&path)?);
        let (mut kept, mut from_storage) = (Vec::new(), Vec::new());

        sampler.phases(len as f64 / KIB as f64, |phases| {
            if !reports_residency() {
                // Nothing but the scratch file itself is open while it is evicted.
                opened = None;
            }
            if is_cold {
                chiller.chill(&mut file)?;
            }
            let opened = match &mut opened {
                Some(opened) => opened,
                none => none.insert(way.open(&path)?),
            };
            if is_cold {
                phases.time(&[READ], || opened.read(len, chunk))?;
            } else {
                opened.read(len, chunk)?;
            }
            kernels::change(chunk);
            phases.time(&[REWRITE], || opened.write(len, chunk))?;
            if reports_residency() {
                kept.push(residency(&file.file)?.resident_bytes as f64 / len as f64);
            }
            let before = storage_read_bytes();
            phases.time(&[READ_AGAIN], || opened.read(len, chunk))?;
            if let (Some(before), Some(after)) = (before, storage_read_bytes()) {
                from_storage.push(after.saturating_sub(before) as f64 / len as f64);
            }
            Ok(())
        })?;
        // The next point shares this process and its limit. It finds memory only if no page of the cache
        // waits for a slow device.
        let synced = file.file.sync_data();
        synced.map_err(MeasureError::system("sync the scratch file"))?;
        for share in kept {
            sampler.value(KEPT, share);
        }
        for share in from_storage {
            sampler.value(FROM_STORAGE, share);
        }
        if way == Way::StdioReadOnly {
            sampler.remark("as printed, the file is open for reading: each fwrite fails, and nothing is written");
        }
        chiller.remark_on(sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([
            second_reading(results),
            waiting(results),
            reading_by_mapping(results),
            buffer(results),
        ])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |metric, title| {
            let axes = (CHUNK_SIZE, logarithmic("time for a KiB", Unit::Nanoseconds));
            let lines = lines(results, metric, CHUNK_SIZE, WAY, &[]);
            curves(metric, title, axes, lines)
        };
        vec![
            figure(READ, "Reading a cold file"),
            figure(REWRITE, "Writing over it"),
            figure(READ_AGAIN, "Reading it again"),
        ]
    }
}

fn largest_file(setting: &Setting) -> u64 {
    file::file_size(setting, 2, [32 * MIB, 128 * MIB, 512 * MIB])
}

fn at<'r>(results: &'r Results, metric: Metric, way: Way, chunk: Bytes) -> Option<&'r Estimate> {
    results.sound(metric, &[WAY.at(way), CHUNK_SIZE.at(chunk)])
}

/// True if the memory that the process might use was limited, and so smaller than its file.
pub(super) fn is_larger_than_memory(point: &Point) -> bool {
    matches!(point.level(MEMORY), Ok(Memory::Limited(_)))
}

/// The second reading against the first, where they differ: dirty pages may make it slower, pages that are
/// still in memory faster.
fn second_reading(results: &Results) -> Option<Finding> {
    let of = |metric| at(results, metric, Way::Calls, CHUNK);
    let (second, first) = (of(READ_AGAIN)?, of(READ)?);
    let kept = of(KEPT)?;
    let times = ratio_within(second, first)?;
    let said = sentence!(
        "After an uncached file was read and overwritten, reading it again takes {times} as long as at \
         first, with {kept} of it still in the page cache."
    );
    let finding = by_ratio("second_reading", said, &times);
    (finding.grade == Grade::Certain).then(|| finding.weighing(0.4))
}

fn waiting(results: &Results) -> Option<Finding> {
    let of = |way| at(results, REWRITE, way, CHUNK);
    let plain = of(Way::Calls)?;
    let times = ratio(of(Way::CallsSync)?, plain)?;
    let mapped = ratio(of(Way::Mapping)?, plain)?;
    let said = sentence!(
        "Overwriting a file in chunks of 64 KiB takes {times} as long with O_SYNC, and {mapped} as \
         long through mmap with msync, as with write alone."
    );
    let grade = grade(&times, 1.0).max(grade(&mapped, 1.0));
    let finding = Finding::new("waiting", said).graded(grade);
    Some(finding.weighing(0.55))
}

fn reading_by_mapping(results: &Results) -> Option<Finding> {
    let of = |way| at(results, READ, way, CHUNK);
    let (calls, mapped) = (of(Way::Calls)?, of(Way::Mapping)?);
    let times = ratio(mapped, calls)?;
    let said = sentence!(
        "Reading an uncached file in chunks of 64 KiB takes {times} as long through mmap of each chunk \
         as with read."
    );
    // Of files of different sizes, different parts lie in the caches.
    let file_size = |way| {
        let found = results.at(&[WAY.at(way), CHUNK_SIZE.at(CHUNK)])?;
        found.point.level(FILE_SIZE).ok()
    };
    let is_same_file = file_size(Way::Mapping) == file_size(Way::Calls);
    let grade = match grade(&times, 1.0) {
        Grade::Certain if !is_same_file => Grade::Likely,
        grade => grade,
    };
    Some(Finding::new("mapping", said).graded(grade).weighing(0.45))
}

/// The cost of streams over calls, at the smallest chunk, where there is one.
fn buffer(results: &Results) -> Option<Finding> {
    let curve = results.along(CHUNK_SIZE, REWRITE, &[WAY.at(Way::Stdio)]);
    let (chunk, buffered) = *curve.first()?;
    let times = ratio(buffered, at(results, REWRITE, Way::Calls, chunk)?)?;
    let said = sentence!(
        "Overwriting a file in chunks of {chunk} takes {times} as long with fwrite as with write."
    );
    let finding = by_ratio("buffer", said, &times);
    (finding.grade == Grade::Certain).then(|| finding.weighing(0.4))
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
        for &way in Way::ALL {
            let point = Point::new().at(WAY, way).at(CHUNK_SIZE, Bytes(16 * KIB));
            let point = point.at(FILE_SIZE, Bytes(256 * KIB));
            let point = point.at(MEMORY, Memory::NotLimited);
            let measured = measure(&RewritePasses, &point, scratch.path());
            let (samples, remarks) = measured.unwrap_or_else(|error| panic!("{way}: {error}"));
            for metric in [READ, REWRITE, READ_AGAIN] {
                assert!(count(&samples, metric) >= 1, "{way}: {metric:?}");
            }
            // Nothing took memory away.
            assert!(values(&samples, KEPT)[0] > 0.5, "{way}");
            let is_remarked = remarks.iter().any(|remark| remark.contains("fwrite fails"));
            assert_eq!(is_remarked, way == Way::StdioReadOnly);
        }
    }

    #[test]
    fn the_file_is_larger_than_the_memory_where_that_can_be_limited() {
        let mut setting = setting(Profile::Quick);
        let points = RewritePasses.points(&setting);
        assert_eq!(points.len(), 12);
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
                let Bytes(file) = point.level(FILE_SIZE).expect("it has one");
                assert!(file >= 2 * confinement.memory_bytes, "{point}");
            }
        }
    }
}
