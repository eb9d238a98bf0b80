//! `file.phases`: where the time goes when every byte of a file is changed in place.

use super::rewrite_passes::{map_part, move_on};
use super::scratch_file::ScratchFile;
use super::{By, FILE_SIZE, by_profile, like, of_file, page_cache, powers, whole_blocks};
use crate::estimates::{by_ratio, found, grade, of_values, part, ratio, ratio_within};
use crate::figures::{curves, lines_of, logarithmic};
use crate::prelude::*;
use platform::file::{Access, LockedFile, OpenMode, open_read_write};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

pub(super) const BUFFER_SIZE: AxisOf<Bytes> = AxisOf::new("buffer_size", "buffer size");

pub(super) const MAP: Metric = Metric::time("map", "mmap, per KiB");
pub(super) const MAP_LOOP: Metric = Metric::time("map_loop", "loop over the mapping, per KiB");
pub(super) const UNMAP: Metric = Metric::time("unmap", "munmap, per KiB");
pub(super) const MAP_TOTAL: Metric = Metric::time("map_total", "all by mmap, per KiB");
pub(super) const READ: Metric = Metric::time("read", "read, per KiB");
pub(super) const LOOP: Metric = Metric::time("loop", "loop over the buffer, per KiB");
pub(super) const WRITE: Metric = Metric::time("write", "lseek back and write, per KiB");
pub(super) const TOTAL: Metric = Metric::time("total", "all by read and write, per KiB");
const TOTAL_TIMED: Metric =
    Metric::time("total_timed", "all by read and write, with timers, per KiB");
const MAP_SYNC: Metric = Metric::time("map_sync", "fsync after all by mmap, per KiB");
/// The same by the report's listing, which maps the first buffer each time.
const START: Metric = Metric::time("start_map", "mmap of offset 0, per KiB");
const START_LOOP: Metric = Metric::time("start_loop", "loop over the mapping of offset 0, per KiB");
const START_UNMAP: Metric = Metric::time("start_unmap", "munmap of offset 0 and lseek, per KiB");
pub(super) const START_TOTAL: Metric =
    Metric::time("start_total", "all by mmap of offset 0, per KiB");
const START_TOTAL_TIMED: Metric = Metric::time(
    "start_total_timed",
    "all by mmap of offset 0, with timers, per KiB",
);

/// In the order of the report's columns.
const METRICS: [Metric; 15] = [
    MAP,
    MAP_LOOP,
    UNMAP,
    MAP_TOTAL,
    READ,
    LOOP,
    WRITE,
    TOTAL,
    TOTAL_TIMED,
    MAP_SYNC,
    START,
    START_LOOP,
    START_UNMAP,
    START_TOTAL,
    START_TOTAL_TIMED,
];

/// A buffer of a page, in which the report's two ways differ most plainly.
const PAGE: u64 = 4 * KIB;

/// The largest file of each profile.
const LARGEST_FILES: [u64; 3] = [8 * MIB, 64 * MIB, 256 * MIB];
/// A turn with a write that waits takes about as long on a disk that is not fast.
const TURN_NS: u64 = 200_000;
/// In large buffers, three ways through a file take about as long for a byte.
const BYTE_NS: u64 = 8;

pub(crate) struct PhaseByPhase;

pub(super) const DESIGN: Design = Design {
    id: "file.phases",
    title: "Read and write against mmap, phase by phase",
    question: "Where does the time go when every byte of a file is changed in place: in \
                       fetching, computing or putting back?",
    method: "Every byte b of a scratch file becomes (b + 5) % 250, buffer by buffer, in two ways. \
             By read and write: read, the loop, lseek back and write. By mmap: mmap of the \
             buffer's part of the file, the loop over it, and munmap. The file is opened with \
             O_SYNC. Each phase is timed apart at every turn, less the cost of reading the clock, \
             and the times of a phase are added up. Each is given per KiB of the file, so that \
             buffers can be compared. The two totals are the sums of their phases. Those with timers also \
             contain two readings of the clock for each phase, as in the report. A write to a \
             file opened with O_SYNC waits for the device. munmap never does, so its data reaches \
             the device later: that is timed as one fsync at the end, apart from the total. A \
             third way is the report's listing as printed: it maps offset 0 each time and moves \
             the position on by lseek. A mapping does not follow the position, so the first buffer \
             is changed each time. Buffers smaller than a page are mapped with the page that holds \
             them. The file is in the page cache and on the device when a pass starts. For small \
             buffers it is smaller, since each write waits.",
    source: "Report E, section 4.3",
    axes: &[
        BUFFER_SIZE.open(KIB, 1 << 30).in_steps_of(KIB),
        FILE_SIZE.open(KIB, 1 << 40).in_steps_of(KIB),
    ],
    metrics: &METRICS,
};

impl Experiment for PhaseByPhase {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        // Buffers whose files are equally large share one.
        let files: BTreeSet<u64> = sizes(setting).into_iter().map(|(_, file)| file).collect();
        vec![
            Need::Space(Bytes(files.iter().sum())),
            Need::Memory(Bytes(4 * largest_buffer(setting))),
        ]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let sizes = sizes(setting).into_iter();
        sizes
            .map(|(buffer, file)| of_file(BUFFER_SIZE, buffer, file))
            .collect()
    }

    /// A file that is larger than all planned ones, as the report's, takes minutes in small buffers.
    fn least_ns(&self, point: &Point) -> u64 {
        match (point.level(BUFFER_SIZE), point.level(FILE_SIZE)) {
            (Ok(Bytes(buffer)), Ok(Bytes(file))) if file > LARGEST_FILES[2] => {
                file / buffer * TURN_NS + file * BYTE_NS
            }
            _ => 0,
        }
    }

    fn component(&self, _point: &Point, metric: &str) -> Option<Component> {
        // The file is opened with O_SYNC, so that writes wait for the device.
        let waits = [WRITE.name, TOTAL.name, TOTAL_TIMED.name, MAP_SYNC.name].contains(&metric);
        waits.then_some(Component::Disk)
    }

    fn counterpart(&self, point: &Point, metric: &str, _other: System) -> Option<Counterpart> {
        let is_any = |metrics: &[Metric]| metrics.iter().any(|it| it.name == metric);
        Some(if is_any(&[LOOP]) {
            Counterpart::Same
        } else if is_any(&[READ]) {
            like(point, By::OWN_CALLS)
        } else if is_any(&[WRITE, TOTAL, TOTAL_TIMED]) {
            like(point, By::WAITING)
        } else {
            like(point, By::VIEW)
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(buffer_size) = point.level(BUFFER_SIZE)?;
        let Bytes(len) = point.level(FILE_SIZE)?;
        whole_blocks(len, buffer_size)?;
        let path = sampler.scratch().join(format!("{} {len}", self.id()));
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        by_read_and_write(sampler, &file, buffer_size)?;
        by_mapping(sampler, &file, buffer_size, false)?;
        by_mapping(sampler, &file, buffer_size, true)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([
            without_waiting(results),
            best_buffer(results),
            shares(results),
        ])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |key, title, metrics: [Metric; 3]| {
            let labels = metrics.map(|metric| (metric, metric.title.trim_end_matches(", per KiB")));
            let axes = (
                BUFFER_SIZE,
                logarithmic("time for a KiB", Unit::Nanoseconds),
            );
            curves(key, title, axes, lines_of(results, BUFFER_SIZE, labels))
        };
        let totals = [TOTAL, MAP_TOTAL, MAP_SYNC];
        vec![
            figure("totals", "Changing a file in place", totals),
            figure("calls", "By read and write", [READ, LOOP, WRITE]),
            figure("mapping", "By mmap", [MAP, MAP_LOOP, UNMAP]),
        ]
    }
}

/// Each size of a buffer with that of its file, in bytes.
fn sizes(setting: &Setting) -> Vec<(u64, u64)> {
    let largest = largest_buffer(setting);
    let buffers: Vec<u64> = match setting.profile {
        Profile::Quick => [KIB, PAGE, 64 * KIB, MIB, largest].into(),
        Profile::Standard | Profile::Thorough => powers(KIB, largest).collect(),
    };
    let turns = by_profile(setting.profile, [64, 256, 1024]);
    let most = by_profile(setting.profile, LARGEST_FILES);
    buffers
        .into_iter()
        .map(|buffer| (buffer, (buffer * turns).min(most).max(buffer)))
        .collect()
}

fn largest_buffer(setting: &Setting) -> u64 {
    // A buffer, the file and the loop's work on both.
    let room = u64::min(setting.free_bytes, setting.available_bytes) / 8;
    let fitting = room.checked_ilog2().map_or(MIB, |exponent| 1 << exponent);
    fitting.clamp(16 * MIB, 64 * MIB)
}

fn in_pages<'r>(results: &'r Results, metric: Metric) -> Option<&'r Estimate> {
    results.sound(metric, &[BUFFER_SIZE.at(Bytes(PAGE))])
}

/// The shares of the phases in changing a file through mappings of a page.
fn shares(results: &Results) -> Option<Finding> {
    let total = in_pages(results, MAP_TOTAL)?;
    let share = |metric| part(in_pages(results, metric)?, total);
    let (map, change, unmap) = (share(MAP)?, share(MAP_LOOP)?, share(UNMAP)?);
    let said = sentence!(
        "A file that is changed through mappings of 4 KiB spends {map} of the time in mmap, {change} in \
         the loop with its page fault and {unmap} in munmap: map larger parts."
    );
    Some(of_values("shares_mapping", said, [map, change, unmap]).weighing(0.35))
}

/// The mapping looks so fast because it does not wait.
fn without_waiting(results: &Results) -> Option<Finding> {
    let of = |metric| in_pages(results, metric);
    let times = ratio_within(of(TOTAL)?, of(MAP_TOTAL)?)?;
    let said = sentence!(
        "Changing a file in place, 4 KiB at a time, takes {times} as long with read and an O_SYNC \
         write as through mmap: the write waits for the device, the pages of mmap are written later."
    );
    Some(by_ratio("without_waiting", said, &times).weighing(0.5))
}

/// The buffer in which the writes that wait cost least, if it is not the smallest.
fn best_buffer(results: &Results) -> Option<Finding> {
    let totals = results.along(BUFFER_SIZE, TOTAL, &[]);
    let (smallest, most) = *totals.first().filter(|_| totals.len() > 1)?;
    // The smallest that suffices.
    let curve = Curve::of(&totals, Better::Lower);
    let (best, least) = curve.good().next()?;
    let times = ratio(most, least)?;
    let said = sentence!(
        "With read and an O_SYNC write, buffers of {best} are the fastest: {least} per KiB. Buffers of \
         {smallest} take {times} as long."
    );
    let grade = grade(&times, 1.0).max(Grade::Likely);
    let finding = Finding::new("best_buffer", said).graded(grade);
    (best > smallest).then(|| finding.weighing(0.5))
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
    let mut memory = super::buffer(buffer_size as usize)?;
    let buffer = memory.as_mut_slice();
    sampler.phases(kibibytes(file), |phases| {
        start_clean(file)?;
        synchronous
            .seek(SeekFrom::Start(0))
            .map_err(MeasureError::system("wind back the scratch file"))?;
        for offset in (0..file.len).step_by(buffer_size as usize) {
            phases.time(&[READ, TOTAL, TOTAL_TIMED], || {
                let read = synchronous.read_exact(buffer);
                read.map_err(MeasureError::system("read the scratch file"))
            })?;
            phases.time(&[LOOP, TOTAL, TOTAL_TIMED], || {
                kernels::change(buffer);
                Ok(())
            })?;
            phases.time(&[WRITE, TOTAL, TOTAL_TIMED], || {
                let back = synchronous.seek(SeekFrom::Start(offset));
                back.and_then(|_| synchronous.write_all(buffer))
                    .map_err(MeasureError::system("write the scratch file"))
            })?;
        }
        phases.add_timers(TOTAL_TIMED, 3 * (file.len / buffer_size));
        Ok(())
    })
}

/// `of_start`: the report's listing as it is printed, which maps the first buffer each time.
fn by_mapping(
    sampler: &mut Sampler<'_>,
    file: &ScratchFile,
    buffer_size: u64,
    of_start: bool,
) -> Result<(), MeasureError> {
    let ([map, change, unmap], totals): (_, &[Metric]) = if of_start {
        let totals = &[START_TOTAL, START_TOTAL_TIMED];
        ([START, START_LOOP, START_UNMAP], totals)
    } else {
        ([MAP, MAP_LOOP, UNMAP], &[MAP_TOTAL])
    };
    let with_totals = |phase| [&[phase], totals].concat();
    let [map, change, unmap] = [map, change, unmap].map(with_totals);
    let mut locked = LockedFile::lock(open_synchronous(&file.path)?, Access::Write)?;
    sampler.phases(kibibytes(file), |phases| {
        start_clean(file)?;
        for position in (0..file.len).step_by(buffer_size as usize) {
            let offset = if of_start { 0 } else { position };
            let (mut mapping, at) =
                phases.time(&map, || map_part(&mut locked, offset, buffer_size))?;
            let bytes = mapping
                .as_mut_slice()
                .expect("the file is locked for writing");
            let bytes = &mut bytes[at..];
            phases.time(&change, || {
                kernels::change(bytes);
                Ok(())
            })?;
            mapping.ensure_whole()?;
            phases.time(&unmap, || {
                drop(mapping);
                Ok(())
            })?;
            if of_start {
                phases.time(&unmap, || move_on(&locked, buffer_size as usize))?;
            }
        }
        if of_start {
            phases.add_timers(START_TOTAL_TIMED, 3 * (file.len / buffer_size));
            return Ok(());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{count, measure, setting};
    use std::fs;

    #[test]
    fn both_ways_change_every_byte_and_are_timed_phase_by_phase() {
        let scratch = scratch();
        let path = scratch.path().join("file.phases 16384");
        for buffer in [KIB, PAGE, 16 * KIB] {
            fs::write(&path, vec![0; 16384]).expect("there is room");
            let point = of_file(BUFFER_SIZE, buffer, 16384);
            let (samples, _) = measure(&PhaseByPhase, &point, scratch.path()).expect("a disk");
            for metric in METRICS {
                assert!(count(&samples, metric) >= 1, "{metric:?}");
            }
            let passes = count(&samples, TOTAL) + count(&samples, MAP_TOTAL);
            let bytes = fs::read(&path).expect("it is there");
            let (first, rest) = bytes.split_at(buffer as usize);
            let changed = |byte: u8, passes: usize| usize::from(byte) == 5 * passes % 250;
            assert!(rest.iter().all(|byte| changed(*byte, passes)), "{buffer}");
            // The listing as printed changes its first buffer once for each buffer of the file.
            let again = count(&samples, START_TOTAL) * (16384 / buffer as usize);
            assert!(
                first.iter().all(|byte| changed(*byte, passes + again)),
                "{buffer}"
            );
        }
    }

    #[test]
    fn room_is_asked_for_all_files_together() {
        for profile in [Profile::Quick, Profile::Standard, Profile::Thorough] {
            let setting = setting(profile);
            let files: BTreeSet<u64> = PhaseByPhase
                .points(&setting)
                .iter()
                .map(|point| point.level(FILE_SIZE).expect("it has one").0)
                .collect();
            let room = Need::Space(Bytes(files.iter().sum()));
            assert!(PhaseByPhase.needs(&setting).contains(&room), "{profile:?}");
        }
    }

    #[test]
    fn a_file_beyond_the_planned_ones_gets_the_time_of_its_turns() {
        let least_ns = |buffer, file| PhaseByPhase.least_ns(&of_file(BUFFER_SIZE, buffer, file));
        assert_eq!(least_ns(KIB, 256 * MIB), 0);
        let (small, large) = (least_ns(KIB, 512 * MIB), least_ns(64 * MIB, 512 * MIB));
        assert!(small > 524_288 * TURN_NS && large > 512 * MIB);
        assert!(small > 10 * large);
    }

    #[test]
    fn quick_files_are_small_and_hold_whole_buffers() {
        let points = PhaseByPhase.points(&setting(Profile::Quick));
        assert_eq!(points.len(), 5);
        for point in points {
            let Bytes(buffer) = point.level(BUFFER_SIZE).expect("it has one");
            let Bytes(file) = point.level(FILE_SIZE).expect("it has one");
            assert!(file <= 64 * MIB && file % buffer == 0, "{point}");
        }
    }
}
