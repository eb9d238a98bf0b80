//! `file.metadata`: what it costs to make, look at, open, rename and remove files.

use super::sizes::by_profile;
use crate::estimates::{WithEstimate, estimated, grade, known, ratio, time_ns};
use crate::figures::{curves, logarithmic};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What it costs to make, look at, open, rename and remove files.
pub(crate) struct Metadata;

const FILES: &str = "files";

const CREATE: &str = "create";
const STAT: &str = "stat";
const OPEN: &str = "open";
const RENAME: &str = "rename";
const UNLINK: &str = "unlink";
const OPERATIONS: [&str; 5] = [CREATE, STAT, OPEN, RENAME, UNLINK];

/// A file system takes no more than this for an empty file.
const BYTES_OF_A_FILE: u64 = 4 << 10;
/// Even a call that does nothing takes half a nanosecond.
const MOST_PER_SECOND: f64 = 2e9;

impl Experiment for Metadata {
    fn id(&self) -> &'static str {
        "file.metadata"
    }

    fn definition(&self) -> Definition {
        let rate = |name: &str| {
            Metric::new(name, name, Unit::OperationsPerSecond, Better::Higher)
                .bounded(MOST_PER_SECOND)
        };
        Definition {
            id: self.id().into(),
            title: "Files in a directory".into(),
            question: "How many files can be made, looked at, opened, renamed and removed in a \
                       second, and does that fall as a directory fills?"
                .into(),
            method: "In a fresh directory, a number of empty files is made (open with O_CREAT and \
                     O_EXCL, close), then each is looked at (stat), opened and closed, renamed \
                     within the directory, and removed (unlink), in the order in which they were \
                     made; the five rounds are timed apart. The rate is the files over the time of \
                     a round. Names are made beforehand. Nothing is waited for on the device: these \
                     are the costs of the kernel and of its memory of the directory, and writing \
                     back goes on behind."
                .into(),
            source: "common practice".into(),
            axes: vec![Axis::count(FILES, "files in the directory")],
            metrics: OPERATIONS.map(rate).into(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let most = numbers(setting).last().copied().unwrap_or(0);
        vec![Need::Space(Bytes(most * BYTES_OF_A_FILE))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        numbers(setting)
            .iter()
            .map(|files| Point::new().with(FILES, *files))
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let files = point.number(FILES)?;
        let directory = sampler.scratch().join(format!("{} {files}", self.id()));
        let names = |prefix: &str| -> Vec<PathBuf> {
            (0..files)
                .map(|number| directory.join(format!("{prefix}{number:08}")))
                .collect()
        };
        let (old, new) = (names("a"), names("b"));
        sampler.phases(files as f64, |phases| {
            make_afresh(&directory)?;
            phases.time(&[CREATE], || {
                each(CREATE, &old, |path| File::create_new(path))
            })?;
            phases.time(&[STAT], || each(STAT, &old, |path| fs::metadata(path)))?;
            phases.time(&[OPEN], || each(OPEN, &old, |path| File::open(path)))?;
            phases.time(&[RENAME], || {
                let mut targets = new.iter();
                each(RENAME, &old, |path| {
                    targets
                        .next()
                        .map_or(Ok(()), |target| fs::rename(path, target))
                })
            })?;
            phases.time(&[UNLINK], || {
                each(UNLINK, &new, |path| fs::remove_file(path))
            })
        })?;
        fs::remove_dir(&directory).map_err(MeasureError::system("remove a directory"))
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [making(results), dearest_to_scale(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        vec![curves(
            "rates",
            "Operations on files by their number",
            (
                logarithmic("files in the directory", Unit::Count),
                logarithmic("operations", Unit::OperationsPerSecond),
            ),
            OPERATIONS
                .map(|operation| results.series(operation, operation, FILES, &[]))
                .into(),
            Vec::new(),
        )]
    }
}

fn numbers(setting: &Setting) -> &'static [u64] {
    by_profile(
        setting.profile,
        [
            &[10, 100, 1000],
            &[10, 100, 1000, 10_000, 50_000],
            &[10, 100, 1000, 10_000, 100_000, 500_000],
        ],
    )
}

/// Makes the directory, without what a process that was stopped left in it.
fn make_afresh(directory: &Path) -> Result<(), MeasureError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(MeasureError::system("remove a directory")(error));
        }
        _ => {}
    }
    fs::create_dir(directory).map_err(MeasureError::system("make a directory"))
}

/// Does one operation on every file.
fn each<T>(
    operation: &str,
    paths: &[PathBuf],
    mut act: impl FnMut(&Path) -> io::Result<T>,
) -> Result<(), MeasureError> {
    let done = paths.iter().try_for_each(|path| act(path).map(drop));
    done.map_err(MeasureError::system(&format!("{operation} a scratch file")))
}

fn making(results: &Results) -> Option<Finding> {
    let last = |metric| results.curve(metric, FILES, &[]).pop();
    let (files, create) = last(CREATE)?;
    let (_, unlink) = last(UNLINK)?;
    let (_, stat) = last(STAT)?;
    let template = "In a directory of {files} files, one more is made in {create} and removed in \
                    {unlink}; a look at one takes {stat}.";
    let (create, unlink, stat) = (
        time_ns(create, 1.0)?,
        time_ns(unlink, 1.0)?,
        time_ns(stat, 1.0)?,
    );
    Some(
        Finding::new("making", template)
            .given("files", files as f64, Unit::Count)
            .with("create", &create, Unit::Nanoseconds)
            .with("unlink", &unlink, Unit::Nanoseconds)
            .with("stat", &stat, Unit::Nanoseconds)
            .graded(known(&[&create, &unlink, &stat]))
            .weighing(0.5),
    )
}

/// The operation that loses most from the smallest well-filled directory to the fullest.
fn dearest_to_scale(results: &Results) -> Option<Finding> {
    let losses = OPERATIONS.iter().filter_map(|operation| {
        let curve = results.curve(operation, FILES, &[]);
        // The first of few files pay for what the directory itself needs.
        let (few, first) = *curve.iter().find(|(files, _)| *files >= 100)?;
        let (many, last) = *curve.last()?;
        (many > few).then_some((operation, few, many, last, ratio(first, last)?))
    });
    let (operation, few, many, rate, times) =
        losses.max_by(|(.., a), (.., b)| a.centre.total_cmp(&b.centre))?;
    let grade = grade(&times, 1.0);
    let slows = grade == Grade::Certain && times.centre > 1.0;
    let template = if slows {
        format!(
            "As the directory fills from {{few}} to {{many}} files, {operation} slows down most: \
             it takes {{times}} as long, {{rate}}."
        )
    } else {
        format!(
            "From {{few}} to {{many}} files in the directory nothing is seen to slow down: \
             {operation}, which changes most, takes {{times}} as long, {{rate}}."
        )
    };
    let finding = Finding::new("scale", &template)
        .given("few", few as f64, Unit::Count)
        .given("many", many as f64, Unit::Count)
        .with("times", &times, Unit::Ratio)
        .with("rate", &estimated(rate), Unit::OperationsPerSecond);
    let grade = if slows { Grade::Certain } else { Grade::Likely };
    Some(finding.graded(grade).weighing(0.4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{count, machine, measure, result, results, setting, value};
    use instrument::plan::Profile;
    use instrument::results::PointResult;

    fn at(files: u64, create: f64) -> PointResult {
        let rates = [(CREATE, create), (STAT, 1e6), (UNLINK, 2e5)];
        result(Point::new().with(FILES, files), &rates)
    }

    #[test]
    fn what_slows_down_is_named() {
        let (definition, machine) = (Metadata.definition(), machine());
        let points = vec![at(10, 1e4), at(100, 2e5), at(1000, 1e5)];
        let found = Metadata.findings(&results(&definition, &machine, points));
        assert!(found[1].template.contains("create slows down"));
        assert!((value(&found, "scale", "times") - 2.0).abs() < 0.01);
        assert!((value(&found, "making", "create") - 1e4).abs() < 100.0);
        let steady = vec![at(100, 2e5), at(1000, 2e5)];
        let found = Metadata.findings(&results(&definition, &machine, steady));
        assert!(found[1].template.contains("nothing is seen"));
    }

    #[test]
    fn all_five_are_measured_and_nothing_is_left() {
        let scratch = scratch();
        let point = Point::new().with(FILES, 20);
        // What a process that was killed may have left.
        fs::create_dir(scratch.path().join("file.metadata 20")).expect("a directory");
        fs::write(scratch.path().join("file.metadata 20/a00000000"), "").expect("a file");
        let (samples, _) = measure(&Metadata, &point, scratch.path()).expect("a directory");
        for operation in OPERATIONS {
            assert!(count(&samples, operation) >= 1, "{operation}");
        }
        assert_eq!(fs::read_dir(scratch.path()).expect("there").count(), 0);
        assert_eq!(Metadata.points(&setting(Profile::Quick)).len(), 3);
    }
}
