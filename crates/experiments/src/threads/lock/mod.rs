//! `threads.lock`: spinning or blocking, for a thread that finds a lock held.

mod figures;
mod findings;
pub(super) mod levels;
mod points;

use super::user_threads::UserThreads;
use crate::prelude::*;
use levels::{BODY, ENTRY, LOCK, LONG_SLICE_US, RUN, SHORT_SLICE_US, SLICE, THREADS, TURNS_TAKEN};

pub(super) use findings::{spin_and_block, step_ns};

/// Spinning or blocking, for a thread that finds a lock held.
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
         report's, all user threads have that slice. `turns_taken` is the number of \
         preemptions in one run of *simple yield*. In such a run, spinning threads are timed from \
         before the runtime starts."
    ),
    source: "Report D, Table 1",
    axes: &[BODY.axis(), LOCK.axis(), THREADS.axis(), SLICE.axis()],
    metrics: &[RUN, ENTRY, TURNS_TAKEN],
};

/// The points with the usual slices. If there is none, those with the shortest slice that was chosen:
/// numbers with different slices do not belong in one sentence.
fn with_one_slice<'r>(results: &Results<'r>) -> Results<'r> {
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
        points::all(setting)
    }

    fn open_axes(&self) -> &'static [OpenAxis] {
        const {
            &[
                THREADS.open(1, 999),
                SLICE.open(SHORT_SLICE_US, 1_000_000).only_if_chosen(),
            ]
        }
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(&with_one_slice(results))
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        figures::all(&with_one_slice(results))
    }
}
