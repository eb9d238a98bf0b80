//! `file.remote`: a directory on another machine against one on this.

use super::MOST_BYTES_PER_SECOND;
use super::order::CHUNK_SIZE;
use super::sizes::{KIB, MIB, by_profile};
use crate::estimates::{WithEstimate, difference, estimated, grade, ratio};
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
use instrument::statistics::linear::weighted_line;
use instrument::statistics::{Confidence, Estimated, Interval, Scale};
use platform::file::{OpenMode, create};
use platform::storage::Storage;
use std::cell::RefCell;
use std::io::Write;

/// A directory on another machine against one on this.
pub(crate) struct Remote;

const PLACE: &str = "place";
const LOCAL: &str = "local";
const REMOTE: &str = "remote";

const WRITE: &str = "write";
const THROUGHPUT: &str = "throughput";

/// Writes in a file: no more than so many, and no more than so many bytes, but at least two.
const MOST_WRITES: u64 = 32;

impl Experiment for Remote {
    fn id(&self) -> &'static str {
        "file.remote"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Local against remote files".into(),
            question: "How much slower are files on another machine, and what does the way there \
                       and back cost?"
                .into(),
            method: "A file is made in the local scratch directory and in the remote one, and \
                     filled by writes of one chunk to a file opened with O_SYNC, each of which \
                     waits until its data is safe as far as the file system can tell. The time of a \
                     write is that of all writes over their number; opening and closing are left \
                     out. A straight line through the times of the remote writes by chunk size \
                     gives what a write waits whatever its size, and the speed of the line. A \
                     remote file system may need more than one round trip for a write that waits. \
                     Reads are not measured: the second of them would come from this machine's own \
                     page cache."
                .into(),
            source: "Report E, section 4.4".into(),
            axes: vec![
                Axis::choice(PLACE, "place"),
                Axis::bytes(CHUNK_SIZE, "chunk size"),
            ],
            metrics: vec![
                Metric::new(WRITE, "time of a write", Unit::Nanoseconds, Better::Lower),
                Metric::new(THROUGHPUT, "throughput", Unit::BytesPerSecond, Better::Higher)
                    .bounded(MOST_BYTES_PER_SECOND),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![
            Need::Remote,
            Need::Space(Bytes(most_bytes(setting.profile))),
        ]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let sizes: &[u64] = by_profile(
            setting.profile,
            [
                &[64, KIB, 16 * KIB, 128 * KIB, MIB],
                &[64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB],
                &[
                    64,
                    256,
                    KIB,
                    4 * KIB,
                    16 * KIB,
                    64 * KIB,
                    256 * KIB,
                    MIB,
                    4 * MIB,
                ],
            ],
        );
        let at = |place: &str| {
            let point = Point::new().with(PLACE, place);
            sizes
                .iter()
                .map(move |size| point.clone().with(CHUNK_SIZE, *size))
        };
        [LOCAL, REMOTE].into_iter().flat_map(at).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let directory = match point.choice(PLACE)? {
            LOCAL => sampler.scratch(),
            REMOTE => sampler.remote()?,
            other => {
                let reason = format!("there is no place '{other}'");
                return Err(MeasureError::Unsupported(reason));
            }
        };
        let chunk_size = point.number(CHUNK_SIZE)?;
        let path = directory.join(self.id());
        let storage = Storage::behind(directory)?;
        let writes = (most_bytes(Profile::Quick) / chunk_size).clamp(2, MOST_WRITES);
        let chunk = vec![0x5a; chunk_size as usize];
        sampler.remark(remark(point.choice(PLACE)?, &storage))?;

        let file = RefCell::new(create(&path, OpenMode::Synchronous)?);
        let metrics = [
            (WRITE, writes as f64),
            (THROUGHPUT, (writes * chunk_size) as f64),
        ];
        let prepare = |_: &mut Sampler<'_>| {
            file.replace(create(&path, OpenMode::Synchronous)?);
            Ok(())
        };
        sampler.once_as(&metrics, prepare, || {
            let mut file = file.borrow_mut();
            (0..writes)
                .try_for_each(|_| file.write_all(&chunk))
                .map_err(MeasureError::system("write the scratch file"))
        })?;
        drop(file);
        std::fs::remove_file(&path).map_err(MeasureError::system("remove the scratch file"))
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [small_writes(results), line(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |metric: &str, title: &str, axis: &str, unit: Unit| {
            let line =
                |place: &str| results.series(place, metric, CHUNK_SIZE, &[(PLACE, place.into())]);
            let axes = (
                logarithmic("chunk size", Unit::Bytes),
                logarithmic(axis, unit),
            );
            curves(
                metric,
                title,
                axes,
                [LOCAL, REMOTE].map(line).into(),
                Vec::new(),
            )
        };
        vec![
            figure(
                WRITE,
                "Time of a write that waits",
                "time",
                Unit::Nanoseconds,
            ),
            figure(
                THROUGHPUT,
                "Throughput of writes that wait",
                "throughput",
                Unit::BytesPerSecond,
            ),
        ]
    }
}

const fn most_bytes(profile: Profile) -> u64 {
    by_profile(profile, [2 * MIB, 2 * MIB, 8 * MIB])
}

/// What lies behind the directory.
fn remark(place: &str, storage: &Storage) -> String {
    let source = storage.source.as_deref().unwrap_or("an unnamed source");
    let doubt = if place == REMOTE && !storage.is_remote() {
        ", which is not known to be on another machine"
    } else {
        ""
    };
    format!(
        "{place}: {} from {source}, mounted on {}{doubt}",
        storage.file_system,
        storage.mount_point.display()
    )
}

fn writes<'r>(results: &'r Results, place: &str) -> Vec<(u64, &'r Estimate)> {
    results.curve(WRITE, CHUNK_SIZE, &[(PLACE, place.into())])
}

fn small_writes(results: &Results) -> Option<Finding> {
    let (chunk, remote) = writes(results, REMOTE).into_iter().next()?;
    let local = writes(results, LOCAL);
    let (_, local) = local.iter().find(|(size, _)| *size == chunk)?;
    let times = ratio(remote, local)?;
    let extra = difference(&estimated(remote), &estimated(local));
    let template = if extra.centre > 0.0 {
        "A write of {chunk} that waits takes {remote} on the remote directory, {times} as long as \
         on the local one: the way there and back costs {extra}, in as many round trips as its \
         file system needs."
    } else {
        "A write of {chunk} that waits takes {remote} on the remote directory, and no longer than \
         on the local one: {times} its time. The local device is what takes long."
    };
    let finding = Finding::new("round_trip", template)
        .given("chunk", chunk as f64, Unit::Bytes)
        .with("remote", &estimated(remote), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio)
        .with("extra", &extra, Unit::Nanoseconds);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.7))
}

/// What a remote write waits, and how fast the line is beside.
fn line(results: &Results) -> Option<Finding> {
    let remote = writes(results, REMOTE);
    let sizes: Vec<f64> = remote.iter().map(|(size, _)| *size as f64).collect();
    let times: Vec<f64> = remote.iter().map(|(_, time)| time.centre).collect();
    // The error of a time is a share of it.
    let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
    let line = weighted_line(&sizes, &times, &weights, Confidence::NINETY_FIVE)?;
    let speed = speed(&line.slope)?;
    let template = "Each remote write waits {waits} whatever its size, and its bytes travel at \
                    {speed}.";
    let finding = Finding::new("line", template)
        .with("waits", &line.intercept, Unit::Nanoseconds)
        .with("speed", &speed, Unit::BytesPerSecond);
    let is_known = speed.interval.is_some() && line.intercept.centre > 0.0;
    let grade = if is_known {
        Grade::Certain
    } else {
        Grade::Likely
    };
    Some(finding.graded(grade).weighing(0.6))
}

/// Bytes per second from ns for each byte; `None` where the time does not grow with the bytes.
fn speed(slope: &Estimated) -> Option<Estimated> {
    let per_second = |ns: f64| 1e9 / ns;
    (slope.centre > 0.0).then(|| Estimated {
        centre: per_second(slope.centre),
        interval: slope
            .interval
            .filter(|interval| interval.low > 0.0)
            .and_then(|interval| {
                Interval::new(per_second(interval.high), per_second(interval.low))
            }),
        n: slope.n,
        scale: Scale::Logarithmic,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{cost_result, count, machine, measure, results, setting, value};
    use instrument::plan::Plan;
    use instrument::results::PointResult;
    use std::path::PathBuf;

    fn point(place: &str, chunk: u64) -> Point {
        Point::new().with(PLACE, place).with(CHUNK_SIZE, chunk)
    }

    fn at(place: &str, chunk: u64, ns: f64) -> PointResult {
        let costs = [(WRITE, ns, 1.0), (THROUGHPUT, ns, chunk as f64)];
        cost_result(&Remote, &point(place, chunk), &costs)
    }

    #[test]
    fn the_round_trip_and_the_speed_of_the_line_follow_from_the_times() {
        let (definition, machine) = (Remote.definition(), machine());
        // Half a millisecond to wait, then 80 ns for each byte: 12.5 MB/s.
        let sizes = [64, KIB, 16 * KIB, MIB];
        let remote = sizes.map(|size| at(REMOTE, size, 500e3 + 80.0 * size as f64));
        let local = sizes.map(|size| at(LOCAL, size, 50e3));
        let points = remote.into_iter().chain(local).collect();
        let found = Remote.findings(&results(&definition, &machine, points));
        let value = |key, name| value(&found, key, name);
        assert!((value("line", "speed") / 12.5e6 - 1.0).abs() < 0.01);
        assert!((value("line", "waits") / 500e3 - 1.0).abs() < 0.01);
        assert!((value("round_trip", "times") / 10.1 - 1.0).abs() < 0.01);
        assert!((value("round_trip", "extra") / 455e3 - 1.0).abs() < 0.01);
        assert_eq!(
            Remote.findings(&results(&definition, &machine, Vec::new())),
            []
        );
    }

    #[test]
    fn without_a_remote_directory_it_says_what_to_do() {
        let mut setting = setting(Profile::Quick);
        let plan = Plan::new(&[&Remote], &setting, None, 1);
        let reason = plan.experiments[0]
            .points
            .as_ref()
            .expect_err("none was given");
        assert!(reason.contains("--remote DIR"), "{reason}");
        setting.remote = Some(PathBuf::from("/"));
        let plan = Plan::new(&[&Remote], &setting, None, 1);
        assert_eq!(plan.experiments[0].point_count(), 10);
    }

    #[test]
    fn both_places_are_written_and_cleaned() {
        let scratch = scratch();
        for place in [LOCAL, REMOTE] {
            let (samples, remarks) =
                measure(&Remote, &point(place, KIB), scratch.path()).expect(place);
            assert!(count(&samples, WRITE) >= 1 && count(&samples, THROUGHPUT) >= 1);
            let is_doubted = remarks[0].contains("not known to be on another machine");
            assert_eq!(is_doubted, place == REMOTE, "{remarks:?}");
        }
        assert_eq!(std::fs::read_dir(scratch.path()).expect("there").count(), 0);
    }
}
