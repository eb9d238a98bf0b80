//! `file.phases`: where the time goes when every byte of a file is changed in place.

mod findings;
mod way;

use super::FILE_SIZE;
use super::scratch_file::ScratchFile;
use super::sizes::{KIB, MIB, by_profile, powers};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use std::collections::BTreeSet;
use way::{by_mapping, by_read_and_write};

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
        // Buffers whose files are equally large share one.
        let files: BTreeSet<u64> = sizes(setting).into_iter().map(|(_, file)| file).collect();
        vec![
            Need::Space(Bytes(files.iter().sum())),
            Need::Memory(Bytes(4 * largest_buffer(setting))),
        ]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let point = |(buffer, file): (u64, u64)| {
            Point::new().with(BUFFER_SIZE, buffer).with(FILE_SIZE, file)
        };
        sizes(setting).into_iter().map(point).collect()
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
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// Each size of a buffer with that of its file, in bytes.
fn sizes(setting: &Setting) -> Vec<(u64, u64)> {
    let largest = largest_buffer(setting);
    let buffers: Vec<u64> = match setting.profile {
        Profile::Quick => [KIB, PAGE, 16 * KIB, 64 * KIB, MIB, 8 * MIB, largest].into(),
        Profile::Standard | Profile::Thorough => powers(KIB, largest).collect(),
    };
    let turns = by_profile(setting.profile, [64, 256, 1024]);
    let most = by_profile(setting.profile, [8 * MIB, 64 * MIB, 256 * MIB]);
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
    fn room_is_asked_for_all_files_together() {
        for profile in [Profile::Quick, Profile::Standard, Profile::Thorough] {
            let setting = setting(profile);
            let files: BTreeSet<u64> = PhaseByPhase
                .points(&setting)
                .iter()
                .map(|point| point.number(FILE_SIZE).expect("it has one"))
                .collect();
            let room = Need::Space(Bytes(files.iter().sum()));
            assert!(PhaseByPhase.needs(&setting).contains(&room), "{profile:?}");
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
