//! `file.call`: what a call costs when it moves a single byte, over files of growing size.

use super::FILE_SIZE;
use super::scratch_file::ScratchFile;
use super::sizes::{KIB, by_profile};
use crate::estimates::{WithEstimate, difference, estimated, grade, ratio, time_ns};
use crate::figures::{curves, linear};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use instrument::statistics::Confidence;
use instrument::statistics::linear::{Line, weighted_line};
use platform::call;
use std::hint::black_box;

/// What a call costs when it moves a single byte.
pub(crate) struct Call;

pub(super) const CALL: &str = "call";
pub(super) const READ: &str = "read 1 byte";
pub(super) const SEEK: &str = "lseek 1 byte";

pub(super) const RATE: &str = "rate";
const WALL: &str = "wall";
const THROUGHPUT: &str = "throughput";

/// The file grows by this part of the largest at a time.
const STEPS: u64 = 10;
/// Even a call that does nothing takes half a nanosecond.
const MOST_PER_SECOND: f64 = 2e9;
/// How much of the variance a line must explain to be called straight.
const STRAIGHT: f64 = 0.99;

impl Experiment for Call {
    fn id(&self) -> &'static str {
        "file.call"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "System calls per byte".into(),
            question: "What does a file cost that is gone through byte by byte, and does that \
                       grow in step with its size?"
                .into(),
            method: "A scratch file that is in the page cache is gone through from its start to \
                     its end, one byte a call: by read of 1 byte, or by lseek, which moves the \
                     position on by 1 byte and so shows a call without the data. Ten files, from a \
                     tenth of the largest to all of it. Wall is the time of one pass, the rate its \
                     calls over that time, the throughput its bytes; winding back is left out. A \
                     straight line through the times of the ten sizes gives the cost of a call and \
                     what a pass costs beside its calls."
                .into(),
            source: "Reports A and B, section 5".into(),
            axes: vec![
                Axis::choice(CALL, "call"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: vec![
                Metric::new(
                    RATE,
                    "calls per second",
                    Unit::OperationsPerSecond,
                    Better::Higher,
                )
                .bounded(MOST_PER_SECOND),
                Metric::new(
                    WALL,
                    "wall time of a pass",
                    Unit::Nanoseconds,
                    Better::Lower,
                ),
                Metric::new(
                    THROUGHPUT,
                    "throughput",
                    Unit::BytesPerSecond,
                    Better::Higher,
                )
                .bounded(MOST_PER_SECOND),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let files: u64 = (1..=STEPS).map(|step| step * step_bytes(setting)).sum();
        vec![Need::Space(Bytes(files))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let step_bytes = step_bytes(setting);
        let of_call = |call: &str| {
            let point = Point::new().with(CALL, call);
            (1..=STEPS).map(move |step| point.clone().with(FILE_SIZE, step * step_bytes))
        };
        [READ, SEEK].into_iter().flat_map(of_call).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let len = point.number(FILE_SIZE)?;
        let path = sampler.scratch().join(format!("{} {len}", self.id()));
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        file.read_in()?;
        let calls = len as f64;
        let metrics = [(RATE, calls), (WALL, 1.0), (THROUGHPUT, calls)];
        let prepare = |_: &mut Sampler<'_>| file.wind_back();
        match point.choice(CALL)? {
            READ => sampler.once_as(&metrics, prepare, || {
                for _ in 0..len {
                    black_box(call::read_byte(&file.file)?);
                }
                Ok(())
            }),
            SEEK => sampler.once_as(&metrics, prepare, || {
                for _ in 0..len {
                    black_box(call::seek(&file.file)?);
                }
                Ok(())
            }),
            other => Err(MeasureError::Unsupported(format!(
                "there is no call '{other}'"
            ))),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let lines = [READ, SEEK].map(|call| line(results, call));
        lines
            .into_iter()
            .chain([read_over_seek(results)])
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let of = |metric: &str, title: &str, axis: &str, unit: Unit| {
            let line = |call: &str| results.series(call, metric, FILE_SIZE, &[(CALL, call.into())]);
            curves(
                metric,
                title,
                (linear("file size", Unit::Bytes), linear(axis, unit)),
                [READ, SEEK].map(line).into(),
                Vec::new(),
            )
        };
        vec![
            of(
                WALL,
                "Going through a file byte by byte",
                "wall time",
                Unit::Nanoseconds,
            ),
            of(RATE, "Calls per second", "calls", Unit::OperationsPerSecond),
        ]
    }
}

fn step_bytes(setting: &Setting) -> u64 {
    by_profile(setting.profile, [8 * KIB, 64 * KIB, 512 * KIB])
}

/// The time of a pass against its calls.
fn fit(results: &Results, call: &str) -> Option<Line> {
    let walls = results.curve(WALL, FILE_SIZE, &[(CALL, call.into())]);
    let calls: Vec<f64> = walls.iter().map(|(calls, _)| *calls as f64).collect();
    let times: Vec<f64> = walls.iter().map(|(_, wall)| wall.centre).collect();
    // The error of a time is a share of it.
    let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
    weighted_line(&calls, &times, &weights, Confidence::NINETY_FIVE)
}

fn line(results: &Results, call: &str) -> Option<Finding> {
    let line = fit(results, call)?;
    let rate = largest(results, call)?;
    let is_straight = line.explained >= STRAIGHT;
    let verdict = if is_straight {
        "The time grows in step with the size"
    } else {
        "The time does not grow evenly with the size"
    };
    let (key, what) = match call {
        READ => ("read", "Reading a file byte by byte"),
        _ => (
            "lseek",
            "Moving through a file byte by byte without reading",
        ),
    };
    let template = format!(
        "{what} takes {{slope}} a call, {{rate}}. {verdict}: a straight line explains {{explained}} \
         of it."
    );
    let finding = Finding::new(key, &template)
        .with("slope", &line.slope, Unit::Nanoseconds)
        .with("rate", &estimated(rate), Unit::OperationsPerSecond)
        .given("explained", line.explained, Unit::Share);
    let grade = match line.slope.interval {
        Some(_) if is_straight => Grade::Certain,
        _ => Grade::Likely,
    };
    Some(finding.graded(grade).weighing(0.5))
}

/// The rate over the largest file.
fn largest<'r>(results: &'r Results, call: &str) -> Option<&'r Estimate> {
    let (_, rate) = results
        .curve(RATE, FILE_SIZE, &[(CALL, call.into())])
        .pop()?;
    Some(rate)
}

fn read_over_seek(results: &Results) -> Option<Finding> {
    let (read, seek) = (largest(results, READ)?, largest(results, SEEK)?);
    let times = ratio(seek, read)?;
    let extra = difference(&time_ns(read, 1.0)?, &time_ns(seek, 1.0)?);
    let template = "Of a call that reads one byte, {extra} are spent on the byte: moving the \
                    position alone goes {times} as fast.";
    let finding = Finding::new("read_over_lseek", template)
        .with("extra", &extra, Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.45))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{cost_result, finding, number};
    use crate::made_up::{count, machine, measure, results, setting};
    use instrument::plan::Profile;
    use instrument::results::PointResult;

    fn point(call: &str, size: u64) -> Point {
        Point::new().with(CALL, call).with(FILE_SIZE, size)
    }

    /// Passes that cost 1 µs and so much for each call.
    fn passes(call: &str, call_ns: f64) -> impl Iterator<Item = PointResult> {
        (1..=STEPS).map(move |step| {
            let calls = (step * KIB) as f64;
            let wall = 1000.0 + calls * call_ns;
            let costs = [(WALL, wall, 1.0), (RATE, wall, calls)];
            cost_result(&Call, &point(call, step * KIB), &costs)
        })
    }

    #[test]
    fn the_slope_is_the_cost_of_a_call() {
        let (definition, machine) = (Call.definition(), machine());
        let points = passes(READ, 250.0).chain(passes(SEEK, 100.0)).collect();
        let found = Call.findings(&results(&definition, &machine, points));
        assert_eq!(found.len(), 3);
        let slope = number(finding(&found, "read"), "slope");
        assert!((slope.value - 250.0).abs() < 1.0, "{slope:?}");
        assert!(slope.interval.is_some());
        assert_eq!(found[0].grade, Grade::Certain);
        let extra = number(finding(&found, "read_over_lseek"), "extra");
        assert!((extra.value - 150.0).abs() < 1.0, "{extra:?}");
    }

    #[test]
    fn too_little_gives_no_finding() {
        let (definition, machine) = (Call.definition(), machine());
        let one = passes(READ, 250.0).take(1).collect();
        assert_eq!(Call.findings(&results(&definition, &machine, one)), []);
    }

    #[test]
    fn both_calls_are_measured_in_three_ways() {
        let scratch = scratch();
        for call in [READ, SEEK] {
            let (samples, _) = measure(&Call, &point(call, KIB), scratch.path()).expect(call);
            for metric in [RATE, WALL, THROUGHPUT] {
                assert!(count(&samples, metric) >= 1, "{call} {metric}");
            }
        }
        measure(&Call, &point("peek", KIB), scratch.path()).expect_err("there is no such call");
    }

    #[test]
    fn ten_sizes_of_two_calls() {
        let points = Call.points(&setting(Profile::Quick));
        assert_eq!(points.len(), 20);
    }
}
