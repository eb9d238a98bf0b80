//! `threads.io`: the number of threads from which on asynchronous reading wins.

use super::kind::UserThreads;
use crate::estimates::{by_ratio, found, ratio, side_by_side};
use crate::figures::{curves, lines};
use crate::judging::above_from;
use crate::prelude::*;
use std::time::Duration;

pub(crate) struct Io;

pub(super) const MODE: AxisOf<Mode> = AxisOf::new("mode", "mode");
pub(super) const SWEEP: AxisOf<Sweep> = AxisOf::new("sweep", "sweep");
pub(super) const IO_THREADS: AxisOf<Count> = AxisOf::new("io_threads", "I/O threads");
pub(super) const LENGTH: AxisOf<Bytes> = AxisOf::new("length", "length");
pub(super) const COMPUTING: AxisOf<Count> = AxisOf::new("computing_threads", "computing threads");
/// The steps that each computing thread computes, where they are not those of the sweep.
pub(super) const WORKLOAD: AxisOf<Count> = AxisOf::new("steps", "steps of each");

pub(super) const RUN: Metric = Metric::time("run", "run");

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Synchronous,
    Asynchronous,
}

/// The varied quantity, and the source of the data.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sweep {
    #[choice("page cache, by length")]
    Lengths,
    #[choice("page cache, by threads")]
    Cached,
    #[choice("device, by threads")]
    Device,
    #[choice("device, while computing")]
    WhileComputing,
    /// The three sweeps of the report: preemptive threads write, then read.
    #[choice("preemptive, by length")]
    ReportedLengths,
    #[choice("preemptive, by threads")]
    ReportedThreads,
    #[choice("preemptive, by computing")]
    ReportedComputing,
}

impl Sweep {
    pub(super) fn is_reported(self) -> bool {
        matches!(
            self,
            Self::ReportedLengths | Self::ReportedThreads | Self::ReportedComputing
        )
    }
}

/// Each thread reads this much from the device: whole blocks, since the reads are direct.
const DEVICE_LENGTH: Bytes = Bytes(64 << 10);
/// Steps that a computing thread computes.
pub(super) const STEPS: u64 = 100_000;
/// The most threads of the report.
pub(super) const MANY: u64 = 90;
/// More of them, for which the report expects asynchronous transfers to win.
const MORE: u64 = 300;
/// The report's slice, which follows from the times of its Table 1.
pub(super) const REPORTED_SLICE: Duration = Duration::from_millis(16);

/// The length of the report's long transfers.
const LONG: Bytes = Bytes(10_000_000);
/// The lengths and the numbers of threads of the report's Table 2.
const REPORTED_LENGTHS: [u64; 6] = [1, 10, 100, 1000, 10_000, 100_000];
const REPORTED_COUNTS: [u64; 6] = [1, 3, 10, 30, MANY, MORE];

/// Nobody would rewrite a program for a smaller gain.
const WORTH_HAVING: f64 = 1.1;

/// Room for the threads' parts of the file; more threads share parts.
pub(super) const FILE_BYTES: u64 = 16 << 20;

const DESIGN: Design = Design {
    id: "threads.io",
    title: "Synchronous and asynchronous reading by threads",
    question: "From how many threads on does asynchronous reading win?",
    method: formatcp!(
        "User threads of one worker each read a part of a scratch file, in pieces of at most 256 \
         KiB. In one sweep as many other threads compute {STEPS} steps. `run` is the wall time of \
         starting all threads, the readers first, and joining them. Synchronous: a read blocks \
         the worker, and with it all threads. Asynchronous: a read blocks only the calling \
         thread. Data in the page cache is copied at once; the rest is requested from io_uring if \
         the system allows it, else from kernel threads. On Windows all transfers are overlapped \
         ones. From the page cache: the whole file is \
         in it. From the device: reads bypass the page cache (O_DIRECT), but the device, or the \
         host of a virtual machine, may still have the data in its own memory. The runtime is \
         cooperative: a computing thread keeps its turn to its end. The three preemptive sweeps are those of the \
         report's Table 2: slices are as long as there (16 ms), all threads begin with the highest priority, which \
         each tick lowers, and each I/O thread writes its part and then reads it, in the page cache. \
         Two of them have one thread that computes one step: next to one \
         I/O thread by length, and next to 1 to {MORE} of them with a long one. The third has one \
         I/O thread next to 1 to {MANY} computing threads. `--at steps=N` chooses what each computes."
    ),
    source: "Report D, Table 2",
    axes: &[
        MODE.axis(),
        SWEEP.axis(),
        IO_THREADS.open(1, 999),
        LENGTH.open(1, 1 << 30),
        COMPUTING.open(0, 999),
        WORKLOAD.open(1, 1 << 40).only_if_chosen(),
    ],
    metrics: &[RUN],
};

impl Experiment for Io {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(4 * FILE_BYTES))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let is_quick = setting.profile == Profile::Quick;
        // The length in the report, or a tenth of it.
        let long = if is_quick { Bytes(LONG.0 / 10) } else { LONG };
        let (lengths, counts, few): (&[u64], &[u64], &[u64]) = if is_quick {
            (&[1, 100_000], &[1, 10, MANY], &[MANY])
        } else {
            let counts = &[1, 2, 3, 10, 30, MANY];
            (&REPORTED_LENGTHS, counts, counts)
        };
        // Table 2 takes minutes: the quick profile leaves it out.
        let (table_lengths, table_counts): (&[u64], &[u64]) = if is_quick {
            (&[], &[])
        } else {
            (&REPORTED_LENGTHS, &REPORTED_COUNTS)
        };
        let mut points = Vec::new();
        let mut add = |sweep, io_threads, length, computing| {
            points.extend(Mode::ALL.iter().map(|mode| {
                Point::new()
                    .at(MODE, *mode)
                    .at(SWEEP, sweep)
                    .at(IO_THREADS, Count(io_threads))
                    .at(LENGTH, length)
                    .at(COMPUTING, Count(computing))
            }));
        };
        for &length in lengths {
            add(Sweep::Lengths, 1, Bytes(length), 0);
        }
        for &threads in few {
            add(Sweep::Cached, threads, long, 0);
        }
        for &threads in counts {
            add(Sweep::Device, threads, DEVICE_LENGTH, 0);
        }
        for &threads in few {
            add(Sweep::WhileComputing, threads, DEVICE_LENGTH, threads);
        }
        for &length in table_lengths {
            add(Sweep::ReportedLengths, 1, Bytes(length), 1);
        }
        for &threads in table_counts {
            add(Sweep::ReportedThreads, threads, LONG, 1);
        }
        for &threads in table_counts.iter().filter(|threads| **threads <= MANY) {
            add(Sweep::ReportedComputing, 1, LONG, threads);
        }
        points
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let uses_device = matches!(
            point.level(SWEEP),
            Ok(Sweep::Device | Sweep::WhileComputing)
        );
        uses_device.then_some(Component::Disk)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let results = &results.without(WORKLOAD);
        found([break_even(results), while_computing(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let results = &results.without(WORKLOAD);
        let device = ("device", "Threads that read from the device");
        let length = ("length", "One thread that reads from the page cache");
        vec![
            figure(results, device, (IO_THREADS, Sweep::Device)),
            figure(results, length, (LENGTH, Sweep::Lengths)),
        ]
    }
}

fn figure<L: LevelOf>(
    results: &Results,
    (key, title): (&str, &str),
    (axis, sweep): (AxisOf<L>, Sweep),
) -> Figure {
    let lines = lines(results, RUN, axis, MODE, &[SWEEP.at(sweep)]);
    curves(key, title, (axis, RUN), lines)
}

/// Both modes at the numbers of threads that were measured in a sweep, and how many times as long the
/// synchronous one takes.
fn compared<'r>(
    results: &'r Results,
    sweep: Sweep,
) -> Vec<(Count, &'r Estimate, &'r Estimate, Quantity)> {
    let curve = |mode| results.along(IO_THREADS, RUN, &[MODE.at(mode), SWEEP.at(sweep)]);
    let both = side_by_side(&curve(Mode::Synchronous), &curve(Mode::Asynchronous)).into_iter();
    both.filter_map(|(threads, one, other)| Some((threads, one, other, ratio(one, other)?)))
        .collect()
}

/// The number of threads from which on asynchronous reading is faster.
fn break_even(results: &Results) -> Option<Finding> {
    let compared = compared(results, Sweep::Device);
    let (most, _, _, times) = compared.last().filter(|(threads, ..)| threads.0 > 1)?;
    let ratios = compared
        .iter()
        .map(|(threads, .., times)| (*threads, *times));
    let Ok(onset) = above_from(&ratios.collect::<Vec<_>>(), 1.0) else {
        let said = sentence!(
            "User threads that read {length} each from the device gain nothing by asynchronous reads: with \
             {most} threads, synchronous ones take {times} as long.",
            length = DEVICE_LENGTH,
        );
        // If the interval leaves room for a gain, nothing is decided.
        let may_win = times.interval.is_none_or(|at| at.high > WORTH_HAVING);
        let finding = Finding::new("break_even", said).weighing(0.4);
        return (!may_win).then_some(finding);
    };
    let Onset { after, from } = onset;
    let range = if after.0 + 1 < from.0 {
        sentence!("somewhere between {after} and {from}")
    } else {
        sentence!("{from}")
    };
    let said = sentence!(
        "User threads that read {length} each from the device gain by asynchronous reads from {range} \
         threads on; with {most}, synchronous ones take {times} as long.",
        length = DEVICE_LENGTH,
    );
    Some(by_ratio("break_even", said, times).weighing(0.45))
}

/// The gain of asynchronous reading next to computing threads.
fn while_computing(results: &Results) -> Option<Finding> {
    let compared = compared(results, Sweep::WhileComputing);
    let (threads, synchronous, _, times) = compared.last()?;
    let said = sentence!(
        "{threads} user threads that read from the device and {threads} that compute take \
         {synchronous} with synchronous reads, {times} as long as with asynchronous ones."
    );
    Some(by_ratio("while_computing", said, times).weighing(0.4))
}
