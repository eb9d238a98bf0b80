//! `process.poll`: the cost of a wait for one of many descriptors.

use crate::estimates::{by_ratio, found, grade, ratio, ratios, side_by_side};
use crate::figures::{curves, lines};
use crate::judging::above_from;
use crate::prelude::*;
use platform::channel::event_counter;
use platform::readiness::{Epoll, PollList, allow_descriptors, most_descriptors};
use std::fs::File;
use std::io::Write;

pub(crate) struct Poll;

const DESCRIPTORS: AxisOf<Count> = AxisOf::new("descriptors", "descriptors");
const CALL: AxisOf<Call> = AxisOf::new("call", "call");
const WAIT: Metric = Metric::time("wait", "wait");
const REGISTER: Metric = Metric::time("register", "adding and removing one descriptor");

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Poll,
    Epoll,
}

/// Descriptors that a process needs in addition to those that it waits for.
const SPARE: u64 = 100;
/// The most descriptors that a user can ask for: the kernel's usual limit of open files.
const MOST: u64 = 1 << 20;

pub(super) const DESIGN: Design = Design {
    id: "process.poll",
    title: "Waiting for one of many descriptors",
    question: "What does it cost to wait for one of many descriptors, and from how many on does \
               epoll pay?",
    method: "The process opens the given number of eventfds, and keeps the one in the middle \
             ready. Then it waits for all of them, n times in each leg. Each wait is one system \
             call, which returns at once and reports that one descriptor. The fixed cost that \
             shorter legs show is subtracted. poll: the call passes the list of all descriptors to \
             the kernel each time. The kernel queues itself at each descriptor until it finds a \
             ready one, and only looks at the rest: the middle represents any place. epoll: the \
             descriptors are registered before, which is not timed; the call is epoll_wait, \
             level-triggered. Adding and removing one descriptor is timed separately: two \
             epoll_ctl with one eventfd more. Sockets and pipes cost a little more for each \
             descriptor than eventfds. Nothing sleeps; process.wakeup measures that.",
    source: "common practice, after lmbench's lat_select",
    axes: &[DESCRIPTORS.open(1, MOST), CALL.axis()],
    metrics: &[WAIT, REGISTER],
};

impl Experiment for Poll {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let counts: &[u64] = match setting.profile {
            Profile::Quick => &[1, 4, 16, 256, 4096],
            _ => &[1, 2, 4, 8, 16, 64, 256, 1024, 4096, 16384],
        };
        let is_allowed = |count: &u64| most_descriptors().is_none_or(|most| count + SPARE <= most);
        let counts = counts.iter().copied().filter(is_allowed);
        let counts = [Point::new()].by(DESCRIPTORS, counts.map(Count));
        counts.by(CALL, Call::ALL)
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Calls)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Count(count) = point.level(DESCRIPTORS)?;
        allow_descriptors(count + SPARE)?;
        let files = one_ready(count)?;
        match point.level(CALL)? {
            Call::Poll => {
                let mut list = PollList::new(files)?;
                time(sampler, || list.wait())
            }
            Call::Epoll => {
                let mut epoll = Epoll::new(files)?;
                time(sampler, || epoll.wait())?;
                let another = event_counter()?;
                sampler.repeat(REGISTER, 1.0, |iterations| {
                    Ok((0..iterations).try_for_each(|_| epoll.add_remove(&another))?)
                })
            }
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([choice(results), registering(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let title = "Cost of a wait by the number of descriptors";
        let lines = lines(results, WAIT, DESCRIPTORS, CALL, &[]);
        vec![curves(WAIT, title, (DESCRIPTORS, WAIT), lines)]
    }
}

/// This many descriptors, of which the middle one is ready at all times. A poll takes several times as
/// long if the last one is ready as if the first one is: a random one would make processes differ.
fn one_ready(count: u64) -> Result<Vec<File>, MeasureError> {
    let files: platform::Result<Vec<File>> = (0..count).map(|_| event_counter()).collect();
    let mut files = files?;
    let ready = &mut files[(count / 2) as usize];
    let written = ready.write_all(&1_u64.to_ne_bytes());
    written.map_err(MeasureError::system("write to an eventfd"))?;
    Ok(files)
}

fn time(
    sampler: &mut Sampler<'_>,
    mut wait: impl FnMut() -> platform::Result<usize>,
) -> Result<(), MeasureError> {
    sampler.repeat(WAIT, 1.0, |iterations| {
        let mut reported = 0;
        for _ in 0..iterations {
            reported += wait()? as u64;
        }
        let wrong = || unsupported("a wait did not report the one descriptor");
        (reported == iterations).then_some(()).ok_or_else(wrong)
    })
}

/// The cost of a wait by the number of descriptors, in ascending order.
pub(super) fn by_count<'r>(results: &'r Results, call: Call) -> Vec<(Count, &'r Estimate)> {
    results.along(DESCRIPTORS, WAIT, &[CALL.at(call)])
}

/// The number of descriptors from which on epoll is the faster one.
fn choice(results: &Results) -> Option<Finding> {
    let one = by_count(results, Call::Poll);
    let other = by_count(results, Call::Epoll);
    let &(most, poll, _) = side_by_side(&one, &other).last()?;
    let ratios = ratios(&one, &other);
    let &(_, times) = ratios.last()?;
    let onset = above_from(&ratios, 1.0).ok()?;
    let range = if onset.is_everywhere() {
        sentence!("at any number of descriptors")
    } else {
        let Onset { after, from } = onset;
        sentence!("from somewhere between {after} and {from} descriptors on")
    };
    let said = sentence!(
        "epoll_wait is faster than poll {range}. For {most} descriptors with one ready, poll takes \
         {poll}, {times} as long as epoll_wait."
    );
    let finding = Finding::new("choice", said).with_number("from", onset);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.6))
}

/// The price of epoll for a descriptor that is waited for once.
fn registering(results: &Results) -> Option<Finding> {
    let one = |call| [DESCRIPTORS.at(Count(1)), CALL.at(call)];
    let register = results.sound(REGISTER, &one(Call::Epoll))?;
    let poll = results.sound(WAIT, &one(Call::Poll))?;
    let times = ratio(register, poll)?;
    let said = sentence!(
        "Adding a descriptor to epoll and removing it takes {register}, {times} as long as one poll of \
         it: use poll for a descriptor that is waited for once."
    );
    let follows = times.extent().low > 1.0;
    follows.then(|| by_ratio("register", said, &times).weighing(0.4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn no_more_descriptors_are_planned_than_a_process_may_have() {
        let points = Poll.points(&setting(Profile::Standard)).into_iter();
        let most = most_descriptors().unwrap_or(u64::MAX);
        let planned = points.filter_map(|it| it.level(DESCRIPTORS).ok()).max();
        assert!(planned.is_some_and(|Count(planned)| planned + SPARE <= most));
    }

    // No other system has such lists.
    #[cfg(unix)]
    #[test]
    fn one_descriptor_is_ready_and_each_wait_reports_it() {
        for count in 1..4 {
            let files = one_ready(count).expect("three are few");
            let mut list = PollList::new(files).expect("this system has it");
            assert_eq!(list.wait().expect("one is ready"), 1);
        }
    }
}
