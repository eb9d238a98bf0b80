//! `threads.create`: the cost of starting a thread, and of keeping one.

use super::kind::{self, KIND, Kind, THREADS, UserThreads};
use crate::estimates::{by_ratio, found, ratio};
use crate::prelude::*;

pub(crate) struct Create;

pub(super) const CREATE: Metric = Metric::time("create", "start and join");
pub(super) const MEMORY: Metric = Metric::cost("memory", "memory of one that waits", Unit::Bytes);

/// From this number of threads on, the memory of one is clearly visible.
pub(super) const ENOUGH: u64 = 100;

const DESIGN: Design = Design {
    id: "threads.create",
    title: "Starting threads",
    question: "What does it cost to start a thread, and to keep one?",
    method: formatcp!(
        "All threads run on one processor. A number of threads that do nothing are started one \
         after the other and then joined. `create` is the wall time of both for each thread. The \
         rounds are repeated, so that a library that reuses stacks can do so. User threads are \
         those of the `uthread` library. Kernel threads are those of the standard library, with \
         its default stack. `memory` is the growth of the process's resident memory, page tables \
         included, for each thread that has started and waits. It is reported from {ENOUGH} \
         threads on. Memory that the kernel keeps for its own threads, such as a stack of 16 KiB \
         on x86-64, is not included."
    ),
    source: "Report D, and common practice",
    axes: &[KIND.axis(), THREADS.axis()],
    metrics: &[CREATE, MEMORY],
};

impl Experiment for Create {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        match setting.profile {
            Profile::Quick => kind::points(&[1, 1000], &[1, 100]),
            Profile::Standard => kind::points(&[1, 10, 100, 1000, 10_000], &[1, 10, 100, 1000]),
            Profile::Thorough => {
                kind::points(&[1, 10, 100, 1000, 10_000, 100_000], &[1, 10, 100, 1000])
            }
        }
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([time(results), memory(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        vec![kind::figure(
            results,
            CREATE,
            "Time to start and join a thread",
        )]
    }
}

fn time(results: &Results) -> Option<Finding> {
    let fewest = |kind| kind::curve(results, CREATE, kind).into_iter().next();
    let ((_, user), (_, kernel)) = (fewest(Kind::User)?, fewest(Kind::Kernel)?);
    let times = ratio(kernel, user)?;
    let said = sentence!(
        "Starting and joining a kernel thread takes {kernel}, {times} as long as a user thread of the \
         uthread library."
    );
    Some(by_ratio("time", said, &times).weighing(0.4))
}

fn memory(results: &Results) -> Option<Finding> {
    let most = |kind| kind::curve(results, MEMORY, kind).pop();
    let ((_, user), (_, kernel)) = (most(Kind::User)?, most(Kind::Kernel)?);
    let times = ratio(kernel, user)?;
    let said = sentence!(
        "A kernel thread that waits takes {kernel} of its process's memory, {times} as much as a user \
         thread of the uthread library, and more in the kernel."
    );
    Some(by_ratio("memory", said, &times).weighing(0.4))
}
