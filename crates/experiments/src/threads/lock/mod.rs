//! `threads.lock`: spinning or blocking, for a thread that finds a lock held.

mod findings;

pub(super) use findings::{spin_and_block, step_ns, user_spin_and_block};

use super::kind::UserThreads;
use crate::prelude::*;
use std::fmt;

pub(super) const BODY: AxisOf<Body> = AxisOf::new("body", "body");
pub(super) const LOCK: AxisOf<LockType> = AxisOf::new("lock", "lock");
pub(super) const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");

/// The slice of user threads, where it is not the usual one.
pub(super) const SLICE: AxisOf<Count> = AxisOf::new("slice", "slice in µs");

pub(super) const RUN: Metric = Metric::time("run", "run, each enters once");
/// Since its second version runs are long enough for threads to lose their turn inside.
pub(super) const ENTRY: Metric = Metric::time("entry", "entry in a long run").in_version(2);
pub(super) const TURNS_TAKEN: Metric =
    Metric::fact("turns_taken", "turns taken in a run", Unit::Count);

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockType {
    /// Of user threads on one worker: `uthread::Lock::fifo`, the report's Lock, which is handed over in the order
    /// of coming.
    #[choice("Lock")]
    Lock,
    #[choice("SpinLock")]
    SpinLock,
    /// Of user threads on as many workers as there are processors.
    #[choice("Lock, all cores")]
    LockOnAllCores,
    #[choice("SpinLock, all cores")]
    SpinLockOnAllCores,
    /// Of kernel threads on all processors.
    PthreadMutex,
    #[choice("std Mutex")]
    StdMutex,
    PthreadSpin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Simple,
    SimpleYield,
    Complex { steps: u64 },
}

/// Steps of the *complex* body, where they are not themselves varied.
const COMPLEX_STEPS: u64 = 1000;

impl Body {
    /// The *complex* body of the usual length.
    const COMPLEX: Self = Self::complex(COMPLEX_STEPS);

    pub(super) const fn complex(steps: u64) -> Self {
        Self::Complex { steps }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple => f.write_str("simple"),
            Self::SimpleYield => f.write_str("simple yield"),
            Self::Complex { steps } => write!(f, "complex, {steps} steps"),
        }
    }
}

impl LevelOf for Body {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.to_string())
    }

    fn of(level: &Level) -> Option<Self> {
        read_back(level, |name| match name {
            "simple" => Some(Self::Simple),
            "simple yield" => Some(Self::SimpleYield),
            _ => {
                let steps = name.strip_prefix("complex, ")?.strip_suffix(" steps")?;
                steps.parse().ok().map(Self::complex)
            }
        })
    }
}

/// The number of threads for which everything else is compared.
pub(super) const MIDDLE: Count = Count(10);

/// Two kernel threads have a processor each nearly everywhere, so that preemption by the kernel
/// does not hide the cost of spinning and blocking.
pub(super) const PAIR: Count = Count(2);

/// Lengths of the section in which spinning and blocking kernel threads are compared, in steps.
const LENGTHS: [u64; 5] = [10, 100, 1000, 10_000, 100_000];

/// Steps of the section whose length shows that the body is computed.
pub(super) const LONG_STEPS: u64 = 10 * COMPLEX_STEPS;

/// Lengths of the section, from far within a slice to several slices, in which the locks of user threads are compared,
/// in steps.
const ACROSS_A_SLICE: [u64; 5] = [COMPLEX_STEPS, LONG_STEPS, 100_000, 400_000, 4_000_000];

/// The slice in runs of the *simple yield* body and in all long runs. It is as short as can be
/// afforded, so that 99 threads that burn their slices are done within a second.
pub(super) const SHORT_SLICE_US: u64 = 50;
/// The slice in runs in which every thread enters once, within which they are over.
pub(super) const LONG_SLICE_US: u64 = 2000;

pub(super) fn point(body: Body, lock: LockType, threads: Count) -> Point {
    Point::new()
        .at(BODY, body)
        .at(LOCK, lock)
        .at(THREADS, threads)
}

/// The levels by which that point is found.
pub(super) fn at(body: Body, lock: LockType, threads: Count) -> [(&'static str, Level); 3] {
    [BODY.at(body), LOCK.at(lock), THREADS.at(threads)]
}

pub(crate) struct Lock;

const DESIGN: Design = Design {
    id: "threads.lock",
    title: "Locks that spin and locks that block",
    question: "Should a thread that finds a lock held spin or block?",
    method: formatcp!(
        "A number of threads want one lock. Inside the lock they run a body. *simple* adds 1 to a \
         shared number. *simple yield* adds 1 and yields before it unlocks. *complex* computes a \
         number of steps (xorshift on the shared number); each step needs the one before, so that \
         the compiler can remove none. The number at the end is checked against that of a single \
         thread. `run`, on one worker, is the wall time of starting all threads, of which each \
         enters once, and of joining them, as in the report. `entry` is the wall time of one \
         entry in a long run, in which the threads start together and enter many times. Starting \
         and joining the threads is not part of it. On several processors, and if several threads \
         compute, a long run lasts about 40 ms, so that threads lose their turn inside as they do \
         in programs. It then includes starting and joining, a hundredth at most. With two kernel \
         threads, whose section varies in length, it lasts 10 ms. User threads are those of the \
         `uthread` library: preemptive, all of one priority, on one worker or on as many as there \
         are processors. Their locks are its Lock (blocks; first come, first served) and its \
         plain SpinLock. Kernel threads use all processors, with pthread_mutex_t, the standard \
         library's futex lock, and pthread_spinlock_t. The slice is {LONG_SLICE_US} µs in a \
         `run`, so that the run ends within one slice, as in the report. It is {SHORT_SLICE_US} \
         µs with the body *simple yield* and in long runs. With `--at slice=16ms`, as long as the \
         report's, all user threads have that slice; with *simple yield*, spinning threads burn a slice for each \
         that goes before them, which takes 78 s for 99 of them. `turns_taken` is the number of \
         preemptions in one run of *simple yield* with spinning threads, or of a section of more than {LONG_STEPS} \
         steps. Such runs are timed from before the runtime starts."
    ),
    source: "Report D, Table 1",
    axes: &[
        BODY.axis(),
        LOCK.axis(),
        THREADS.open(1, 999),
        SLICE.open(SHORT_SLICE_US, 1_000_000).only_if_chosen(),
    ],
    metrics: &[RUN, ENTRY, TURNS_TAKEN],
};

/// The points with the usual slices. If there is none, those with the shortest slice that was chosen:
/// numbers with different slices do not belong in one sentence.
pub(super) fn with_one_slice<'r>(results: &Results<'r>) -> Results<'r> {
    let slice = |point: &Point| point.get(SLICE.name()).cloned();
    let chosen = results.points.iter().map(|result| slice(&result.point));
    let shortest = chosen.min().flatten();
    results.only(|point| slice(point) == shortest)
}

impl Experiment for Lock {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let quick = setting.profile == Profile::Quick;
        let counts: &[u64] = if quick {
            &[1, 10, 99]
        } else {
            &[1, 3, 10, 30, 99]
        };
        let mut points = Vec::new();
        let mut add = |body, lock, threads| {
            let point = point(body, lock, threads);
            if !points.contains(&point) {
                points.push(point);
            }
        };
        for body in [Body::Simple, Body::SimpleYield, Body::COMPLEX] {
            // A thread that is alone has nobody to yield to.
            let alone_tells_little = quick && body == Body::SimpleYield;
            for &threads in &counts[usize::from(alone_tells_little)..] {
                add(body, LockType::Lock, Count(threads));
                add(body, LockType::SpinLock, Count(threads));
            }
        }
        add(Body::complex(LONG_STEPS), LockType::Lock, Count(1));
        let (several, bodies): (&[u64], &[Body]) = if quick {
            (&[MIDDLE.0], &[Body::COMPLEX])
        } else {
            (counts, &[Body::Simple, Body::COMPLEX])
        };
        for &threads in several {
            for &body in bodies {
                for lock in [
                    LockType::LockOnAllCores,
                    LockType::SpinLockOnAllCores,
                    LockType::PthreadMutex,
                    LockType::StdMutex,
                    LockType::PthreadSpin,
                ] {
                    add(body, lock, Count(threads));
                }
            }
        }
        let across: &[u64] = if quick { &[] } else { &ACROSS_A_SLICE };
        for &steps in across {
            add(Body::complex(steps), LockType::Lock, MIDDLE);
            add(Body::complex(steps), LockType::SpinLock, MIDDLE);
        }
        let lengths: &[u64] = if quick { &LENGTHS[..3] } else { &LENGTHS };
        for &steps in lengths {
            add(Body::complex(steps), LockType::PthreadMutex, PAIR);
            add(Body::complex(steps), LockType::PthreadSpin, PAIR);
        }
        points
    }

    /// On one worker, each spinning thread burns a slice for each that goes before it.
    fn least_ns(&self, point: &Point) -> u64 {
        let spins = point.matches(&[BODY.at(Body::SimpleYield), LOCK.at(LockType::SpinLock)]);
        match (point.level(THREADS), point.level(SLICE)) {
            (Ok(Count(threads)), Ok(Count(slice_us))) if spins => {
                (threads * threads.saturating_sub(1) / 2).saturating_mul(1000 * slice_us)
            }
            _ => 0,
        }
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(&with_one_slice(results))
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(&with_one_slice(results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;
    use instrument::at_levels::AtLevels;
    use instrument::estimate::FEWEST_PROCESSES;
    use instrument::plan::Plan;

    #[test]
    fn slices_that_spinners_burn_count_in_the_plan_where_the_slice_was_chosen() {
        let usual = point(Body::SimpleYield, LockType::SpinLock, Count(99));
        let chosen = usual.clone().at(SLICE, Count(16_000));
        assert_eq!(Lock.least_ns(&usual), 0);
        assert_eq!(Lock.least_ns(&chosen), 4851 * 16_000_000);
        for body in [Body::Simple, Body::COMPLEX] {
            let other = point(body, LockType::SpinLock, Count(99));
            assert_eq!(Lock.least_ns(&other.at(SLICE, Count(16_000))), 0);
        }
        let blocking = point(Body::SimpleYield, LockType::Lock, Count(99));
        assert_eq!(Lock.least_ns(&blocking.at(SLICE, Count(16_000))), 0);
        let levels = chosen.levels();
        let levels: Vec<_> = levels
            .map(|(axis, level)| (axis.to_owned(), level.clone()))
            .collect();
        let setting = setting(Profile::Standard);
        let at_levels = AtLevels::new(&Lock, &levels, &setting).expect("levels of the report");
        let plan = Plan::new(&[&at_levels], &setting, None, 1);
        let processes = FEWEST_PROCESSES as f64;
        assert_eq!(plan.point_count(), 1);
        assert!(plan.budget().0 > processes * Lock.least_ns(&chosen) as f64);
    }
}
