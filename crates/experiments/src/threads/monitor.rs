//! `threads.monitor`: the promises of a monitor to a thread that it wakes.

use super::kind::UserThreads;
use crate::prelude::*;

pub(crate) struct Monitor;

pub(super) const ANIMALS: AxisOf<Count> = AxisOf::new("animals", "animals");
pub(super) const WAKING: AxisOf<Waking> = AxisOf::new("waking", "waking");

pub(super) const VISIT: Metric = Metric::time("visit", "visit");
pub(super) const HELD: Metric = Metric::gain("condition_held", "condition held", Unit::Share);
pub(super) const IN_ORDER: Metric = Metric::gain("in_order", "let in as they came", Unit::Share);

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
    axes: &[ANIMALS.open(1, 1000), WAKING.axis()],
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
        let counts = counts.iter().copied().map(Count);
        [Point::new()].by(ANIMALS, counts).by(WAKING, wakings)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        condition(results).into_iter().collect()
    }
}

fn condition(results: &Results) -> Option<Finding> {
    let held = |waking| {
        // The number of animals in the report.
        let levels = [WAKING.at(waking), ANIMALS.at(Count(USUAL))];
        let held = results.sound(HELD, &levels)?;
        Some(Quantity::exact(held.centre, held.unit))
    };
    let (hoare, mesa) = (held(Waking::Signal)?, held(Waking::Notify)?);
    let said = sentence!(
        "A woken thread finds its condition true in {hoare} of wake-ups after a signal (Hoare) and in \
         {mesa} after a notify (Mesa): it must check again (while, not if)."
    );
    let differs = hoare.value > mesa.value;
    differs.then(|| Finding::new("condition", said).weighing(0.2))
}
