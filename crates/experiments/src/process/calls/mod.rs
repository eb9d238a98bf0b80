//! `process.calls`: what calls into the system and its library cost.

mod findings;
mod operations;

use crate::figures::{bars, logarithmic, names};
use crate::levels::{self, OPTIMISATION};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use operations::{CALLS, FILE_BYTES, MALLOC_BYTES, MAP_BYTES, REPORTED};

pub(super) use operations::{
    CLOCK, CLOCK_SYSCALL, FOPEN, FORK, FORK_EXEC, GETPID, MALLOC, OPEN, SPAWN,
};

/// What calls into the system and its library cost.
pub(crate) struct Calls;

/// The point of a call, repeated by a loop of this level.
fn point(call: &str, optimisation: u64) -> Point {
    Point::new()
        .with(AXIS, call)
        .with(OPTIMISATION, optimisation)
}

pub(crate) const AXIS: &str = "call";
pub(crate) const RATE: &str = "rate";
const LATENCY: &str = "latency";

/// The optimisation level of the loop, unless it is in question.
pub(crate) const OPTIMISED: u64 = 3;
/// The level at which the calls of the report are measured too.
const UNOPTIMISED: u64 = 0;

/// Even a pair of calls that do nothing takes half a nanosecond.
const MOST_PER_SECOND: f64 = 2e9;

impl Experiment for Calls {
    fn id(&self) -> &'static str {
        "process.calls"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Calls per second".into(),
            question: "What does it cost to call the system, and the library on top of it?".into(),
            method: format!(
                "Each operation is repeated n and then 2n times; the difference is its cost, free \
                 of the loop's start and of the clock. The loop is \
                 compiled at optimisation 3 and, for the calls of the report, at 0 too: it calls \
                 the operation through a pointer, and the C library stays what it is. Latency is measured apart: single \
                 operations, each between two readings of the clock, whose cost is taken off. One \
                 operation is, through the C library: getpid, one system call that no library \
                 answers from memory; clock_gettime, the monotonic clock as programs read it and, \
                 apart, by a system call; read 1 byte, one read of a regular file in the page \
                 cache, which is wound back after {FILE_BYTES} bytes; write 1 byte, one write to \
                 /dev/null; lseek, one step of 1 byte; stat, of an existing file; open+close, one of \
                 each on an existing file; fopen+fclose, the same through a stream that is not \
                 read from; create+delete, open of a file that did not exist, close and unlink, \
                 with nothing waited for on the device; mmap+munmap, {MAP_BYTES} bytes of private \
                 memory that are not touched, and have no like neighbour that the kernel would merge \
                 them with; malloc+free, {MALLOC_BYTES} bytes taken and given \
                 back untouched; signal, a handler that only counts installed by sigaction and, \
                 apart, a signal sent to this thread (tgkill), handled and returned from; thread \
                 create+join, a thread that ends at once; fork+exit+wait, a child that ends at once \
                 and is waited for before the next is made; vfork+exit+wait, the same with a child \
                 that borrows the memory of its parent (clone with CLONE_VM and CLONE_VFORK); \
                 posix_spawn+wait and fork+exec+wait, the program `true` started without \
                 environment and waited for, its own start and end included. The parent of the \
                 children is a small process; process.fork_size asks what a larger one costs. Files \
                 are in the scratch directory."
            ),
            source: "Report E, section 5.1, and common practice".into(),
            axes: vec![Axis::choice(AXIS, "call"), levels::optimisation_axis()],
            metrics: vec![
                Metric::new(RATE, "rate", Unit::OperationsPerSecond, Better::Higher)
                    .bounded(MOST_PER_SECOND),
                Metric::new(LATENCY, "latency", Unit::Nanoseconds, Better::Lower),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(2 * FILE_BYTES))]
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        CALLS
            .iter()
            .map(|call| point(call, OPTIMISED))
            .chain(REPORTED.iter().map(|call| point(call, UNOPTIMISED)))
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let level = levels::level(point.number(OPTIMISATION)?, sampler)?;
        operations::measure(point.choice(AXIS)?, level, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |metric: &str, title: &str, unit: Unit| {
            let axes = (names("call"), logarithmic(metric, unit));
            let series = [OPTIMISED, UNOPTIMISED].into_iter().map(|level| {
                let label = format!("optimisation {level}");
                results.series(&label, metric, AXIS, &[(OPTIMISATION, level.into())])
            });
            let series = series.filter(|line| !line.points.is_empty());
            bars(metric, title, axes, series.collect())
        };
        vec![
            figure(RATE, "Calls per second", Unit::OperationsPerSecond),
            figure(LATENCY, "Time of a single call", Unit::Nanoseconds),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::operations::GETPID;
    use super::{AXIS, CALLS, Calls, LATENCY, OPTIMISATION, OPTIMISED, RATE, REPORTED};
    use crate::made_up::{count, measure, setting};
    use instrument::experiment::Experiment;
    use instrument::plan::Profile;

    #[test]
    fn a_point_is_a_call() {
        let points = Calls.points(&setting(Profile::Quick));
        assert_eq!(points.len(), CALLS.len() + REPORTED.len());
        assert!(points.len() <= 30);
        assert_eq!(points[0].choice(AXIS), Ok(GETPID));
    }

    #[test]
    fn every_call_is_measured_here() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for point in Calls.points(&setting(Profile::Quick)) {
            let (samples, _) = measure(&Calls, &point, scratch.path()).expect("calls work here");
            assert!(count(&samples, RATE) >= 1, "{point}");
            let is_optimised = point.number(OPTIMISATION) == Ok(OPTIMISED);
            let latencies = count(&samples, LATENCY);
            assert_eq!(latencies, usize::from(is_optimised), "{point}");
            let costs: Vec<_> = samples
                .iter()
                .filter_map(|s| s.reading.raw_cost_ns())
                .collect();
            assert!(costs.iter().all(|cost| *cost >= 0.0), "{point}: {costs:?}");
        }
    }

    #[test]
    fn a_call_of_another_version_is_refused() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let point = super::point("sleep", OPTIMISED);
        let error = measure(&Calls, &point, scratch.path()).expect_err("no such call");
        assert_eq!(error.to_string(), "there is no call 'sleep'");
    }
}
