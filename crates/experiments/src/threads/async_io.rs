//! `threads.async_io`: whether other threads run while one waits for a file.

use super::measure;
use crate::figures::{logarithmic, names};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureKind};
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;

/// Whether other threads run while one waits for a file.
pub(crate) struct AsyncIo;

pub(super) const BACKEND: &str = "backend";
pub(super) const AUTOMATIC: &str = "automatic";
pub(super) const HELPERS: &str = "helping threads";

/// The steps in their order: name, what it is called, and the metrics of its time and of the turns
/// that the other thread had meanwhile.
pub(super) const STEPS: [(&str, &str, &str); 3] = [
    ("writes", "write", "turns_while_writing"),
    ("puts on the device", "sync", "turns_while_syncing"),
    ("reads", "read", "turns_while_reading"),
];

/// Name of the file in the scratch directory.
pub(super) const FILE: &str = "threads.async_io";

impl Experiment for AsyncIo {
    fn id(&self) -> &'static str {
        "threads.async_io"
    }

    fn definition(&self) -> Definition {
        let times = STEPS.map(|(does, name, _)| {
            Metric::new(
                name,
                &format!("time: {does}"),
                Unit::Nanoseconds,
                Better::Lower,
            )
        });
        let turns = STEPS.map(|(does, _, turns)| {
            Metric::new(
                turns,
                &format!("turns: {does}"),
                Unit::Count,
                Better::Neither,
            )
        });
        Definition {
            id: self.id().into(),
            title: "Asynchronous input and output, shown".into(),
            question: "Do other threads run while one waits for a file?".into(),
            method: "On one worker, a user thread writes \"hello world\" to a new file, waits \
                     until it is on the device (fsync), and reads it back, which is checked; \
                     another counts its turns and yields, over and over. The time of each of the \
                     three steps is wall time as the first thread sees it, until it has its turn \
                     again; the turns are those that the other had meanwhile. The backend is the \
                     one that the library chooses (io_uring where the system allows it), or \
                     kernel threads that wait in the user thread's stead."
                .into(),
            source: "Report D, section 3.6".into(),
            axes: vec![Axis::choice(BACKEND, "backend")],
            metrics: times.into_iter().chain(turns).collect(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(4096))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let backends: &[&str] = match setting.profile {
            Profile::Quick => &[AUTOMATIC],
            Profile::Standard | Profile::Thorough => &[AUTOMATIC, HELPERS],
        };
        let point = |backend: &&str| Point::new().with(BACKEND, *backend);
        backends.iter().map(point).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        measure::async_io(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        turns(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let bars = |key: &str, title: &str, unit, metrics: [&str; 3]| Figure {
            key: key.into(),
            title: title.into(),
            kind: FigureKind::Bars,
            x: names("backend"),
            y: logarithmic(key, unit),
            series: STEPS
                .iter()
                .zip(metrics)
                .map(|((does, ..), metric)| results.series(does, metric, BACKEND, &[]))
                .collect(),
            marks: Vec::new(),
        };
        vec![
            bars(
                "time",
                "What the waiting thread sees",
                Unit::Nanoseconds,
                STEPS.map(|(_, time, _)| time),
            ),
            bars(
                "turns",
                "Turns of the other thread meanwhile",
                Unit::Count,
                STEPS.map(|(.., turns)| turns),
            ),
        ]
    }
}

fn turns(results: &Results) -> Option<Finding> {
    let result = results.at(&[(BACKEND, AUTOMATIC.into())])?;
    let (_, sync, turns) = STEPS[1];
    let (sync, turns) = (result.estimate(sync)?, result.estimate(turns)?);
    let template = "While one thread waited {sync} for its file to be on the device, the other on \
                    the same worker had {turns} turns.";
    let both = sync.is_sound() && turns.is_sound() && turns.centre >= 1.0;
    both.then(|| {
        Finding::new("turns", template)
            .estimated("sync", sync.centre, sync.interval, Unit::Nanoseconds)
            .estimated("turns", turns.centre, turns.interval, Unit::Count)
            .weighing(0.35)
    })
}

#[cfg(test)]
mod tests {
    use super::{AUTOMATIC, AsyncIo, BACKEND, STEPS};
    use crate::made_up::{machine, result, results};
    use instrument::experiment::Experiment;
    use instrument::point::Point;

    #[test]
    fn the_turns_of_the_other_thread_are_told() {
        let (_, sync, turns) = STEPS[1];
        let point = Point::new().with(BACKEND, AUTOMATIC);
        let points = vec![result(point, &[(sync, 1e6), (turns, 5000.0)])];
        let (definition, machine) = (AsyncIo.definition(), machine());
        let findings = AsyncIo.findings(&results(&definition, &machine, points));
        assert_eq!(findings[0].key, "turns");
    }

    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    #[test]
    fn every_step_is_measured_with_either_backend() {
        use crate::made_up::{count, measure, setting};
        use instrument::plan::Profile;

        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for point in AsyncIo.points(&setting(Profile::Standard)) {
            let (samples, _) = measure(&AsyncIo, &point, scratch.path()).expect("it works here");
            for (_, time, turns) in STEPS {
                assert!(count(&samples, time) >= 1 && count(&samples, turns) >= 1);
            }
        }
        let left = std::fs::read_dir(scratch.path())
            .expect("it is there")
            .count();
        assert_eq!(left, 0, "the file is removed");
    }
}
