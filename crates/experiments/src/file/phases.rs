//! `file.phases`: where the time goes when every byte of a file is changed in place.

use super::FILE_SIZE;
use super::page_cache;
use super::scratch_file::ScratchFile;
use super::sizes::{KIB, MIB, by_profile, powers};
use crate::estimates::{WithEstimate, estimated, grade, known, ratio, ratio_within};
use crate::figures::{curves, logarithmic};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use platform::file::{Access, LockedFile, OpenMode, open_read_write};
use platform::machine::Machine;
use platform::memory::{FileMapping, Mapping, PageSize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Where the time goes when every byte of a file is changed in place.
pub(crate) struct PhaseByPhase;

pub(super) const BUFFER_SIZE: &str = "buffer_size";

const MAP: &str = "map";
const MAP_LOOP: &str = "map_loop";
const UNMAP: &str = "unmap";
pub(super) const MAP_TOTAL: &str = "map_total";
const MAP_SYNC: &str = "map_sync";
const READ: &str = "read";
const LOOP: &str = "loop";
const WRITE: &str = "write";
pub(super) const TOTAL: &str = "total";

/// Each metric and its title, in the order of the report's columns.
const METRICS: [(&str, &str); 9] = [
    (MAP, "mmap"),
    (MAP_LOOP, "loop over the mapping"),
    (UNMAP, "munmap"),
    (MAP_TOTAL, "all by mmap"),
    (READ, "read"),
    (LOOP, "loop over the buffer"),
    (WRITE, "lseek back and write"),
    (TOTAL, "all by read and write"),
    (MAP_SYNC, "fsync after all by mmap"),
];

/// A buffer of a page, in which the report's two ways differ most plainly.
const PAGE: u64 = 4 * KIB;

impl Experiment for PhaseByPhase {
    fn id(&self) -> &'static str {
        "file.phases"
    }

    fn definition(&self) -> Definition {
        let cost = |(name, title): (&str, &str)| {
            let title = format!("{title}, per KiB");
            Metric::new(name, &title, Unit::Nanoseconds, Better::Lower)
        };
        Definition {
            id: self.id().into(),
            title: "Read and write against mmap, phase by phase".into(),
            question: "Where does the time go when every byte of a file is changed in place: in \
                       fetching, computing or putting back?"
                .into(),
            method: "Every byte b of a scratch file becomes (b + 5) % 250, buffer by buffer, in a \
                     file opened with O_SYNC: by read, the loop, lseek back and write; and by mmap \
                     of the buffer's part of the file, the loop over it, and munmap. Each phase is \
                     timed apart at every turn, the cost of reading the clock is taken off, and the \
                     times of a phase are added up; each is told per KiB of the file, so that \
                     buffers compare. The two totals are the sums of their phases. A write to a \
                     file opened with O_SYNC waits for the device; munmap does not, whatever the \
                     file was opened with: what reaches the device later is timed as one fsync at \
                     the end, apart from the total. Buffers smaller than a page are mapped with the \
                     page that holds them. The file is in the page cache and on the device when a \
                     pass starts; for small buffers it is smaller, since each write waits."
                .into(),
            source: "Report E, section 4.3".into(),
            axes: vec![
                Axis::bytes(BUFFER_SIZE, "buffer size"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: METRICS.map(cost).into(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let largest = largest_buffer(setting);
        vec![
            Need::Space(Bytes(2 * largest)),
            Need::Memory(Bytes(4 * largest)),
        ]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let largest = largest_buffer(setting);
        let sizes: Vec<u64> = match setting.profile {
            Profile::Quick => [KIB, PAGE, 16 * KIB, 64 * KIB, MIB, 8 * MIB, largest].into(),
            Profile::Standard | Profile::Thorough => powers(KIB, largest).collect(),
        };
        let turns = by_profile(setting.profile, [64, 256, 1024]);
        sizes
            .into_iter()
            .map(|size| {
                let file_size =
                    (size * turns).min(by_profile(setting.profile, [8 * MIB, 64 * MIB, 256 * MIB]));
                Point::new()
                    .with(BUFFER_SIZE, size)
                    .with(FILE_SIZE, file_size.max(size))
            })
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let buffer_size = point.number(BUFFER_SIZE)?;
        let len = point.number(FILE_SIZE)?;
        let path = sampler.scratch().join(format!("{} {len}", self.id()));
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        by_read_and_write(sampler, &file, buffer_size)?;
        by_mapping(sampler, &file, buffer_size)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let shares = [BY_CALLS, BY_MAPPING].map(|way| shares(results, &way));
        shares
            .into_iter()
            .chain([without_waiting(results), best_buffer(results)])
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |key: &str, title: &str, metrics: &[&str]| {
            let label = |metric: &str| {
                let known = METRICS.iter().find(|(name, _)| *name == metric);
                known.map_or("", |(_, title)| title)
            };
            let lines = metrics
                .iter()
                .map(|metric| results.series(label(metric), metric, BUFFER_SIZE, &[]));
            curves(
                key,
                title,
                (
                    logarithmic("buffer size", Unit::Bytes),
                    logarithmic("time for a KiB", Unit::Nanoseconds),
                ),
                lines.collect(),
                Vec::new(),
            )
        };
        vec![
            figure(
                "totals",
                "Changing a file in place",
                &[TOTAL, MAP_TOTAL, MAP_SYNC],
            ),
            figure("calls", "By read and write", &[READ, LOOP, WRITE]),
            figure("mapping", "By mmap", &[MAP, MAP_LOOP, UNMAP]),
        ]
    }
}

fn largest_buffer(setting: &Setting) -> u64 {
    // A buffer, the file and the loop's work on both.
    let room = u64::min(setting.free_bytes, setting.available_bytes) / 8;
    let fitting = room.checked_ilog2().map_or(MIB, |exponent| 1 << exponent);
    fitting.clamp(16 * MIB, 64 * MIB)
}

/// Opens the file anew so that its writes wait.
fn open_synchronous(path: &Path) -> Result<File, MeasureError> {
    Ok(open_read_write(path, OpenMode::Synchronous)?)
}

fn kibibytes(file: &ScratchFile) -> f64 {
    file.len as f64 / KIB as f64
}

fn by_read_and_write(
    sampler: &mut Sampler<'_>,
    file: &ScratchFile,
    buffer_size: u64,
) -> Result<(), MeasureError> {
    let mut synchronous = open_synchronous(&file.path)?;
    let mut memory = Mapping::anonymous(buffer_size as usize, PageSize::Base)?;
    memory.populate()?;
    let buffer = memory.as_mut_slice();
    sampler.phases(kibibytes(file), |phases| {
        start_clean(file)?;
        synchronous
            .seek(SeekFrom::Start(0))
            .map_err(MeasureError::system("wind back the scratch file"))?;
        for offset in (0..file.len).step_by(buffer_size as usize) {
            phases.time(&[READ, TOTAL], || {
                let read = synchronous.read_exact(buffer);
                read.map_err(MeasureError::system("read the scratch file"))
            })?;
            phases.time(&[LOOP, TOTAL], || {
                kernels::change(buffer);
                Ok(())
            })?;
            phases.time(&[WRITE, TOTAL], || {
                let back = synchronous.seek(SeekFrom::Start(offset));
                back.and_then(|_| synchronous.write_all(buffer))
                    .map_err(MeasureError::system("write the scratch file"))
            })?;
        }
        Ok(())
    })
}

fn by_mapping(
    sampler: &mut Sampler<'_>,
    file: &ScratchFile,
    buffer_size: u64,
) -> Result<(), MeasureError> {
    let page_bytes = Machine::read().page_bytes.unwrap_or(PAGE);
    let mut locked = LockedFile::lock(open_synchronous(&file.path)?, Access::Write)?;
    sampler.phases(kibibytes(file), |phases| {
        start_clean(file)?;
        for offset in (0..file.len).step_by(buffer_size as usize) {
            let before = offset % page_bytes;
            let len = (before + buffer_size) as usize;
            let mut mapping = phases.time(&[MAP, MAP_TOTAL], || {
                Ok(FileMapping::new(&mut locked, offset - before, len)?)
            })?;
            let bytes = mapping
                .as_mut_slice()
                .expect("the file is locked for writing");
            let bytes = &mut bytes[before as usize..];
            phases.time(&[MAP_LOOP, MAP_TOTAL], || {
                kernels::change(bytes);
                Ok(())
            })?;
            mapping.ensure_whole()?;
            phases.time(&[UNMAP, MAP_TOTAL], || {
                drop(mapping);
                Ok(())
            })?;
        }
        phases.time(&[MAP_SYNC], || {
            let synced = locked.file().sync_all();
            synced.map_err(MeasureError::system("synchronise the scratch file"))
        })
    })
}

/// In the page cache, and nothing of it still to be written.
fn start_clean(file: &ScratchFile) -> Result<(), MeasureError> {
    file.file
        .sync_all()
        .map_err(MeasureError::system("synchronise the scratch file"))?;
    page_cache::warm(file).map(drop)
}

/// The metrics of one way through the file.
struct Way {
    key: &'static str,
    name: &'static str,
    fetch: &'static str,
    compute: &'static str,
    put_back: &'static str,
    total: &'static str,
}

const BY_CALLS: Way = Way {
    key: "shares_calls",
    name: "read and write",
    fetch: READ,
    compute: LOOP,
    put_back: WRITE,
    total: TOTAL,
};

const BY_MAPPING: Way = Way {
    key: "shares_mapping",
    name: "mmap",
    fetch: MAP,
    compute: MAP_LOOP,
    put_back: UNMAP,
    total: MAP_TOTAL,
};

fn at<'r>(results: &'r Results, metric: &str, buffer: u64) -> Option<&'r Estimate> {
    let estimate = results
        .at(&[(BUFFER_SIZE, buffer.into())])?
        .estimate(metric)?;
    estimate.is_sound().then_some(estimate)
}

fn shares(results: &Results, way: &Way) -> Option<Finding> {
    let total = at(results, way.total, PAGE)?;
    let share = |metric| ratio_within(at(results, metric, PAGE)?, total);
    let (fetch, compute, put_back) = (share(way.fetch)?, share(way.compute)?, share(way.put_back)?);
    let template = format!(
        "By {}, changing a file in buffers of 4 KiB takes {{total}} for each KiB: {{fetch}} of it \
         to fetch, {{compute}} to compute, {{put_back}} to put back.",
        way.name
    );
    let finding = Finding::new(way.key, &template)
        .with("total", &estimated(total), Unit::Nanoseconds)
        .with("fetch", &fetch, Unit::Share)
        .with("compute", &compute, Unit::Share)
        .with("put_back", &put_back, Unit::Share);
    let grade = known(&[&estimated(total), &fetch, &compute, &put_back]);
    Some(finding.graded(grade).weighing(0.5))
}

/// What makes the mapping look so fast.
fn without_waiting(results: &Results) -> Option<Finding> {
    let calls = at(results, TOTAL, PAGE)?;
    let mapped = at(results, MAP_TOTAL, PAGE)?;
    let sync = at(results, MAP_SYNC, PAGE)?;
    let times = ratio_within(calls, mapped)?;
    let template = "To change a file in place in buffers of 4 KiB takes {mapped} for each KiB by mmap, \
                    and {times} as long by read and write with O_SYNC, which alone wait for the \
                    device at each turn. One fsync after all by mmap takes {sync} more for each KiB.";
    let finding = Finding::new("without_waiting", template)
        .with("mapped", &estimated(mapped), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio)
        .with("sync", &estimated(sync), Unit::Nanoseconds);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.6))
}

/// The buffer in which the writes that wait cost least.
fn best_buffer(results: &Results) -> Option<Finding> {
    let totals = results.curve(TOTAL, BUFFER_SIZE, &[]);
    let (best, least) = totals
        .iter()
        .min_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre))?;
    let (smallest, most) = totals.first().filter(|_| totals.len() > 1)?;
    let times = ratio(most, least)?;
    let template = "By read and write with O_SYNC, buffers of {best} are the best: {least} for \
                    each KiB, and {times} that in buffers of {smallest}.";
    let finding = Finding::new("best_buffer", template)
        .given("best", *best as f64, Unit::Bytes)
        .with("least", &estimated(least), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio)
        .given("smallest", *smallest as f64, Unit::Bytes);
    let grade = grade(&times, 1.0).max(Grade::Likely);
    Some(finding.graded(grade).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{cost_result, count, machine, measure, results, setting, value};
    use instrument::results::PointResult;
    use std::fs;

    fn point(buffer: u64, file: u64) -> Point {
        Point::new().with(BUFFER_SIZE, buffer).with(FILE_SIZE, file)
    }

    fn at_buffer(buffer: u64, write: f64) -> PointResult {
        let costs = [
            (MAP, 100.0, 1.0),
            (MAP_LOOP, 800.0, 1.0),
            (UNMAP, 100.0, 1.0),
            (MAP_TOTAL, 1000.0, 1.0),
            (MAP_SYNC, 500.0, 1.0),
            (READ, 1000.0, 1.0),
            (LOOP, 1000.0, 1.0),
            (WRITE, write, 1.0),
            (TOTAL, write + 2000.0, 1.0),
        ];
        cost_result(&PhaseByPhase, &point(buffer, MIB), &costs)
    }

    #[test]
    fn the_shares_of_the_phases_and_the_best_buffer_are_told() {
        let (definition, machine) = (PhaseByPhase.definition(), machine());
        let points = vec![
            at_buffer(KIB, 30e3),
            at_buffer(PAGE, 8000.0),
            at_buffer(MIB, 1000.0),
        ];
        let found = PhaseByPhase.findings(&results(&definition, &machine, points));
        let value = |key, name| value(&found, key, name);
        assert!((value("shares_calls", "put_back") - 0.8).abs() < 0.01);
        assert!((value("shares_mapping", "compute") - 0.8).abs() < 0.01);
        assert!((value("without_waiting", "times") - 10.0).abs() < 0.1);
        assert!((value("best_buffer", "best") - MIB as f64).abs() < 1.0);
        assert_eq!(
            PhaseByPhase.findings(&results(&definition, &machine, Vec::new())),
            []
        );
    }

    #[test]
    fn both_ways_change_every_byte_and_are_timed_phase_by_phase() {
        let scratch = scratch();
        let path = scratch.path().join("file.phases 16384");
        for buffer in [KIB, PAGE, 16 * KIB] {
            fs::write(&path, vec![0; 16384]).expect("there is room");
            let point = point(buffer, 16384);
            let (samples, _) = measure(&PhaseByPhase, &point, scratch.path()).expect("a disk");
            for (metric, _) in METRICS {
                assert!(count(&samples, metric) >= 1, "{metric}");
            }
            let passes = (count(&samples, TOTAL) + count(&samples, MAP_TOTAL)) as u8;
            let bytes = fs::read(&path).expect("it is there");
            assert!(bytes.iter().all(|byte| *byte == 5 * passes), "{buffer}");
        }
    }

    #[test]
    fn quick_files_are_small_and_hold_whole_buffers() {
        let points = PhaseByPhase.points(&setting(Profile::Quick));
        assert_eq!(points.len(), 7);
        for point in points {
            let (buffer, file) = (point.number(BUFFER_SIZE), point.number(FILE_SIZE));
            let (buffer, file) = (buffer.expect("it has one"), file.expect("it has one"));
            assert!(file <= 64 * MIB && file % buffer == 0, "{point}");
        }
    }
}
