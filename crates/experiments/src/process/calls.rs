//! `process.calls`: what calls into the system and its library cost.

use crate::estimates::{WithEstimate, grade, ratio, time_ns};
use crate::figures::{bars, logarithmic, names};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use platform::call;
use platform::file::{OpenMode, create};
use std::ffi::CString;
use std::fs::File;
use std::hint::black_box;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What calls into the system and its library cost.
pub(crate) struct Calls;

pub(crate) const AXIS: &str = "call";
pub(crate) const RATE: &str = "rate";
const LATENCY: &str = "latency";

pub(crate) const GETPID: &str = "getpid";
const READ: &str = "read 1 byte";
const SEEK: &str = "lseek";
pub(crate) const OPEN: &str = "open+close";
pub(crate) const FOPEN: &str = "fopen+fclose";
const CREATE: &str = "create+delete";
pub(crate) const MALLOC: &str = "malloc+free";
pub(crate) const FORK: &str = "fork+exit+wait";

const CALLS: [&str; 8] = [GETPID, READ, SEEK, OPEN, FOPEN, CREATE, MALLOC, FORK];

/// Bytes taken from the allocator, as in the report.
const MALLOC_BYTES: usize = 4;
/// Length of the file that is read byte by byte: winding it back costs two calls in this many.
const FILE_BYTES: u64 = 16 << 10;
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
                 of the loop's start and of the clock. Its latency is measured apart: single \
                 operations, each between two readings of the clock, whose cost is taken off. One \
                 operation is, through the C library: getpid, one system call that no library \
                 answers from memory; read 1 byte, one read of a regular file in the page cache, \
                 which is wound back after {FILE_BYTES} bytes; lseek, one step of 1 byte; \
                 open+close, one of each on an existing file; fopen+fclose, the same through a \
                 stream that is not read from; create+delete, open of a file that did not exist, \
                 close and unlink, with nothing waited for on the device; malloc+free, \
                 {MALLOC_BYTES} bytes taken and given back untouched; fork+exit+wait, a child that \
                 ends at once and is waited for before the next is made. The parent of the fork is \
                 a small process: a larger one takes longer. Files are in the scratch directory."
            ),
            source: "Report E, section 5.1".into(),
            axes: vec![Axis::choice(AXIS, "call")],
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
            .map(|call| Point::new().with(AXIS, *call))
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let path = ScratchPath::new(sampler.scratch(), "process.calls")?;
        match point.choice(AXIS)? {
            GETPID => time(sampler, || Ok(call::getpid_syscall().map(drop)?)),
            READ => {
                let mut file = path.make_file()?;
                time(sampler, || read_byte(&mut file))
            }
            SEEK => {
                let file = path.make_file()?;
                time(sampler, || Ok(call::seek(&file).map(drop)?))
            }
            OPEN => {
                path.make_file()?;
                time(sampler, || Ok(call::open_close(&path.terminated)?))
            }
            FOPEN => {
                path.make_file()?;
                time(sampler, || Ok(call::fopen_fclose(&path.terminated)?))
            }
            CREATE => {
                path.make_sure_nothing_is_there()?;
                time(sampler, || Ok(call::create_delete(&path.terminated)?))
            }
            MALLOC => time(sampler, || Ok(call::malloc_free(black_box(MALLOC_BYTES))?)),
            FORK => time(sampler, || Ok(call::fork_exit_wait()?)),
            other => Err(MeasureError::Unsupported(format!(
                "there is no call '{other}'"
            ))),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let comparisons = [
            system_call(results),
            fork(results),
            library(results),
            create_delete(results),
            allocation(results),
            read_byte_over_getpid(results),
            tail(results),
        ];
        comparisons.into_iter().flatten().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |metric: &str, title: &str, unit: Unit| {
            let axes = (names("call"), logarithmic(metric, unit));
            let series = vec![results.series(metric, metric, AXIS, &[])];
            bars(metric, title, axes, series)
        };
        vec![
            figure(RATE, "Calls per second", Unit::OperationsPerSecond),
            figure(LATENCY, "Time of a single call", Unit::Nanoseconds),
        ]
    }
}

/// Measures both metrics of one operation.
fn time(
    sampler: &mut Sampler<'_>,
    mut operation: impl FnMut() -> Result<(), MeasureError>,
) -> Result<(), MeasureError> {
    sampler.repeat(RATE, 1.0, |iterations| {
        (0..iterations).try_for_each(|_| operation())
    })?;
    sampler.latencies(LATENCY, operation)
}

/// Reads the next byte, or winds back at the end.
fn read_byte(file: &mut File) -> Result<(), MeasureError> {
    if black_box(call::read_byte(file)?).is_none() {
        file.seek(SeekFrom::Start(0))
            .map_err(MeasureError::system("wind back the file"))?;
    }
    Ok(())
}

/// A path in the scratch directory in both of its forms.
struct ScratchPath {
    path: PathBuf,
    terminated: CString,
}

impl ScratchPath {
    fn new(scratch: &Path, name: &str) -> Result<Self, MeasureError> {
        let path = scratch.join(name);
        let terminated = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(MeasureError::system("name a scratch file"))?;
        Ok(Self { path, terminated })
    }

    fn make_file(&self) -> Result<File, MeasureError> {
        let mut file = create(&self.path, OpenMode::Plain)?;
        file.write_all(&[1; FILE_BYTES as usize])
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .map_err(MeasureError::system("fill a scratch file"))?;
        Ok(file)
    }

    fn make_sure_nothing_is_there(&self) -> Result<(), MeasureError> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(MeasureError::system("remove a scratch file")(error))
            }
            _ => Ok(()),
        }
    }
}

/// What was estimated of `metric` for `call`, if it may be used.
fn of<'r>(results: &'r Results, call: &str, metric: &str) -> Option<&'r Estimate> {
    let estimate = results.at(&[(AXIS, call.into())])?.estimate(metric)?;
    estimate.is_sound().then_some(estimate)
}

fn rate<'r>(results: &'r Results, call: &str) -> Option<&'r Estimate> {
    of(results, call, RATE)
}

fn system_call(results: &Results) -> Option<Finding> {
    let cost = time_ns(rate(results, GETPID)?, 1.0)?;
    let template = "A system call takes at least {cost}: that is the way into the kernel and back.";
    Some(
        Finding::new("system_call", template)
            .with("cost", &cost, Unit::Nanoseconds)
            .weighing(0.7),
    )
}

fn fork(results: &Results) -> Option<Finding> {
    let fork = rate(results, FORK)?;
    let cost = time_ns(fork, 1.0)?;
    let calls = ratio(rate(results, GETPID)?, fork)?;
    let template = "Making a process and waiting for its end takes {cost}, the time of {calls} \
                    system calls.";
    let finding = Finding::new("fork", template)
        .with("cost", &cost, Unit::Nanoseconds)
        .with("calls", &calls, Unit::Count);
    Some(finding.graded(grade(&calls, 1.0)).weighing(0.65))
}

fn library(results: &Results) -> Option<Finding> {
    let times = ratio(rate(results, OPEN)?, rate(results, FOPEN)?)?;
    let open = time_ns(rate(results, OPEN)?, 1.0)?;
    let fopen = time_ns(rate(results, FOPEN)?, 1.0)?;
    let template = "Opening and closing a file takes {open}, and {fopen} by a stream of the C \
                    library: {times} as long before a byte is read.";
    let finding = Finding::new("library", template)
        .with("open", &open, Unit::Nanoseconds)
        .with("fopen", &fopen, Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.45))
}

fn create_delete(results: &Results) -> Option<Finding> {
    let create = rate(results, CREATE)?;
    let cost = time_ns(create, 1.0)?;
    let times = ratio(rate(results, OPEN)?, create)?;
    let template = "Making and deleting an empty file takes {cost}, {times} the time of opening \
                    and closing one that exists.";
    let finding = Finding::new("create_delete", template)
        .with("cost", &cost, Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.45))
}

fn allocation(results: &Results) -> Option<Finding> {
    let malloc = rate(results, MALLOC)?;
    let cost = time_ns(malloc, 1.0)?;
    let count = ratio(malloc, rate(results, GETPID)?)?;
    let template = "Taking and giving back a little memory takes {cost}: {count} times within one \
                    system call, so the allocator does not call the system.";
    let faster = count.interval.map_or(count.centre, |interval| interval.low) > 1.0;
    // Otherwise it is the sentence's conclusion that does not follow.
    faster.then(|| {
        Finding::new("allocation", template)
            .with("cost", &cost, Unit::Nanoseconds)
            .with("count", &count, Unit::Count)
            .graded(grade(&count, 1.0))
            .weighing(0.4)
    })
}

fn read_byte_over_getpid(results: &Results) -> Option<Finding> {
    let read = rate(results, READ)?;
    let cost = time_ns(read, 1.0)?;
    let times = ratio(rate(results, GETPID)?, read)?;
    let template = "Reading a single byte of a file in memory takes {cost}, {times} the time of \
                    the shortest system call: read in larger blocks.";
    let finding = Finding::new("read_byte", template)
        .with("cost", &cost, Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.4))
}

/// The call whose slowest 1 % stands furthest from its median.
fn tail(results: &Results) -> Option<Finding> {
    let percentiles = CALLS.iter().filter_map(|call| {
        let percentiles = of(results, call, LATENCY)?.percentiles?;
        let reach = percentiles.p99_ns / percentiles.p50_ns;
        reach.is_finite().then_some((call, percentiles, reach))
    });
    let (call, percentiles, reach) = percentiles.max_by(|(.., a), (.., b)| a.total_cmp(b))?;
    let template = format!(
        "The slowest hundredth of {call} takes {{p99}} or more, {{reach}} the median of {{p50}}."
    );
    let finding = Finding::new("tail", &template)
        .given("p99", percentiles.p99_ns, Unit::Nanoseconds)
        .given("reach", reach, Unit::Ratio)
        .given("p50", percentiles.p50_ns, Unit::Nanoseconds);
    Some(finding.weighing(0.3))
}

#[cfg(test)]
mod tests {
    use super::{AXIS, CALLS, Calls, FORK, GETPID, LATENCY, MALLOC, OPEN, RATE};
    use crate::made_up::{count, machine, measure, result, results, setting, spread};
    use instrument::experiment::Experiment;
    use instrument::finding::Grade;
    use instrument::plan::Profile;
    use instrument::point::Point;
    use instrument::results::PointResult;

    fn at(call: &str, rate: f64) -> PointResult {
        result(Point::new().with(AXIS, call), &[(RATE, rate)])
    }

    #[test]
    fn a_point_is_a_call() {
        let points = Calls.points(&setting(Profile::Quick));
        assert_eq!(points.len(), CALLS.len());
        assert_eq!(points[0].choice(AXIS), Ok(GETPID));
    }

    #[test]
    fn the_cost_of_a_fork_is_told_in_system_calls() {
        let (definition, machine) = (Calls.definition(), machine());
        let results = results(&definition, &machine, vec![at(GETPID, 1e7), at(FORK, 1e4)]);
        let findings = Calls.findings(&results);
        let fork = findings
            .iter()
            .find(|finding| finding.key == "fork")
            .expect("both are there");
        let calls = fork
            .numbers
            .iter()
            .find(|number| number.name == "calls")
            .expect("named so");
        assert!((calls.value - 1000.0).abs() < 1.0, "{calls:?}");
        assert!(calls.interval.expect("five processes").contains(1000.0));
        assert_eq!(fork.grade, Grade::Certain);
    }

    #[test]
    fn what_was_not_measured_gives_no_finding() {
        let (definition, machine) = (Calls.definition(), machine());
        let results = results(&definition, &machine, vec![at(FORK, 1e4), at(OPEN, 1e6)]);
        assert_eq!(Calls.findings(&results), []);
        let figures = Calls.figures(&results);
        assert_eq!(figures[0].series[0].points.len(), 2);
    }

    #[test]
    fn an_allocator_no_faster_than_the_kernel_is_not_called_so() {
        let (definition, machine) = (Calls.definition(), machine());
        let noisy = spread(Point::new().with(AXIS, MALLOC), &[(RATE, 1.05e7)], 0.1);
        let results = results(&definition, &machine, vec![at(GETPID, 1e7), noisy]);
        let findings = Calls.findings(&results);
        assert!(
            findings.iter().all(|finding| finding.key != "allocation"),
            "{findings:?}"
        );
    }

    #[test]
    fn every_call_is_measured_here() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for point in Calls.points(&setting(Profile::Quick)) {
            let (samples, _) = measure(&Calls, &point, scratch.path()).expect("calls work here");
            assert!(count(&samples, RATE) >= 1, "{point}");
            assert_eq!(count(&samples, LATENCY), 1, "{point}");
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
        let point = Point::new().with(AXIS, "sleep");
        let error = measure(&Calls, &point, scratch.path()).expect_err("no such call");
        assert_eq!(error.to_string(), "there is no call 'sleep'");
    }
}
