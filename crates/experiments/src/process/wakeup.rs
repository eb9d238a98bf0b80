//! `process.wakeup`: the lateness of a sleeper.

use crate::estimates::{found, ratio};
use crate::figures::bars;
use crate::other_core::needed_cpu_of_another_core;
use crate::prelude::*;
use crate::together::{next_to, next_to_computing};
use instrument::quantity::Nanoseconds;
use platform::clock::now_ns;
use platform::placement::{current_cpu, pin_to};
use platform::shared::{wait_while, wake_one};
use platform::timer::{self, Timer};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

pub(crate) struct Wakeup;

const WAKER: AxisOf<Waker> = AxisOf::new("waker", "woken by");
const LOAD: AxisOf<Load> = AxisOf::new("load", "processor");
const LATE: Metric = Metric::time("late", "late by");

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Waker {
    #[choice("nanosleep")]
    NanoSleep,
    #[choice("timerfd")]
    TimerFd,
    /// The timer of Windows.
    WaitableTimer,
    Thread,
}

impl Waker {
    fn of(system: System) -> impl Iterator<Item = Self> {
        let of_windows = system == System::Windows;
        Self::ALL.iter().copied().filter(move |waker| match waker {
            Self::NanoSleep | Self::TimerFd => !of_windows,
            Self::WaitableTimer => of_windows,
            Self::Thread => true,
        })
    }
}

/// Other load on the sleeper's processor.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    Idle,
    Busy,
}

/// A thread that waits for its processor has a tail that is longer by more than this factor.
const LATER: f64 = 2.0;
/// The time that a timer is set ahead, and that a waker leaves the sleeper asleep.
const AHEAD_NS: u64 = 200_000;

const DESIGN: Design = Design {
    id: "process.wakeup",
    title: "Waking up",
    question: "How late does a thread run that sleeps until a moment, or until another thread wakes it?",
    method: formatcp!(
        "A thread of ordinary priority sleeps {} µs at a time and records how late it runs each \
         time. nanosleep: it sleeps until a moment on the monotonic clock (clock_nanosleep). The \
         kernel may add the thread's timer slack, which is recorded. timerfd: it sleeps until the \
         same moment in a read of a timerfd, which has no slack. waitable timer: on Windows, it \
         waits for a timer of high resolution in place of both. thread: it sleeps on a futex \
         until a thread on another core wakes it; that thread spins until then, and late counts \
         from just before its wakeup call. Idle: no other thread wants the sleeper's processor. \
         Busy: another thread of the same priority computes on it without end. The value is the \
         median; the percentiles show the rest.",
        AHEAD_NS / 1000
    ),
    source: "common practice, after cyclictest",
    axes: &[WAKER.axis(), LOAD.axis()],
    metrics: &[LATE],
};

impl Experiment for Wakeup {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        let wakers = [Point::new()].by(WAKER, Waker::of(System::here()));
        wakers.by(LOAD, Load::ALL)
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Threads)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let cpu = current_cpu().unwrap_or(0);
        pin_to(&[cpu])?;
        let waker = point.level(WAKER)?;
        match point.level(LOAD)? {
            Load::Idle => measure(waker, sampler),
            Load::Busy => next_to_computing(cpu, spin_loop, || measure(waker, sampler)),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([
            woken(results),
            timer(results),
            slack(results),
            busy(results),
        ])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = Load::ALL.iter().map(|load| {
            let label = format!("{load} processor");
            results.series(&label, LATE, WAKER, &[LOAD.at(*load)])
        });
        let title = "How late a sleeper runs";
        vec![bars(LATE, title, (WAKER, LATE), series.collect())]
    }
}

fn measure(waker: Waker, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
    match waker {
        Waker::NanoSleep => {
            let slack = Nanoseconds(timer::slack_ns()? as f64);
            sampler.remark(format!("the sleeper has a timer slack of {slack}"));
            by_timer(sampler, timer::sleep_until)
        }
        Waker::TimerFd | Waker::WaitableTimer => {
            let mut timer = Timer::new()?;
            by_timer(sampler, |moment_ns| timer.wait_until(moment_ns))
        }
        Waker::Thread => by_thread(sampler),
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

/// State that the sleeper and its waker share.
#[derive(Default)]
struct Sleeper {
    /// Counts up when the sleeper goes to sleep, and when it is woken.
    turn: AtomicU32,
    woken_ns: AtomicU64,
}

impl Sleeper {
    /// Sleeps once; returns the lateness in ns.
    fn sleep(&self) -> Result<u64, MeasureError> {
        let asleep = self.turn.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        while self.turn.load(Ordering::Acquire) == asleep {
            wait_while(&self.turn, asleep)?;
        }
        Ok(now_ns().saturating_sub(self.woken_ns.load(Ordering::Acquire)))
    }

    /// Wakes the sleeper each time it has slept long enough, until the measurement is over.
    fn wake(&self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Acquire) {
            let asleep = self.turn.load(Ordering::Acquire);
            // The turn is even while the sleeper is awake.
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
            // If this fails, the sleeper's own call has failed too.
            let _ = wake_one(&self.turn);
        }
    }
}

fn by_thread(sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
    let cpu = needed_cpu_of_another_core()?;
    let sleeper = Sleeper::default();
    let wake = |(), is_over: &AtomicBool| sleeper.wake(is_over);
    let take = || sampler.latencies_of(LATE, 1.0, || sleeper.sleep());
    next_to(&[cpu], |_| Ok(()), wake, take).map(drop)
}

fn late<'r>(results: &'r Results, waker: Waker, load: Load) -> Option<&'r Estimate> {
    results.sound(LATE, &[WAKER.at(waker), LOAD.at(load)])
}

/// The lateness of the timer that has no slack.
fn timer(results: &Results) -> Option<Finding> {
    let of = |waker: Waker| Some((waker.name(), late(results, waker, Load::Idle)?));
    let (name, late) = of(Waker::TimerFd).or_else(|| of(Waker::WaitableTimer))?;
    let p99 = Quantity::nanoseconds(late.percentiles?.p99_ns);
    let said = sentence!(
        "A thread that sleeps with {name} on an idle processor wakes {late} late, and one time in a \
         hundred {p99} or more."
    );
    Some(Finding::new("timer", said).weighing(0.5))
}

fn slack(results: &Results) -> Option<Finding> {
    let asleep = late(results, Waker::NanoSleep, Load::Idle)?;
    let times = ratio(asleep, late(results, Waker::TimerFd, Load::Idle)?)?;
    let said = sentence!(
        "nanosleep wakes {asleep} late, {times} as late as timerfd: the kernel adds the timer slack. Use \
         timerfd or a smaller slack (PR_SET_TIMERSLACK) where microseconds count."
    );
    let follows = times.differs_from(1.0) && times.value > 1.0;
    follows.then(|| Finding::new("slack", said).weighing(0.7))
}

fn woken(results: &Results) -> Option<Finding> {
    let late = late(results, Waker::Thread, Load::Idle)?;
    let said = sentence!(
        "Waking a thread that sleeps on another, idle core takes {late}, and one time in a hundred {p99} \
         or more.",
        p99 = Quantity::nanoseconds(late.percentiles?.p99_ns),
    );
    Some(Finding::new("woken", said).weighing(0.95))
}

fn busy(results: &Results) -> Option<Finding> {
    let of = |waker| {
        let idle = late(results, waker, Load::Idle)?;
        Some((idle, late(results, waker, Load::Busy)?))
    };
    let (idle, late) = of(Waker::TimerFd).or_else(|| of(Waker::WaitableTimer))?;
    let rare = |late: &Estimate| Some(Quantity::nanoseconds(late.percentiles?.p99_ns));
    let (idle, p99) = (rare(idle)?, rare(late)?);
    let said = sentence!(
        "If another thread computes on its processor, a thread that sleeps until a timer wakes {late} \
         late, and one time in a hundred {p99} or more. On an idle processor, it is {idle} or \
         more one time in a hundred."
    );
    let is_late = p99.value > LATER * idle.value;
    is_late.then(|| Finding::new("busy", said).weighing(0.65))
}
