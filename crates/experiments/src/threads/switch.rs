//! `threads.switch`: the cost of giving the turn to another thread.

use super::kind::{self, KIND, Kind, THREADS, UserThreads};
use crate::estimates::{by_ratio, ratio};
use crate::prelude::*;

pub(crate) struct Switch;

pub(super) const SWITCH: Metric = Metric::time("switch", "switch");
/// Context switches that the kernel counted for each.
pub(super) const KERNEL_SWITCHES: Metric =
    Metric::fact("kernel_switches", "by the kernel", Unit::Count);

const DESIGN: Design = Design {
    id: "threads.switch",
    title: "Switching between threads",
    question: "What does a switch to another thread of the process cost?",
    method: "All threads run on one processor and only hand the turn on. User threads are those \
             of the `uthread` library, on one worker; they yield. Kernel threads form a ring: \
             each wakes the next with unpark and then sleeps in park (both are futex calls). They \
             do not yield, because the kernel takes a yield as a hint only. `switch` is the wall \
             time from one thread's turn to the next thread's turn, without starting and joining \
             the threads. `kernel_switches` is the number of context switches that the kernel \
             counted for each.",
    source: "Report D, and common practice",
    axes: &[KIND.axis(), THREADS.axis()],
    metrics: &[SWITCH, KERNEL_SWITCHES],
};

impl Experiment for Switch {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        match setting.profile {
            Profile::Quick => kind::points(&[2, 1000], &[2]),
            Profile::Standard => kind::points(&[2, 10, 100, 1000, 10_000], &[2, 10, 100, 1000]),
            Profile::Thorough => {
                kind::points(&[2, 10, 100, 1000, 10_000, 100_000], &[2, 10, 100, 1000])
            }
        }
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        kinds(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        vec![kind::figure(results, SWITCH, "Time of a switch")]
    }
}

fn kinds(results: &Results) -> Option<Finding> {
    let fewest = |kind| kind::curve(results, SWITCH, kind).into_iter().next();
    let ((_, user), (_, kernel)) = (fewest(Kind::User)?, fewest(Kind::Kernel)?);
    let times = ratio(kernel, user)?;
    let said = sentence!(
        "A switch between two kernel threads on one processor, by unpark and park, takes {kernel}, \
         {times} as long as between two user threads of the uthread library."
    );
    Some(by_ratio("kinds", said, &times).weighing(0.4))
}
