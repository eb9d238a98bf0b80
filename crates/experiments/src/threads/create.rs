//! `threads.create`: what it costs to start a thread, and to keep one.

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

/// What it costs to start a thread, and to keep one.
pub(crate) struct Create;

pub(super) const KIND: &str = "kind";
pub(super) const THREADS: &str = "threads";
pub(super) const USER: &str = "user";
pub(super) const KERNEL: &str = "kernel";

pub(super) const CREATE: &str = "create";
pub(super) const MEMORY: &str = "memory";

/// From so many threads on, the memory of one can be told from that of everything else.
pub(super) const ENOUGH: u64 = 100;

impl Experiment for Create {
    fn id(&self) -> &'static str {
        "threads.create"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Starting threads".into(),
            question: "What does it cost to start a thread, and to keep one?".into(),
            method: format!(
                "All threads are on one processor. A number of threads that do nothing are started \
                 one after the other and then joined; `create` is the wall time of both for each \
                 thread, in rounds that are repeated, so that stacks are used again where the \
                 library does so. User threads are those of the `uthread` library, kernel threads \
                 those of the standard library with its default stack. `memory` is what the \
                 process has in RAM more, page tables included, for each thread that has started \
                 and waits; it is told from {ENOUGH} threads on. What the kernel keeps for its own \
                 threads, such as a stack of 16 KiB on x86-64, is not in it."
            ),
            source: "Report D, section 3.1, and common practice".into(),
            axes: vec![
                Axis::choice(KIND, "kind of threads"),
                Axis::count(THREADS, "threads"),
            ],
            metrics: vec![
                Metric::new(CREATE, "start and join", Unit::Nanoseconds, Better::Lower),
                Metric::new(
                    MEMORY,
                    "memory of one that waits",
                    Unit::Bytes,
                    Better::Lower,
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
            Profile::Quick => (&[1, 1000], &[1, 100]),
            Profile::Standard => (&[1, 10, 100, 1000, 10_000], &[1, 10, 100, 1000]),
            Profile::Thorough => (&[1, 10, 100, 1000, 10_000, 100_000], &[1, 10, 100, 1000]),
        };
        let points = |kind: &'static str, counts: &'static [u64]| {
            let point = move |threads: &u64| Point::new().with(KIND, kind).with(THREADS, *threads);
            counts.iter().map(point)
        };
        points(USER, user).chain(points(KERNEL, kernel)).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        measure::create(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [time(results), memory(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        vec![Figure {
            key: CREATE.into(),
            title: "Time to start and join a thread".into(),
            kind: FigureKind::Curve,
            x: logarithmic("threads", Unit::Count),
            y: logarithmic("start and join", Unit::Nanoseconds),
            series: [USER, KERNEL]
                .map(|kind| results.series(kind, CREATE, THREADS, &[(KIND, kind.into())]))
                .into(),
            marks: Vec::new(),
        }]
    }
}

fn curve<'r>(results: &'r Results, metric: &str, kind: &str) -> Vec<(u64, &'r Estimate)> {
    results.curve(metric, THREADS, &[(KIND, kind.into())])
}

fn time(results: &Results) -> Option<Finding> {
    let (user, kernel) = (curve(results, CREATE, USER), curve(results, CREATE, KERNEL));
    let ((_, user), (_, kernel)) = (user.first()?, kernel.first()?);
    let times = ratio(kernel, user)?;
    let template = "Starting and joining a user thread takes {user}, a kernel thread {kernel}: \
                    {times} as long.";
    Some(
        Finding::new("time", template)
            .estimated("user", user.centre, user.interval, Unit::Nanoseconds)
            .estimated("kernel", kernel.centre, kernel.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.55),
    )
}

fn memory(results: &Results) -> Option<Finding> {
    let (user, kernel) = (curve(results, MEMORY, USER), curve(results, MEMORY, KERNEL));
    let ((_, user), (_, kernel)) = (user.last()?, kernel.last()?);
    let times = ratio(kernel, user)?;
    let template = "A user thread that waits keeps {user} of memory, a kernel thread {kernel} of \
                    its process's, {times} as much, and more in the kernel.";
    Some(
        Finding::new("memory", template)
            .estimated("user", user.centre, user.interval, Unit::Bytes)
            .estimated("kernel", kernel.centre, kernel.interval, Unit::Bytes)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.4),
    )
}

#[cfg(test)]
mod tests {
    use super::{CREATE, Create, KERNEL, KIND, MEMORY, THREADS, USER};
    use crate::made_up::{machine, result, results};
    use instrument::experiment::Experiment;
    use instrument::point::Point;

    #[test]
    fn time_and_memory_are_compared() {
        let at = |kind: &str, ns, bytes| {
            let point = Point::new().with(KIND, kind).with(THREADS, 100);
            result(point, &[(CREATE, ns), (MEMORY, bytes)])
        };
        let (definition, machine) = (Create.definition(), machine());
        let points = vec![at(USER, 100.0, 4000.0), at(KERNEL, 20_000.0, 16_000.0)];
        let findings = Create.findings(&results(&definition, &machine, points));
        let times = |index: usize| findings[index].numbers.last().expect("it has some").value;
        assert!((times(0) - 200.0).abs() < 1.0 && (times(1) - 4.0).abs() < 0.1);
    }

    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    #[test]
    fn both_kinds_are_measured_here_and_a_waiting_thread_keeps_memory() {
        use crate::made_up::{count, measure};
        use instrument::sample::Reading;

        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for kind in [USER, KERNEL] {
            let point = Point::new().with(KIND, kind).with(THREADS, 200);
            let (samples, _) = measure(&Create, &point, scratch.path()).expect("it works here");
            assert!(count(&samples, CREATE) >= 1);
            assert_eq!(count(&samples, MEMORY), 1);
            let memory = samples.iter().find(|sample| sample.metric == MEMORY);
            let reading = memory.expect("counted above").reading;
            assert!(
                matches!(reading, Reading::Value(bytes) if (2000.0..2e6).contains(&bytes)),
                "{reading:?}"
            );
        }
    }
}
