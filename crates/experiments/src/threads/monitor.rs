//! `threads.monitor`: the promises of a monitor to a thread that it wakes.

use super::kind::UserThreads;
use crate::estimates::{by_ratio, ratio};
use crate::prelude::*;

pub(crate) struct Monitor;

pub(super) const ANIMALS: AxisOf<Count> = AxisOf::new("animals", "animals");
pub(super) const WAKING: AxisOf<Waking> = AxisOf::new("waking", "waking");

pub(super) const VISIT: Metric<&str> = Metric::time("visit", "visit");
pub(super) const HELD: Metric<&str> = Metric::gain("condition_held", "condition held", Unit::Share);
pub(super) const IN_ORDER: Metric<&str> =
    Metric::gain("in_order", "let in as they came", Unit::Share);

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waking {
    Signal,
    Broadcast,
    Notify,
}

/// The number of animals that fit into the room.
pub(super) const ROOM: usize = 10;
const USUAL: u64 = 90;

const DESIGN: Design = Design {
    id: "threads.monitor",
    title: "Monitors after Hoare and after Mesa",
    question: "Does a thread that is woken find the condition true that it waited for?",
    method: formatcp!(
        "The zoo: each animal is a cooperative user thread on one worker. It enters a room for \
         {ROOM} and leaves it again, three times over. The room is a monitor: a Lock and a \
         condition variable. An animal that leaves yields inside the lock, so that others queue \
         for it, and then wakes others. *signal* (Hoare): the first waiting thread gets the lock \
         at once. *broadcast*: all waiting threads get the lock one after the other, before any \
         thread from outside. *notify* (Mesa): the woken thread queues for the lock again, behind \
         those that queue already. `visit` is the wall time of a visit, without starting and \
         joining the animals. `condition_held` is the share of wake-ups after which the woken \
         thread found room. `in_order` is 1 if all waiting animals were let in in the order in \
         which they came, else 0. Every run checks that there are never more than {ROOM} inside."
    ),
    source: "Report D, Test-zoo",
    axes: &[ANIMALS.axis(), WAKING.axis()],
    metrics: &[VISIT, HELD, IN_ORDER],
};

impl Experiment for Monitor {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let (counts, wakings): (&[u64], &[Waking]) = match setting.profile {
            Profile::Quick => (&[USUAL], &[Waking::Signal, Waking::Notify]),
            Profile::Standard | Profile::Thorough => (&[20, USUAL, 1000], Waking::ALL),
        };
        let points = |animals| wakings.iter().map(move |waking| point(animals, *waking));
        counts.iter().copied().flat_map(points).collect()
    }

    fn open_axes(&self) -> &'static [OpenAxis] {
        const { &[ANIMALS.open(1, 999)] }
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let findings = [condition(results), cost(results)];
        findings.into_iter().flatten().collect()
    }
}

fn point(animals: u64, waking: Waking) -> Point {
    Point::new().at(ANIMALS, Count(animals)).at(WAKING, waking)
}

/// The estimate of `metric` with as many animals as in the report.
fn of<'r>(
    results: &'r Results,
    waking: Waking,
    metric: Metric<&'static str>,
) -> Option<&'r Estimate> {
    let levels = [WAKING.at(waking), ANIMALS.at(Count(USUAL))];
    results.at(&levels)?.estimate(metric)
}

fn condition(results: &Results) -> Option<Finding> {
    let held = |waking| {
        let held = of(results, waking, HELD)?;
        Some(Quantity::exact(held.centre, held.unit))
    };
    let (hoare, mesa) = (held(Waking::Signal)?, held(Waking::Notify)?);
    let said = sentence!(
        "After Hoare's signal the condition holds in {hoare} of wake-ups, after Mesa's notify in \
         {mesa}: with notify, a woken thread must check again (while, not if)."
    );
    (hoare.value > mesa.value).then(|| Finding::new("condition", said))
}

fn cost(results: &Results) -> Option<Finding> {
    let visit = |waking| of(results, waking, VISIT);
    let (signal, notify) = (visit(Waking::Signal)?, visit(Waking::Notify)?);
    let times = ratio(notify, signal)?;
    let said = sentence!("A visit takes {signal} with signal, and {times} as long with notify.");
    Some(by_ratio("cost", said, &times).weighing(0.3))
}

#[cfg(test)]
mod tests {
    use super::{HELD, Monitor, VISIT, Waking, point};
    use crate::made_up::{assert_said, findings, measured};

    #[test]
    fn hoare_and_mesa_are_compared() {
        let at = |waking, visit, held| measured(point(90, waking), &[(VISIT, visit), (HELD, held)]);
        let points = vec![
            at(Waking::Signal, 100.0, 1.0),
            at(Waking::Notify, 150.0, 0.5),
        ];
        let expected = [
            "Certain condition: …100 % of wake-ups, after Mesa's notify in 50.0 %",
            "Certain cost: …100 ns with signal, and 1.50 × as long with notify",
        ];
        assert_said(&findings(&Monitor, points), &expected);
    }
}
