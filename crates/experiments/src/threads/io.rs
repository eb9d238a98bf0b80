//! `threads.io`: from how many threads on asynchronous reading wins.

use super::measure;
use crate::estimates::{WithEstimate, grade, ratio, side_by_side};
use crate::figures::logarithmic;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureKind};
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Level, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use instrument::statistics::Estimated;

/// From how many threads on asynchronous reading wins.
pub(crate) struct Io;

pub(super) const MODE: &str = "mode";
pub(super) const SWEEP: &str = "sweep";
pub(super) const IO_THREADS: &str = "io_threads";
pub(super) const LENGTH: &str = "length";
pub(super) const COMPUTING: &str = "computing_threads";

pub(super) const SYNCHRONOUS: &str = "synchronous";
pub(super) const ASYNCHRONOUS: &str = "asynchronous";
/// What is varied, and where the data comes from.
pub(super) const LENGTHS: &str = "page cache, by length";
pub(super) const CACHED: &str = "page cache, by threads";
pub(super) const DEVICE: &str = "device, by threads";
pub(super) const BESIDE: &str = "device, beside computing";

pub(super) const RUN: &str = "run";

/// What each thread reads from the device, in bytes: whole blocks, as direct reads must be.
const DEVICE_LENGTH: u64 = 64 << 10;
/// Steps that a computing thread computes.
pub(super) const STEPS: u64 = 100_000;
/// The most threads of the report.
const MANY: u64 = 90;

/// A smaller gain than this is none that anyone would write other programs for.
const WORTH_HAVING: f64 = 1.1;

/// Room for the threads' parts of the file; more threads share parts.
const FILE_BYTES: u64 = 16 << 20;

/// The size of the file where each thread reads `length` bytes of it: so many whole parts.
pub(super) fn file_bytes(length: u64) -> u64 {
    length * (FILE_BYTES / length).clamp(1, MANY)
}

impl Experiment for Io {
    fn id(&self) -> &'static str {
        "threads.io"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Synchronous and asynchronous reading by threads".into(),
            question: "From how many threads on does asynchronous reading win?".into(),
            method: format!(
                "User threads of one worker each read a part of a scratch file, in \
                     pieces of at most 256 KiB; in one sweep as many others compute {STEPS} steps. `run` is the wall time of \
                     starting all of them, those that read first, and joining them. Synchronous: a \
                     read blocks the worker, and with it all threads. Asynchronous: it blocks the \
                     calling thread only; what the page cache has is copied at once, the rest is \
                     asked of io_uring where the system allows it, else of kernel threads. From the \
                     page cache: the whole file is in it. From the device: reads bypass the page \
                     cache (O_DIRECT); the device, or the host of a virtual one, may still have \
                     the data in memory of its own. The runtime is cooperative: a computing thread \
                     keeps its turn to its end."
            ),
            source: "Report D, section 3.3".into(),
            axes: vec![
                Axis::choice(MODE, "mode"),
                Axis::choice(SWEEP, "sweep"),
                Axis::count(IO_THREADS, "I/O threads"),
                Axis::bytes(LENGTH, "length"),
                Axis::count(COMPUTING, "computing threads"),
            ],
            metrics: vec![Metric::new(RUN, "run", Unit::Nanoseconds, Better::Lower)],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(4 * FILE_BYTES))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points(setting.profile)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        measure::io(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [
            break_even(results),
            from_cache(results),
            beside_computing(results),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let curve = |key: &str, title: &str, x: (&str, &str, Unit), levels: &[(&str, Level)]| {
            let series = |mode: &str| {
                let levels: Vec<_> = levels
                    .iter()
                    .cloned()
                    .chain([(MODE, mode.into())])
                    .collect();
                results.series(mode, RUN, x.0, &levels)
            };
            Figure {
                key: key.into(),
                title: title.into(),
                kind: FigureKind::Curve,
                x: logarithmic(x.1, x.2),
                y: logarithmic("run", Unit::Nanoseconds),
                series: [SYNCHRONOUS, ASYNCHRONOUS].map(series).into(),
                marks: Vec::new(),
            }
        };
        let threads = (IO_THREADS, "I/O threads", Unit::Count);
        vec![
            curve(
                "device",
                "Threads that read from the device",
                threads,
                &[(SWEEP, DEVICE.into())],
            ),
            curve(
                "length",
                "One thread that reads from the page cache",
                (LENGTH, "length", Unit::Bytes),
                &[(SWEEP, LENGTHS.into())],
            ),
        ]
    }
}

fn points(profile: Profile) -> Vec<Point> {
    let quick = profile == Profile::Quick;
    // What the report read, or a tenth of it.
    let long = if quick { 1_000_000 } else { 10_000_000 };
    let lengths: &[u64] = if quick {
        &[1, 100_000]
    } else {
        &[1, 10, 100, 1000, 10_000, 100_000]
    };
    let counts: &[u64] = if quick {
        &[1, 10, MANY]
    } else {
        &[1, 2, 3, 10, 30, MANY]
    };
    let few: &[u64] = if quick { &[MANY] } else { counts };
    let one = lengths.iter().map(|&length| (LENGTHS, 1, length, 0));
    let cached = few.iter().map(|&threads| (CACHED, threads, long, 0));
    let device = counts
        .iter()
        .map(|&threads| (DEVICE, threads, DEVICE_LENGTH, 0));
    let both = few
        .iter()
        .map(|&threads| (BESIDE, threads, DEVICE_LENGTH, threads));
    let with_modes = |(sweep, io_threads, length, computing): (&str, u64, u64, u64)| {
        [SYNCHRONOUS, ASYNCHRONOUS].map(|mode| {
            Point::new()
                .with(MODE, mode)
                .with(SWEEP, sweep)
                .with(IO_THREADS, io_threads)
                .with(LENGTH, length)
                .with(COMPUTING, computing)
        })
    };
    one.chain(cached)
        .chain(device)
        .chain(both)
        .flat_map(with_modes)
        .collect()
}

/// Both modes at the numbers of threads that were measured with these other levels, and how many
/// times as long the synchronous one takes.
fn compared<'r>(
    results: &'r Results,
    levels: &[(&str, Level)],
) -> Vec<(u64, &'r Estimate, &'r Estimate, Estimated)> {
    let curve = |mode: &str| {
        let levels: Vec<_> = levels
            .iter()
            .cloned()
            .chain([(MODE, mode.into())])
            .collect();
        results.curve(RUN, IO_THREADS, &levels)
    };
    let both = side_by_side(&curve(SYNCHRONOUS), &curve(ASYNCHRONOUS)).into_iter();
    both.filter_map(|(threads, one, other)| Some((threads, one, other, ratio(one, other)?)))
        .collect()
}

/// From how many threads on waiting together is faster than one after the other.
fn break_even(results: &Results) -> Option<Finding> {
    let compared = compared(results, &[(SWEEP, DEVICE.into())]);
    let (most, _, _, times) = compared.last().filter(|(threads, ..)| *threads > 1)?;
    let faster = |times: &Estimated| times.interval.map_or(times.centre, |at| at.low) > 1.0;
    let first = compared
        .iter()
        .rev()
        .take_while(|(.., times)| faster(times))
        .last();
    let Some((from, ..)) = first else {
        let template = "Reading from the device, no gain of asynchronous threads shows: with {most} \
                        of them, synchronous ones take {times} as long.";
        // Who may still win, by the interval, is not said to lose.
        let may_win = times.interval.is_none_or(|at| at.high > WORTH_HAVING);
        return Some(
            Finding::new("break_even", template)
                .given("most", *most as f64, Unit::Count)
                .with("times", times, Unit::Ratio)
                .graded(if may_win {
                    Grade::CannotBeTold
                } else {
                    Grade::Certain
                })
                .weighing(0.5),
        );
    };
    let before = compared
        .iter()
        .map(|(threads, ..)| *threads)
        .filter(|threads| threads < from);
    let between = match before.max() {
        Some(before) if before + 1 < *from => format!(" ({before} did not)"),
        _ => String::new(),
    };
    let template = format!(
        "Reading {{length}} each from the device, asynchronous threads win from {{from}} on{between}; \
         with {{most}} threads, synchronous ones take {{times}} as long."
    );
    Some(
        Finding::new("break_even", &template)
            .given("length", DEVICE_LENGTH as f64, Unit::Bytes)
            .given("from", *from as f64, Unit::Count)
            .given("most", *most as f64, Unit::Count)
            .with("times", times, Unit::Ratio)
            .graded(grade(times, 1.0))
            .weighing(0.6),
    )
}

/// What asynchronous reading costs where there is nothing to wait for.
fn from_cache(results: &Results) -> Option<Finding> {
    let levels = [(SWEEP, LENGTHS.into())];
    let curve = |mode: &str| {
        let levels: Vec<_> = levels
            .iter()
            .cloned()
            .chain([(MODE, mode.into())])
            .collect();
        results.curve(RUN, LENGTH, &levels)
    };
    let (synchronous, asynchronous) = (curve(SYNCHRONOUS), curve(ASYNCHRONOUS));
    let ((length, one), (_, other)) = (synchronous.first()?, asynchronous.first()?);
    let times = ratio(other, one)?;
    let template = "Out of the page cache there is nothing to wait for: a thread that reads \
                    {length} takes {one} synchronously, and {times} that asynchronously.";
    Some(
        Finding::new("from_cache", template)
            .given("length", *length as f64, Unit::Bytes)
            .estimated("one", one.centre, one.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.35),
    )
}

/// What is won where there is something to compute meanwhile.
fn beside_computing(results: &Results) -> Option<Finding> {
    let compared = compared(results, &[(SWEEP, BESIDE.into())]);
    let (threads, one, other, times) = compared.last()?;
    let template = "{threads} threads that read from the device beside as many that compute take \
                    {synchronous} synchronously and {asynchronous} asynchronously: {times}.";
    Some(
        Finding::new("beside_computing", template)
            .given("threads", *threads as f64, Unit::Count)
            .estimated("synchronous", one.centre, one.interval, Unit::Nanoseconds)
            .estimated(
                "asynchronous",
                other.centre,
                other.interval,
                Unit::Nanoseconds,
            )
            .with("times", times, Unit::Ratio)
            .graded(grade(times, 1.0))
            .weighing(0.4),
    )
}

#[cfg(test)]
mod tests {
    use super::{ASYNCHRONOUS, Io, MODE, RUN, SYNCHRONOUS, file_bytes, points};
    use crate::made_up::{machine, number, result, results, spread};
    use instrument::experiment::Experiment;
    use instrument::finding::Grade;
    use instrument::plan::Profile;

    #[test]
    fn every_thread_has_a_whole_part_of_the_file() {
        for length in [1, 4096, 65_536, 1_000_000, 10_000_000, 100_000_000] {
            let bytes = file_bytes(length);
            assert!(
                bytes >= length && bytes.is_multiple_of(length),
                "{length}: {bytes}"
            );
        }
    }

    #[test]
    fn asynchronous_threads_win_from_the_number_on_from_which_they_always_do() {
        let (definition, machine) = (Io.definition(), machine());
        let made_up = points(Profile::Quick).into_iter().map(|point| {
            let threads = point.number("io_threads").expect("it has them") as f64;
            let time = match point.choice(MODE) {
                Ok(SYNCHRONOUS) => 100.0 * threads,
                _ => 120.0 + 20.0 * threads,
            };
            result(point, &[(RUN, time)])
        });
        let findings = Io.findings(&results(&definition, &machine, made_up.collect()));
        assert!((number(&findings[0], "from").value - 10.0).abs() < 1e-9);
        assert!(findings[0].template.contains("(1 did not)"));
        assert_eq!(findings.len(), 3);
        let made_up = points(Profile::Quick).into_iter().map(|point| {
            let uncertain = if point.choice(MODE) == Ok(SYNCHRONOUS) {
                0.3
            } else {
                0.001
            };
            spread(point, &[(RUN, 100.0)], uncertain)
        });
        let findings = Io.findings(&results(&definition, &machine, made_up.collect()));
        assert_eq!(findings[0].key, "break_even");
        assert_eq!(findings[0].grade, Grade::CannotBeTold);
        let modes = points(Profile::Standard).into_iter();
        let asynchronous = modes
            .filter(|point| point.choice(MODE) == Ok(ASYNCHRONOUS))
            .count();
        assert_eq!(2 * asynchronous, points(Profile::Standard).len());
    }

    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    #[test]
    fn both_modes_are_measured_here() {
        use super::{CACHED, COMPUTING, IO_THREADS, LENGTH, SWEEP};
        use crate::made_up::{count, measure};
        use instrument::point::Point;

        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for mode in [SYNCHRONOUS, ASYNCHRONOUS] {
            let point = Point::new()
                .with(MODE, mode)
                .with(SWEEP, CACHED)
                .with(IO_THREADS, 3)
                .with(LENGTH, 300_000)
                .with(COMPUTING, 2);
            let (samples, _) = measure(&Io, &point, scratch.path()).expect("it works here");
            assert!(count(&samples, RUN) >= 1, "{mode}");
        }
    }
}
