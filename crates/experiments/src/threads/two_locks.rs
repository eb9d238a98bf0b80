//! `threads.two_locks`: the report's question of several processors and two locks.

use super::kind::UserThreads;
use crate::estimates::{by_ratio, found, ratio, ratios};
use crate::figures::{curves, lines};
use crate::prelude::*;
use crate::together::{several_cpus, usable_cpus};

/// Twice as many kernel threads as processors, half of them at each of two locks.
pub(crate) struct TwoLocks;

pub(super) const LOCK: AxisOf<KernelLock> = AxisOf::new("lock", "lock");
pub(super) const STEPS: AxisOf<Count> = AxisOf::new("steps", "steps inside");
pub(super) const PROCESSORS: AxisOf<Count> = AxisOf::new("processors", "processors");

pub(super) const ENTRY: Metric = Metric::time("entry", "entry, of all threads");
pub(super) const BUSY: Metric = Metric::fact("busy", "processors kept busy", Unit::Count);

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KernelLock {
    PthreadMutex,
    #[choice("std Mutex")]
    StdMutex,
    PthreadSpin,
    /// Spins for a moment, then blocks.
    #[choice("SRWLOCK")]
    SlimLock,
    #[choice("CRITICAL_SECTION")]
    CriticalSection,
    /// Looks 4000 times before it blocks, as the locks of the process's heap do by the manual of
    /// `InitializeCriticalSectionAndSpinCount`.
    #[choice("CRITICAL_SECTION spinning")]
    SpinningSection,
}

/// A lock that blocks and one that spins, of each system.
const OPPOSITES: [(KernelLock, KernelLock); 2] = [
    (KernelLock::PthreadMutex, KernelLock::PthreadSpin),
    (KernelLock::CriticalSection, KernelLock::SpinningSection),
];

impl KernelLock {
    /// The locks that `system` has, those of the shortest profile first.
    pub(super) fn of(system: System) -> &'static [Self] {
        match system {
            System::Windows => &[
                Self::CriticalSection,
                Self::SpinningSection,
                Self::SlimLock,
                Self::StdMutex,
            ],
            System::Linux | System::Other => {
                &[Self::PthreadMutex, Self::PthreadSpin, Self::StdMutex]
            }
        }
    }
}

/// A section that ends before two switches of threads would, and one that lasts longer.
pub(super) const SHORT: Count = Count(100);
pub(super) const LONG: Count = Count(10_000);

const DESIGN: Design = Design {
    id: "threads.two_locks",
    title: "Two locks on several processors",
    question: "Which lock is better if n processors run 2n threads, half of them at each of two locks?",
    method: "Kernel threads start together, twice as many as processors. The first half enters one lock, \
             the second half another, many times each. Inside they compute a number of steps, as in \
             threads.lock. `entry` is the wall time of a run of about 40 ms over the entries of all \
             threads; starting and joining the threads is a hundredth of it at most. `busy` is the \
             processor time of the run over its wall time. The threads may run on as many processors as the \
             level says. The result behind each lock is checked against that of a single thread.",
    source: "Report D, several processors",
    axes: &[
        LOCK.axis(),
        STEPS.open(1, 10_000_000),
        PROCESSORS.open(1, 1024),
    ],
    metrics: &[ENTRY, BUSY],
};

impl Experiment for TwoLocks {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![several_cpus(setting)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let quick = setting.profile == Profile::Quick;
        let all = usable_cpus(setting).len() as u64;
        let powers = (0..u64::BITS).map(|exponent| 1 << exponent);
        let mut processors: Vec<u64> = powers.take_while(|count| *count < all).collect();
        if quick {
            processors.truncate(1);
        }
        processors.push(all);
        let most_locks = if quick { 2 } else { KernelLock::ALL.len() };
        let locks = KernelLock::of(System::here()).iter().take(most_locks);
        let sections = [Point::new()].by(LOCK, locks).by(STEPS, [SHORT, LONG]);
        sections.by(PROCESSORS, processors.into_iter().map(Count))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([SHORT, LONG].map(|steps| blocking_or_spinning(results, steps)))
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |steps: Count| {
            let lines = lines(results, ENTRY, PROCESSORS, LOCK, &[STEPS.at(steps)]);
            let title = format!("Two locks around {steps} steps");
            curves(format!("entry_{steps}"), &title, (PROCESSORS, ENTRY), lines)
        };
        vec![figure(SHORT), figure(LONG)]
    }
}

/// An entry with a lock by number of processors.
pub(super) fn by_processors<'r>(
    results: &'r Results,
    lock: KernelLock,
    steps: Count,
) -> Vec<(Count, &'r Estimate)> {
    results.along(PROCESSORS, ENTRY, &[LOCK.at(lock), STEPS.at(steps)])
}

/// The time of an entry that spins over one that blocks, by the number of processors, of which there are several.
pub(super) fn spinning_over_blocking(results: &Results, steps: Count) -> Vec<(Count, Quantity)> {
    let of = |lock| by_processors(results, lock, steps);
    let times = OPPOSITES.map(|(blocking, spinning)| ratios(&of(spinning), &of(blocking)));
    let times = times.into_iter().flatten();
    times.filter(|(processors, _)| processors.0 > 1).collect()
}

/// A lock that blocks and one that spins on the most processors, whose number comes first.
fn opposites<'r>(
    results: &'r Results,
    steps: Count,
) -> Option<(Count, &'r Estimate, &'r Estimate)> {
    let of = |lock| by_processors(results, lock, steps).pop();
    OPPOSITES.iter().find_map(|(blocking, spinning)| {
        let (processors, blocking) = of(*blocking)?;
        let (_, spinning) = of(*spinning).filter(|(count, _)| *count == processors)?;
        Some((processors, blocking, spinning))
    })
}

/// A spin lock against one that blocks, on the most processors.
fn blocking_or_spinning(results: &Results, steps: Count) -> Option<Finding> {
    let (processors, blocking, spinning) = opposites(results, steps)?;
    let times = ratio(spinning, blocking)?;
    let said = sentence!(
        "With two locks on {processors} processors and twice as many kernel threads, a section of \
         {steps} steps takes {times} as long with locks that spin as with locks that block."
    );
    Some(by_ratio(&format!("spinning_{}", steps.0), said, &times).weighing(0.4))
}
