//! `threads.monitor`: whether who is let into a monitor finds what it was promised.

use super::measure;
use crate::estimates::{WithEstimate, grade, ratio};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;

/// Whether who is let into a monitor finds what it was promised.
pub(crate) struct Monitor;

pub(super) const WAKING: &str = "waking";
pub(super) const ANIMALS: &str = "animals";

pub(super) const SIGNAL: &str = "signal";
pub(super) const BROADCAST: &str = "broadcast";
pub(super) const NOTIFY: &str = "notify";

pub(super) const VISIT: &str = "visit";
pub(super) const HELD: &str = "condition_held";
pub(super) const IN_ORDER: &str = "in_order";

/// How many animals fit into the room.
pub(super) const ROOM: usize = 10;
/// The number of animals in the report.
const USUAL: u64 = 90;

impl Experiment for Monitor {
    fn id(&self) -> &'static str {
        "threads.monitor"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Monitors after Hoare and after Mesa".into(),
            question: "Does a thread that is woken find the condition true that it waited for?"
                .into(),
            method: format!(
                "The zoo: each animal, a cooperative user thread on one worker, wants into a room \
                 for {ROOM} and leaves it again, three times over. The room is a monitor: a Lock \
                 and a condition variable. Who leaves yields inside the lock, so that others queue \
                 for it, and then wakes: by *signal* (after Hoare: the first who waits has the \
                 lock at once), *broadcast* (all who wait get the lock one after the other, before \
                 anyone from outside), or *notify* (after Mesa: who waited queues for the lock \
                 again, behind those who do already). `visit` is the wall time of a visit, \
                 starting and joining the animals taken off. `condition_held` is the share of \
                 wake-ups after which there was room, looked at by who was woken. `in_order` is 1 \
                 if all who waited were let in as they had come, else 0. That never more than \
                 {ROOM} are inside is checked."
            ),
            source: "Report D, section 3.5".into(),
            axes: vec![
                Axis::count(ANIMALS, "animals"),
                Axis::choice(WAKING, "waking"),
            ],
            metrics: vec![
                Metric::new(VISIT, "visit", Unit::Nanoseconds, Better::Lower),
                Metric::new(HELD, "condition held", Unit::Share, Better::Higher),
                Metric::new(IN_ORDER, "let in as they came", Unit::Share, Better::Higher),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let (counts, wakings): (&[u64], &[&str]) = match setting.profile {
            Profile::Quick => (&[USUAL], &[SIGNAL, NOTIFY]),
            Profile::Standard | Profile::Thorough => {
                (&[20, USUAL, 1000], &[SIGNAL, BROADCAST, NOTIFY])
            }
        };
        let with_wakings = |animals: &u64| {
            let point = Point::new().with(ANIMALS, *animals);
            let with = move |waking: &&str| point.clone().with(WAKING, *waking);
            wakings.iter().map(with)
        };
        counts.iter().flat_map(with_wakings).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        measure::monitor(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [condition(results), cost(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, _: &Results) -> Vec<Figure> {
        Vec::new()
    }
}

/// What is known of `metric` where as many animals as in the report are woken in this way.
fn of<'r>(results: &'r Results, waking: &str, metric: &str) -> Option<&'r Estimate> {
    let levels = [(WAKING, waking.into()), (ANIMALS, USUAL.into())];
    results.at(&levels)?.estimate(metric)
}

fn condition(results: &Results) -> Option<Finding> {
    let held = |waking| Some(of(results, waking, HELD)?.centre);
    let (hoare, mesa) = (held(SIGNAL)?, held(NOTIFY)?);
    let template = "After Hoare's signal the condition holds in {hoare} of wake-ups, after Mesa's \
                    notify in {mesa}: there a woken thread must look again (while, not if).";
    (hoare > mesa).then(|| {
        Finding::new("condition", template)
            .given("hoare", hoare, Unit::Share)
            .given("mesa", mesa, Unit::Share)
            .weighing(0.5)
    })
}

fn cost(results: &Results) -> Option<Finding> {
    let (signal, notify) = (of(results, SIGNAL, VISIT)?, of(results, NOTIFY, VISIT)?);
    let times = ratio(notify, signal)?;
    let template = "A visit takes {signal} where animals are let in by signal, and {times} that by \
                    notify.";
    Some(
        Finding::new("cost", template)
            .estimated("signal", signal.centre, signal.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.3),
    )
}

#[cfg(test)]
mod tests {
    use super::{ANIMALS, HELD, Monitor, NOTIFY, SIGNAL, VISIT, WAKING};
    use crate::made_up::{machine, result, results};
    use instrument::experiment::Experiment;
    use instrument::point::Point;

    #[test]
    fn the_difference_between_hoare_and_mesa_is_told() {
        let at = |waking: &str, visit, held| {
            let point = Point::new().with(ANIMALS, 90).with(WAKING, waking);
            result(point, &[(VISIT, visit), (HELD, held)])
        };
        let (definition, machine) = (Monitor.definition(), machine());
        let points = vec![at(SIGNAL, 100.0, 1.0), at(NOTIFY, 150.0, 0.5)];
        let findings = Monitor.findings(&results(&definition, &machine, points));
        let keys: Vec<_> = findings
            .iter()
            .map(|finding| finding.key.as_str())
            .collect();
        assert_eq!(keys, ["condition", "cost"]);
    }

    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    #[test]
    fn hoare_keeps_the_promise_and_mesa_does_not() {
        use super::{BROADCAST, IN_ORDER};
        use crate::made_up::{measure, setting};
        use instrument::plan::Profile;
        use instrument::sample::Reading;

        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for point in Monitor.points(&setting(Profile::Standard)) {
            let (samples, _) = measure(&Monitor, &point, scratch.path()).expect("it works here");
            let all = |metric: &str, of: fn(f64) -> bool| {
                let mut found = samples.iter().filter(|sample| sample.metric == metric);
                found.all(|sample| matches!(sample.reading, Reading::Value(value) if of(value)))
            };
            match point.choice(WAKING).expect("it has one") {
                SIGNAL => {
                    assert!(all(HELD, |share| share >= 1.0) && all(IN_ORDER, |share| share >= 1.0));
                }
                BROADCAST => assert!(all(HELD, |share| share > 0.0)),
                _ => assert!(all(HELD, |share| share < 1.0)),
            }
        }
    }
}
