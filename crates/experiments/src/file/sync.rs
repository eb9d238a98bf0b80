//! `file.sync`: what it costs to have a write on the device before going on.

use crate::estimates::{WithEstimate, estimated, grade, known, ratio};
use crate::figures::{bars, logarithmic, names};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use platform::file::{OpenMode, create, open_read_write};
use platform::storage::Storage;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// What it costs to have a write on the device before going on.
pub(crate) struct WaitingWrites;

pub(super) const METHOD: &str = "method";
pub(super) const PLACE: &str = "place";
pub(super) const LATENCY: &str = "latency";

pub(super) const FSYNC: &str = "write+fsync";
pub(super) const FDATASYNC: &str = "write+fdatasync";
const O_SYNC: &str = "O_SYNC write";
const O_DSYNC: &str = "O_DSYNC write";
const METHODS: [&str; 4] = [FSYNC, FDATASYNC, O_SYNC, O_DSYNC];

pub(super) const OVERWRITE: &str = "overwrite";
const APPEND: &str = "append";

/// What is written each time.
const BLOCK_BYTES: u64 = 4 << 10;
/// The file that is written over, again and again, or up to which is appended.
const FILE_BYTES: u64 = 4 << 20;

impl Experiment for WaitingWrites {
    fn id(&self) -> &'static str {
        "file.sync"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Writes that wait for the device".into(),
            question: "How long does a write take that waits until it is safe, and which way of \
                       waiting is the cheapest?"
                .into(),
            method: format!(
                "Single operations are timed, each less the cost of reading the clock, and told by \
                 their percentiles. An operation is a write of {} and what makes it wait: fsync or \
                 fdatasync after it, or a file opened with O_SYNC or O_DSYNC. Overwrite goes over \
                 blocks that are on the device, append makes the file longer, so that its size and \
                 the place of the block have to be safe too; at {} it is emptied, which is not \
                 timed apart and comes once in {} writes. What the device answers is believed: one \
                 that answers before the data is safe looks fast here.",
                Bytes(BLOCK_BYTES),
                Bytes(FILE_BYTES),
                FILE_BYTES / BLOCK_BYTES
            ),
            source: "common practice".into(),
            axes: vec![
                Axis::choice(METHOD, "way of waiting"),
                Axis::choice(PLACE, "place"),
            ],
            metrics: vec![Metric::new(
                LATENCY,
                "time of a write",
                Unit::Nanoseconds,
                Better::Lower,
            )],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(METHODS.len() as u64 * 2 * FILE_BYTES))]
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        let of_method = |method: &str| {
            let point = Point::new().with(METHOD, method);
            [OVERWRITE, APPEND].map(|place| point.clone().with(PLACE, place))
        };
        METHODS.into_iter().flat_map(of_method).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let storage = Storage::behind(sampler.scratch())?;
        if storage.is_memory() {
            return Err(MeasureError::Unsupported(format!(
                "there is no device to wait for: {} is memory; name a directory on a disk",
                storage.file_system
            )));
        }
        let (method, place) = (point.choice(METHOD)?, point.choice(PLACE)?);
        let path = sampler
            .scratch()
            .join(format!("{} {method} {place}", self.id()));
        let mut target = Target::make(&path, method, place)?;
        if let Some(device) = &storage.block_device {
            sampler.remark(format!("{} on {device}", storage.file_system))?;
        }
        sampler.latencies(LATENCY, || target.write())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [safe_write(results), cheapest(results), append(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = [OVERWRITE, APPEND]
            .map(|place| results.series(place, LATENCY, METHOD, &[(PLACE, place.into())]));
        let axes = (
            names("way of waiting"),
            logarithmic("median", Unit::Nanoseconds),
        );
        vec![bars(
            LATENCY,
            "Time of a write of 4 KiB that waits for the device",
            axes,
            series.into(),
        )]
    }
}

/// The file and how it is written.
struct Target {
    file: File,
    wait: fn(&File) -> std::io::Result<()>,
    is_appending: bool,
    position: u64,
    block: Vec<u8>,
}

impl Target {
    fn make(path: &Path, method: &str, place: &str) -> Result<Self, MeasureError> {
        let (mode, wait): (_, fn(&File) -> std::io::Result<()>) = match method {
            FSYNC => (OpenMode::Plain, File::sync_all),
            FDATASYNC => (OpenMode::Plain, File::sync_data),
            O_SYNC => (OpenMode::Synchronous, |_| Ok(())),
            O_DSYNC => (OpenMode::DataSynchronous, |_| Ok(())),
            other => {
                let reason = format!("there is no way of waiting '{other}'");
                return Err(MeasureError::Unsupported(reason));
            }
        };
        let is_appending = match place {
            OVERWRITE => false,
            APPEND => true,
            other => {
                let reason = format!("there is no place '{other}'");
                return Err(MeasureError::Unsupported(reason));
            }
        };
        let block = vec![0x5a; BLOCK_BYTES as usize];
        let mut file = create(path, OpenMode::Plain)?;
        if !is_appending {
            let blocks = FILE_BYTES / BLOCK_BYTES;
            (0..blocks)
                .try_for_each(|_| file.write_all(&block))
                .map_err(MeasureError::system("make the scratch file"))?;
        }
        file.sync_all()
            .map_err(MeasureError::system("put the scratch file on the device"))?;
        Ok(Self {
            file: open_read_write(path, mode)?,
            wait,
            is_appending,
            position: 0,
            block,
        })
    }

    /// Writes the next block and waits for it.
    fn write(&mut self) -> Result<(), MeasureError> {
        let written = self.file.write_all(&self.block);
        written
            .and_then(|()| (self.wait)(&self.file))
            .map_err(MeasureError::system("write the scratch file"))?;
        self.position += BLOCK_BYTES;
        if self.position < FILE_BYTES {
            return Ok(());
        }
        self.position = 0;
        let emptied = if self.is_appending {
            self.file.set_len(0)
        } else {
            Ok(())
        };
        emptied
            .and_then(|()| self.file.seek(SeekFrom::Start(0)))
            .map(drop)
            .map_err(MeasureError::system("wind back the scratch file"))
    }
}

fn latency<'r>(results: &'r Results, method: &str, place: &str) -> Option<&'r Estimate> {
    let levels = [(METHOD, method.into()), (PLACE, place.into())];
    let estimate = results.at(&levels)?.estimate(LATENCY)?;
    estimate.is_sound().then_some(estimate)
}

fn safe_write(results: &Results) -> Option<Finding> {
    let fsync = latency(results, FSYNC, OVERWRITE)?;
    let percentiles = fsync.percentiles?;
    let median = estimated(fsync);
    let template = if percentiles.p99_ns > median.centre {
        "A write of 4 KiB that is followed by fsync takes {median}; the slowest hundredth takes \
         {p99} or more."
    } else {
        "A write of 4 KiB that is followed by fsync takes {median}, and differs more from process to \
         process than within one, where the slowest hundredth takes {p99} or more."
    };
    Some(
        Finding::new("safe_write", template)
            .with("median", &median, Unit::Nanoseconds)
            .given("p99", percentiles.p99_ns, Unit::Nanoseconds)
            .graded(known(&[&median]))
            .weighing(0.65),
    )
}

/// The fastest way for blocks that exist, against fsync.
fn cheapest(results: &Results) -> Option<Finding> {
    let fsync = latency(results, FSYNC, OVERWRITE)?;
    let others = [FDATASYNC, O_SYNC, O_DSYNC].into_iter();
    let known = others.filter_map(|method| Some((method, latency(results, method, OVERWRITE)?)));
    let (method, best) = known.min_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre))?;
    let times = ratio(best, fsync)?;
    let template = match grade(&times, 1.0) {
        Grade::Certain if times.centre < 1.0 => format!(
            "Over blocks that exist, the cheapest way to wait is {method}: {{time}}, {{times}} the \
             time of write+fsync."
        ),
        _ => format!(
            "Over blocks that exist, no way of waiting is cheaper than write+fsync that can be \
             told apart: the best other, {method}, takes {{time}}, {{times}} its time."
        ),
    };
    let finding = Finding::new("cheapest", &template)
        .with("time", &estimated(best), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.5))
}

fn append(results: &Results) -> Option<Finding> {
    let over = latency(results, FDATASYNC, OVERWRITE)?;
    let append = latency(results, FDATASYNC, APPEND)?;
    let times = ratio(append, over)?;
    let template = "To append and wait takes {append}, {times} the time of writing over a block \
                    that exists (write+fdatasync): find the room beforehand.";
    let finding = Finding::new("append", template)
        .with("append", &estimated(append), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    let is_dearer = times.centre > 1.0;
    is_dearer.then(|| finding.graded(grade(&times, 1.0)).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{cost_result, machine, measure, results, setting, value};
    use instrument::plan::Profile;
    use instrument::results::PointResult;
    use instrument::sample::Reading;

    fn point(method: &str, place: &str) -> Point {
        Point::new().with(METHOD, method).with(PLACE, place)
    }

    fn at(method: &str, place: &str, ns: f64) -> PointResult {
        cost_result(&WaitingWrites, &point(method, place), &[(LATENCY, ns, 1.0)])
    }

    #[test]
    fn the_cheapest_way_and_the_cost_of_appending_are_told() {
        let (definition, machine) = (WaitingWrites.definition(), machine());
        let points = vec![
            at(FSYNC, OVERWRITE, 200e3),
            at(FDATASYNC, OVERWRITE, 100e3),
            at(O_SYNC, OVERWRITE, 190e3),
            at(FDATASYNC, APPEND, 300e3),
        ];
        let found = WaitingWrites.findings(&results(&definition, &machine, points));
        assert!((value(&found, "cheapest", "times") - 0.5).abs() < 0.01);
        assert!((value(&found, "append", "times") - 3.0).abs() < 0.01);
        assert_eq!(
            WaitingWrites.findings(&results(&definition, &machine, Vec::new())),
            []
        );
    }

    #[test]
    fn every_way_writes_and_is_timed() {
        let scratch = scratch();
        if !can_be_cold(scratch.path()) {
            return;
        }
        for point in WaitingWrites.points(&setting(Profile::Quick)) {
            let (samples, _) = measure(&WaitingWrites, &point, scratch.path()).expect("a disk");
            let Reading::Latencies { count, p50_ns, .. } = samples[0].reading else {
                panic!("{point}: {samples:?}");
            };
            assert!(count >= 1 && p50_ns > 0.0, "{point}");
        }
    }

    #[test]
    fn an_appended_file_is_emptied_at_its_end() {
        let scratch = scratch();
        let path = scratch.path().join("file");
        let mut target = Target::make(&path, FDATASYNC, APPEND).expect("there is room");
        target.position = FILE_BYTES - BLOCK_BYTES;
        target.write().expect("there is room");
        assert_eq!(target.file.metadata().expect("open").len(), 0);
        target.write().expect("there is room");
        assert_eq!(target.file.metadata().expect("open").len(), BLOCK_BYTES);
    }
}
