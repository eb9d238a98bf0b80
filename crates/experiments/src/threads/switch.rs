//! `threads.switch`: what it costs to give the turn to another thread.

use super::measure;
use crate::estimates::{WithEstimate, grade, ratio};
use crate::figures::logarithmic;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureKind};
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;

/// What it costs to give the turn to another thread.
pub(crate) struct Switch;

pub(super) const KIND: &str = "kind";
pub(super) const THREADS: &str = "threads";
pub(super) const USER: &str = "user";
pub(super) const KERNEL: &str = "kernel";

pub(super) const SWITCH: &str = "switch";
pub(super) const KERNEL_SWITCHES: &str = "kernel_switches";

impl Experiment for Switch {
    fn id(&self) -> &'static str {
        "threads.switch"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Switching between threads".into(),
            question: "What does it cost to give the turn to another thread?".into(),
            method: "All threads are on one processor and do nothing but hand the turn on: user \
                     threads, of the `uthread` library on one worker, yield; kernel threads stand \
                     in a ring, in which each wakes the next and sleeps until it is woken \
                     (park and unpark, which are futex calls), since the kernel takes a yield for \
                     a hint. `switch` is the wall time from one thread's turn to the next one's, \
                     starting and joining taken off. `kernel_switches` is how many context \
                     switches the kernel counted for each."
                .into(),
            source: "Report D, section 3.1, and common practice".into(),
            axes: vec![
                Axis::choice(KIND, "kind of threads"),
                Axis::count(THREADS, "threads"),
            ],
            metrics: vec![
                Metric::new(SWITCH, "switch", Unit::Nanoseconds, Better::Lower),
                Metric::new(
                    KERNEL_SWITCHES,
                    "by the kernel",
                    Unit::Count,
                    Better::Neither,
                ),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let (user, kernel): (&[u64], &[u64]) = match setting.profile {
            Profile::Quick => (&[2, 1000], &[2]),
            Profile::Standard => (&[2, 10, 100, 1000, 10_000], &[2, 10, 100, 1000]),
            Profile::Thorough => (&[2, 10, 100, 1000, 10_000, 100_000], &[2, 10, 100, 1000]),
        };
        let points = |kind: &'static str, counts: &'static [u64]| {
            let point = move |threads: &u64| Point::new().with(KIND, kind).with(THREADS, *threads);
            counts.iter().map(point)
        };
        points(USER, user).chain(points(KERNEL, kernel)).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        measure::switch(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [kinds(results), crowd(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        vec![Figure {
            key: SWITCH.into(),
            title: "Time of a switch".into(),
            kind: FigureKind::Curve,
            x: logarithmic("threads", Unit::Count),
            y: logarithmic("switch", Unit::Nanoseconds),
            series: [USER, KERNEL]
                .map(|kind| results.series(kind, SWITCH, THREADS, &[(KIND, kind.into())]))
                .into(),
            marks: Vec::new(),
        }]
    }
}

fn curve<'r>(results: &'r Results, kind: &str) -> Vec<(u64, &'r Estimate)> {
    results.curve(SWITCH, THREADS, &[(KIND, kind.into())])
}

fn kinds(results: &Results) -> Option<Finding> {
    let (user, kernel) = (curve(results, USER), curve(results, KERNEL));
    let ((_, user), (_, kernel)) = (user.first()?, kernel.first()?);
    let times = ratio(kernel, user)?;
    let template = "A switch between two user threads takes {user}; between two kernel threads on \
                    one processor, each of which wakes the other and sleeps, {kernel}: {times} as \
                    long.";
    Some(
        Finding::new("kinds", template)
            .estimated("user", user.centre, user.interval, Unit::Nanoseconds)
            .estimated("kernel", kernel.centre, kernel.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.6),
    )
}

fn crowd(results: &Results) -> Option<Finding> {
    let user = curve(results, USER);
    let ((_, few), (threads, many)) = (user.first()?, user.last()?);
    let times = ratio(many, few)?;
    let template = "Among {threads} user threads a switch takes {many}, {times} the time between \
                    two: their stacks share the caches.";
    (times.centre > 1.0).then(|| {
        Finding::new("crowd", template)
            .given("threads", *threads as f64, Unit::Count)
            .estimated("many", many.centre, many.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.35)
    })
}

#[cfg(test)]
mod tests {
    use super::{KERNEL, KIND, SWITCH, Switch, THREADS, USER};
    use crate::made_up::{machine, result, results};
    use instrument::experiment::Experiment;
    use instrument::finding::Grade;
    use instrument::point::Point;

    #[test]
    fn kernel_threads_are_set_beside_user_threads() {
        let at = |kind: &str, threads: u64, ns| {
            let point = Point::new().with(KIND, kind).with(THREADS, threads);
            result(point, &[(SWITCH, ns)])
        };
        let (definition, machine) = (Switch.definition(), machine());
        let points = vec![
            at(USER, 2, 10.0),
            at(USER, 1000, 20.0),
            at(KERNEL, 2, 1000.0),
        ];
        let findings = Switch.findings(&results(&definition, &machine, points));
        assert_eq!(findings.len(), 2);
        let times = findings[0].numbers.last().expect("it has numbers");
        assert!((times.value - 100.0).abs() < 1.0, "{times:?}");
        assert_eq!(findings[0].grade, Grade::Certain);
    }

    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    #[test]
    fn the_kernel_switches_for_its_own_threads_only() {
        use super::KERNEL_SWITCHES;
        use crate::made_up::measure;
        use instrument::sample::Reading;

        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for (kind, least, most) in [(USER, 0.0, 0.5), (KERNEL, 0.5, 2.0)] {
            let point = Point::new().with(KIND, kind).with(THREADS, 3);
            let (samples, _) = measure(&Switch, &point, scratch.path()).expect("it works here");
            let mut counts = samples
                .iter()
                .filter(|sample| sample.metric == KERNEL_SWITCHES);
            let is_sane = |reading: &Reading| matches!(reading, Reading::Value(count) if (least..=most).contains(count));
            assert!(counts.all(|sample| is_sane(&sample.reading)), "{samples:?}");
        }
    }
}
