//! `threads.switch`: the cost of giving the turn to another thread.

use super::kind::{self, KIND, Kind, THREADS, UserThreads};
use crate::estimates::{by_ratio, ratio};
use crate::prelude::*;

pub(crate) struct Switch;

pub(super) const SWITCH: Metric<&str> = Metric::time("switch", "switch");
/// Context switches that the kernel counted for each.
pub(super) const KERNEL_SWITCHES: Metric<&str> =
    Metric::fact("kernel_switches", "by the kernel", Unit::Count);

const DESIGN: Design = Design {
    id: "threads.switch",
    title: "Switching between threads",
    question: "What does it cost to give the turn to another thread?",
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
        let findings = [kinds(results), crowd(results)];
        findings.into_iter().flatten().collect()
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
        "A switch between two user threads takes {user}. Between two kernel threads on one \
         processor, each of which wakes the other and sleeps, it takes {kernel}: {times} as long."
    );
    Some(by_ratio("kinds", said, &times).weighing(0.6))
}

fn crowd(results: &Results) -> Option<Finding> {
    let user = kind::curve(results, SWITCH, Kind::User);
    let ((_, few), (threads, many)) = (user.first()?, user.last()?);
    let times = ratio(many, few)?;
    let said = sentence!(
        "Among {threads} user threads a switch takes {many}, {times} the time between two: their \
         stacks share the caches."
    );
    (times.value > 1.0).then(|| by_ratio("crowd", said, &times).weighing(0.35))
}

#[cfg(test)]
mod tests {
    use super::kind::{Kind, point};
    use super::{SWITCH, Switch};
    use crate::made_up::{assert_said, findings, measured};

    #[test]
    fn kernel_threads_are_compared_with_user_threads() {
        let at = |kind, threads, ns| measured(point(kind, threads), &[(SWITCH, ns)]);
        let points = vec![
            at(Kind::User, 2, 10.0),
            at(Kind::User, 1000, 20.0),
            at(Kind::Kernel, 2, 1000.0),
        ];
        let expected = [
            "Certain kinds: …takes 10.0 ns…it takes 1.00 µs: 100 × as long",
            "Certain crowd: Among 1000 user threads a switch takes 20.0 ns, 2.00 × the time",
        ];
        assert_said(&findings(&Switch, points), &expected);
    }
}
