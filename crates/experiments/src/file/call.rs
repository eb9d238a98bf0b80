//! `file.call`: the cost of a call that moves a single byte, in files of growing size.

use super::page_cache::warm;
use super::scratch_file::{ScratchFile, Walk};
use super::{By, FILE_SIZE, by_profile, like};
use crate::estimates::{grade, ratio, ratios, time_ns};
use crate::figures::{curves, linear, lines};
use crate::prelude::*;
use platform::call;
use std::hint::black_box;

pub(crate) struct Call;

pub(super) const CALL: AxisOf<Operation> = AxisOf::new("call", "call");

pub(super) const RATE: Metric = Metric::rate("rate", "calls per second")
    .bounded(MOST_PER_SECOND)
    .in_version(2);
const WALL: Metric = Metric::time("wall", "wall time of a pass").in_version(2);
const THROUGHPUT: Metric = Metric::bandwidth("throughput", "throughput")
    .bounded(MOST_PER_SECOND)
    .in_version(2);

/// The call that is made for each byte.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    #[choice("read 1 byte")]
    Read,
    #[choice("lseek 1 byte")]
    Seek,
    #[choice("ReadFile 1 byte")]
    ReadFile,
    #[choice("SetFilePointerEx 1 byte")]
    SetFilePointer,
}

/// The call that reads and the one that moves the position, of each system.
const PAIRS: [(Operation, Operation); 2] = [
    (Operation::Read, Operation::Seek),
    (Operation::ReadFile, Operation::SetFilePointer),
];

impl Operation {
    /// The calls of `system`.
    fn of(system: System) -> [Self; 2] {
        let (read, seek) = PAIRS[usize::from(system == System::Windows)];
        [read, seek]
    }

    /// The call of the other system for the same purpose.
    fn counterpart(self) -> Self {
        match self {
            Self::Read => Self::ReadFile,
            Self::Seek => Self::SetFilePointer,
            Self::ReadFile => Self::Read,
            Self::SetFilePointer => Self::Seek,
        }
    }
}

/// The file grows by this part of the largest at a time.
const STEPS: u64 = 10;
/// Even a call that does nothing takes half a nanosecond.
const MOST_PER_SECOND: f64 = 2e9;

pub(super) const DESIGN: Design = Design {
    id: "file.call",
    title: "System calls per byte",
    question: "What does it cost to go through a file byte by byte, and does the time grow in \
               proportion to its size?",
    method: "Calls go through a scratch file in the page cache from start to end, one byte a \
             call. Either read reads 1 byte, or lseek moves the position by 1 byte, which shows \
             the cost of a call without data; on Windows these are ReadFile and \
             SetFilePointerEx. There are ten files, from a tenth of the largest \
             size to all of it. The pass is timed in short pieces, which start over at the end of \
             the file; the fixed cost of a piece is subtracted. Wall is the time of as many \
             calls as the file has bytes, the rate is calls over time, the throughput bytes over \
             time.",
    source: "Reports A and B, section 5",
    axes: &[CALL.axis(), FILE_SIZE.open(1, 1 << 40)],
    metrics: &[RATE, WALL, THROUGHPUT],
};

impl Experiment for Call {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let files: u64 = (1..=STEPS).map(|step| step * step_bytes(setting)).sum();
        vec![Need::Space(Bytes(files))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let step_bytes = step_bytes(setting);
        let sizes = (1..=STEPS).map(|step| Bytes(step * step_bytes));
        let calls = [Point::new()].by(CALL, Operation::of(System::here()));
        calls.by(FILE_SIZE, sizes)
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Calls)
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        let call = point.level(CALL).ok()?.counterpart();
        Some(like(&point.clone().at(CALL, call), By::OWN_CALLS))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let call = point.level(CALL)?;
        if !Operation::of(System::here()).contains(&call) {
            return Err(unsupported("that is a call of another system"));
        }
        let Bytes(len) = point.level(FILE_SIZE)?;
        let path = sampler.scratch().join(format!("{} {len}", self.id()));
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        warm(&file)?;
        let metrics = [(RATE, 1.0), (WALL, 1.0 / len as f64), (THROUGHPUT, 1.0)];
        let mut walk = Walk::new(&file);
        match call {
            Operation::Read | Operation::ReadFile => sampler.repeat_as(&metrics, |calls| {
                walk.go(calls, 1, |file, _| {
                    black_box(call::read_byte(&file.file)?);
                    Ok(())
                })
            }),
            Operation::Seek | Operation::SetFilePointer => sampler.repeat_as(&metrics, |calls| {
                walk.go(calls, 1, |file, _| {
                    black_box(call::seek(&file.file)?);
                    Ok(())
                })
            }),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let pairs = PAIRS.iter();
        pairs
            .filter_map(|pair| read_over_seek(results, *pair))
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let of = |metric: Metric, title, axis| {
            let axes = (linear("file size", Unit::Bytes), linear(axis, metric.unit));
            let lines = lines(results, metric, FILE_SIZE, CALL, &[]);
            curves(metric, title, axes, lines)
        };
        vec![
            of(WALL, "Going through a file byte by byte", "wall time"),
            of(RATE, "Calls per second", "calls"),
        ]
    }
}

fn step_bytes(setting: &Setting) -> u64 {
    by_profile(setting.profile, [8 * KIB, 64 * KIB, 512 * KIB])
}

/// The rate of moving the position over that of reading, by file size, for the calls of the system that measured.
pub(super) fn seek_over_read(results: &Results) -> Vec<(Bytes, Quantity)> {
    let rates = |call: Operation| results.along(FILE_SIZE, RATE, &[CALL.at(call)]);
    let of = |(read, seek): (Operation, Operation)| ratios(&rates(seek), &rates(read));
    PAIRS.into_iter().flat_map(of).collect()
}

/// The rate over the largest file.
fn largest<'r>(results: &'r Results, call: Operation) -> Option<&'r Estimate> {
    let (_, rate) = results.along(FILE_SIZE, RATE, &[CALL.at(call)]).pop()?;
    Some(rate)
}

fn read_over_seek(results: &Results, (read, seek): (Operation, Operation)) -> Option<Finding> {
    let (read_name, seek_name) = match seek {
        Operation::Seek => ("read", "lseek"),
        _ => ("ReadFile", "SetFilePointerEx"),
    };
    let (read, seek) = (largest(results, read)?, largest(results, seek)?);
    let times = ratio(seek, read)?;
    let said = sentence!(
        "Reading a cached file byte by byte takes {read_time} for each {read_name}; {seek_name}, which only \
         moves the position, takes {seek_time}. Read in larger blocks.",
        read_time = time_ns(read, 1.0)?,
        seek_time = time_ns(seek, 1.0)?,
    );
    let finding = Finding::new("read_over_lseek", said).with_number("times", times);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.45))
}
