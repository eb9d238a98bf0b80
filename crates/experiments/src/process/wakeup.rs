//! `process.wakeup`: how late one who sleeps is woken.

use crate::estimates::{WithEstimate, differs_from, estimated, grade, ratio};
use crate::figures::{bars, logarithmic, names};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Nanoseconds, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use platform::clock::now_ns;
use platform::placement::{cpu_of_another_core, current_cpu, pin_to};
use platform::shared::{wait_while, wake_one};
use platform::timer::{self, Timer};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;

/// How late one who sleeps is woken.
pub(crate) struct Wakeup;

const WAKER: &str = "waker";
const LOAD: &str = "load";
const LATE: &str = "late";

const NANOSLEEP: &str = "nanosleep";
const TIMERFD: &str = "timerfd";
const THREAD: &str = "thread";
const WAKERS: [&str; 3] = [NANOSLEEP, TIMERFD, THREAD];

const IDLE: &str = "idle";
const BUSY: &str = "busy";

/// How far ahead a timer is set, and how long a sleeper is left asleep.
const AHEAD_NS: u64 = 200_000;

impl Experiment for Wakeup {
    fn id(&self) -> &'static str {
        "process.wakeup"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Waking up".into(),
            question: "How late is one woken who sleeps until a moment, or until another wakes \
                       him?"
                .into(),
            method: format!(
                "A thread of ordinary priority sleeps {} at a time; each time it notes how late it \
                 runs. nanosleep: until a moment on the monotonic clock (clock_nanosleep); the \
                 kernel may add the thread's timer slack, which is on the record. timerfd: the \
                 same through a timer that is read, which has no slack. thread: until a thread on \
                 another core, which spins meanwhile, wakes it by a futex; late is counted from \
                 just before that call. Idle: nothing else wants the sleeper's processor. Busy: \
                 another thread of the same priority computes on it without end. The value is the \
                 median; the percentiles tell of the rest.",
                Nanoseconds(AHEAD_NS as f64)
            ),
            source: "common practice, after cyclictest".into(),
            axes: vec![
                Axis::choice(WAKER, "woken by"),
                Axis::choice(LOAD, "processor"),
            ],
            metrics: vec![Metric::new(
                LATE,
                "late by",
                Unit::Nanoseconds,
                Better::Lower,
            )],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        let point =
            |waker| [IDLE, BUSY].map(|load| Point::new().with(WAKER, waker).with(LOAD, load));
        WAKERS.into_iter().flat_map(point).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let cpu = current_cpu().unwrap_or(0);
        pin_to(&[cpu])?;
        let waker = point.choice(WAKER)?;
        match point.choice(LOAD)? {
            IDLE => measure(waker, sampler),
            BUSY => beside_load(cpu, || measure(waker, sampler)),
            other => Err(MeasureError::Unsupported(format!(
                "there is no load '{other}'"
            ))),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let timers = [NANOSLEEP, TIMERFD].map(|waker| timer_finding(results, waker));
        let findings = [slack(results), woken(results), busy(results)];
        timers.into_iter().chain(findings).flatten().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = [IDLE, BUSY].map(|load| {
            let label = format!("{load} processor");
            results.series(&label, LATE, WAKER, &[(LOAD, load.into())])
        });
        let axes = (names("woken by"), logarithmic("late by", Unit::Nanoseconds));
        vec![bars(LATE, "How late a sleeper runs", axes, series.into())]
    }
}

fn measure(waker: &str, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
    match waker {
        NANOSLEEP => {
            let slack = Nanoseconds(timer::slack_ns()? as f64);
            sampler.remark(format!("the timer slack of the sleeper is {slack}"))?;
            by_timer(sampler, timer::sleep_until)
        }
        TIMERFD => {
            let mut timer = Timer::new()?;
            by_timer(sampler, |moment_ns| timer.wait_until(moment_ns))
        }
        THREAD => by_thread(sampler),
        other => Err(MeasureError::Unsupported(format!(
            "there is nothing called '{other}' to wake"
        ))),
    }
}

fn by_timer(
    sampler: &mut Sampler<'_>,
    mut wait_until: impl FnMut(u64) -> platform::Result<()>,
) -> Result<(), MeasureError> {
    let late_ns = || {
        let moment_ns = now_ns() + AHEAD_NS;
        wait_until(moment_ns)?;
        Ok(now_ns().saturating_sub(moment_ns))
    };
    sampler.latencies_of(LATE, 1.0, late_ns).map(drop)
}

/// What the sleeper and who wakes it tell each other.
#[derive(Default)]
struct Bed {
    /// Counts up when the sleeper goes to sleep, and when it is woken.
    turn: AtomicU32,
    /// When it was woken.
    woken_ns: AtomicU64,
    is_over: AtomicBool,
}

impl Bed {
    /// Sleeps once; how late it was woken.
    fn sleep(&self) -> Result<u64, MeasureError> {
        let asleep = self.turn.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        while self.turn.load(Ordering::Acquire) == asleep {
            wait_while(&self.turn, asleep)?;
        }
        Ok(now_ns().saturating_sub(self.woken_ns.load(Ordering::Acquire)))
    }

    /// Wakes the sleeper, each time it has slept long enough, until it is over.
    fn wake(&self) {
        while !self.is_over.load(Ordering::Acquire) {
            let asleep = self.turn.load(Ordering::Acquire);
            // Whoever is awake leaves the turn even.
            if asleep.is_multiple_of(2) {
                spin_loop();
                continue;
            }
            let until_ns = now_ns() + AHEAD_NS;
            while now_ns() < until_ns {
                spin_loop();
            }
            self.woken_ns.store(now_ns(), Ordering::Release);
            self.turn.store(asleep.wrapping_add(1), Ordering::Release);
            // Where this fails the sleeper's own call has failed too.
            let _ = wake_one(&self.turn);
        }
    }
}

fn by_thread(sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
    let cpu = cpu_of_another_core()?.ok_or_else(|| {
        MeasureError::Unsupported(
            "there is only one core that may be used here, and so none to be woken from".into(),
        )
    })?;
    let bed = Bed::default();
    beside(
        cpu,
        || bed.wake(),
        || {
            let taken = sampler.latencies_of(LATE, 1.0, || bed.sleep());
            bed.is_over.store(true, Ordering::Release);
            taken.map(drop)
        },
    )
}

/// Does `work` while another thread computes on the same processor.
fn beside_load<T>(
    cpu: usize,
    work: impl FnOnce() -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    let is_over = AtomicBool::new(false);
    let compute = || {
        while !is_over.load(Ordering::Relaxed) {
            spin_loop();
        }
    };
    beside(cpu, compute, || {
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

/// Does `work` while a thread on `cpu` does `other`, which `work` has to end.
fn beside<T>(
    cpu: usize,
    other: impl FnOnce() + Send,
    work: impl FnOnce() -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    thread::scope(|scope| {
        let (told, hear) = std::sync::mpsc::channel();
        let run = move || {
            let pinned = pin_to(&[cpu]);
            let is_there = pinned.is_ok();
            // The other side waits for it.
            let _ = told.send(pinned);
            if is_there {
                other();
            }
        };
        thread::Builder::new()
            .spawn_scoped(scope, run)
            .map_err(MeasureError::system("start a thread"))?;
        hear.recv().expect("it sends before it ends")?;
        work()
    })
}

/// What was estimated, if it may be used.
fn at<'r>(results: &'r Results, waker: &str, load: &str) -> Option<&'r Estimate> {
    let estimate = results
        .at(&[(WAKER, waker.into()), (LOAD, load.into())])?
        .estimate(LATE)?;
    estimate.is_sound().then_some(estimate)
}

fn timer_finding(results: &Results, waker: &str) -> Option<Finding> {
    let late = at(results, waker, IDLE)?;
    let percentiles = late.percentiles?;
    let template = format!(
        "One who sleeps by {waker} on an idle processor runs {{late}} late; one time in twenty \
         {{p95}} or more, one in a hundred {{p99}} or more."
    );
    let finding = Finding::new(waker, &template)
        .with("late", &estimated(late), Unit::Nanoseconds)
        .given("p95", percentiles.p95_ns, Unit::Nanoseconds)
        .given("p99", percentiles.p99_ns, Unit::Nanoseconds);
    Some(finding.weighing(0.5))
}

fn slack(results: &Results) -> Option<Finding> {
    let (asleep, reading) = (at(results, NANOSLEEP, IDLE)?, at(results, TIMERFD, IDLE)?);
    let times = ratio(asleep, reading)?;
    let template = "nanosleep is {times} as late as a timer that is read: the kernel may defer it \
                    by the timer slack, so use timerfd (or a smaller slack) where microseconds \
                    count.";
    let finding = Finding::new("slack", template).with("times", &times, Unit::Ratio);
    let follows = differs_from(&times, 1.0) && times.centre > 1.0;
    follows.then(|| finding.weighing(0.45))
}

fn woken(results: &Results) -> Option<Finding> {
    let late = at(results, THREAD, IDLE)?;
    let percentiles = late.percentiles?;
    let template = "A thread that another core wakes runs {late} later; one time in a hundred {p99} \
                    or more.";
    let finding = Finding::new("woken", template)
        .with("late", &estimated(late), Unit::Nanoseconds)
        .given("p99", percentiles.p99_ns, Unit::Nanoseconds);
    Some(finding.weighing(0.55))
}

fn busy(results: &Results) -> Option<Finding> {
    let (idle, busy) = (at(results, TIMERFD, IDLE)?, at(results, TIMERFD, BUSY)?);
    let percentiles = busy.percentiles?;
    let times = ratio(busy, idle)?;
    let template = "Where another thread computes on the same processor, who sleeps by timerfd runs \
                    {late} late, {times} of what it is without; one time in a hundred {p99} or more.";
    let finding = Finding::new("busy", template)
        .with("late", &estimated(busy), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio)
        .given("p99", percentiles.p99_ns, Unit::Nanoseconds);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::{BUSY, IDLE, LATE, LOAD, NANOSLEEP, THREAD, TIMERFD, WAKER, Wakeup};
    use crate::made_up::{costs, count, machine, measure, results, setting};
    use instrument::experiment::Experiment;
    use instrument::plan::Profile;
    use instrument::point::Point;
    use instrument::results::{Percentiles, PointResult};
    use platform::placement::allowed_cpus;
    use std::path::Path;

    fn at(waker: &str, load: &str, ns: f64) -> PointResult {
        let point = Point::new().with(WAKER, waker).with(LOAD, load);
        let mut late = costs(point, &[(LATE, ns)]);
        late.estimates[0].percentiles = Some(Percentiles {
            p5_ns: ns / 2.0,
            p50_ns: ns,
            p95_ns: 2.0 * ns,
            p99_ns: 4.0 * ns,
        });
        late
    }

    #[test]
    fn lateness_is_told_with_its_tail() {
        let (definition, machine) = (Wakeup.definition(), machine());
        let points = vec![
            at(NANOSLEEP, IDLE, 55e3),
            at(TIMERFD, IDLE, 5e3),
            at(TIMERFD, BUSY, 10e3),
            at(THREAD, IDLE, 4e3),
        ];
        let findings = Wakeup.findings(&results(&definition, &machine, points));
        let keys: Vec<_> = findings
            .iter()
            .map(|finding| finding.key.as_str())
            .collect();
        assert_eq!(keys, ["nanosleep", "timerfd", "slack", "woken", "busy"]);
        assert!((findings[0].numbers[2].value - 220e3).abs() < 1.0);
        assert!((findings[2].numbers[0].value - 11.0).abs() < 0.1);
    }

    #[test]
    fn no_slack_is_found_where_there_is_none() {
        let (definition, machine) = (Wakeup.definition(), machine());
        let points = vec![at(NANOSLEEP, IDLE, 5e3), at(TIMERFD, IDLE, 5e3)];
        let findings = Wakeup.findings(&results(&definition, &machine, points));
        assert!(findings.iter().all(|finding| finding.key != "slack"));
    }

    #[test]
    fn every_sleeper_is_woken_here() {
        let has_two = allowed_cpus().is_ok_and(|cpus| cpus.len() > 1);
        for point in Wakeup.points(&setting(Profile::Quick)) {
            if point.choice(WAKER) == Ok(THREAD) && !has_two {
                println!("skipped: there is one processor");
                continue;
            }
            // Pinning is the thread's own.
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let (samples, _) = measure(&Wakeup, &point, Path::new("/")).expect("sleeps");
                    assert_eq!(count(&samples, LATE), 1, "{point}");
                });
            });
        }
    }
}
