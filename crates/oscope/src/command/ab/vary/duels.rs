//! The compared ways of measuring, at each point one for each value of the setting, and their visits as a
//! stored run: each experiment with one more axis, `variant`.

use crate::arguments::Varied;
use crate::command::ab::recording::{close, observe, take};
use crate::exit::{WrongUse, refuse};
use anyhow::Result;
use instrument::definition::Definition;
use instrument::plan::Plan;
use instrument::point::{Axis, Level, Point};
use instrument::runner::Event;
use instrument::sample::Batch;
use record::store::Recorder;

/// The values that are compared at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duel {
    /// Index of the experiment in its plan.
    pub experiment: usize,
    /// The levels that all ways share.
    pub shared: Point,
    /// The point that each way measures.
    pub points: Vec<Point>,
}

/// The duels of the experiments in `plans`: one plan, or one for each directory that is compared.
///
/// # Errors
/// [`WrongUse`] if there is none.
pub fn duels(
    plans: &[Plan<'_>],
    varied: &Varied,
    values: usize,
    levels: &[Level],
) -> Result<Vec<Duel>, WrongUse> {
    let mut duels = Vec::new();
    for (experiment, planned) in plans[0].experiments.iter().enumerate() {
        let Ok(points) = &planned.points else {
            continue;
        };
        let is_everywhere = |point: &&Point| {
            plans.iter().all(|plan| {
                let there = plan.experiments.get(experiment);
                there.is_some_and(|it| it.points.as_ref().is_ok_and(|all| all.contains(point)))
            })
        };
        let shared: Vec<&Point> = points.iter().filter(is_everywhere).collect();
        match varied {
            Varied::Axis(name) => duels.extend(along(experiment, &shared, name, levels)),
            Varied::Trial(_, points) => duels.push(Duel {
                experiment,
                shared: part(&points[0], |axis, level| points[1].get(axis) == Some(level)),
                points: points.to_vec(),
            }),
            _ => duels.extend(shared.into_iter().map(|point| Duel {
                experiment,
                shared: point.clone(),
                points: vec![point.clone(); values],
            })),
        }
    }
    if duels.is_empty() {
        let experiments = &plans[0].experiments;
        let reasons = experiments.iter().filter_map(|it| it.points.as_ref().err());
        let reasons: Vec<&str> = reasons.map(String::as_str).collect();
        if reasons.len() == experiments.len() {
            refuse!("nothing can be measured here: {}", reasons.join("; "));
        }
        refuse!("no points differ only in that: name fewer levels with `--at`, or others");
    }
    Ok(duels)
}

/// The points that differ in the axis `name` only and have all of `levels` there.
fn along(experiment: usize, points: &[&Point], name: &str, levels: &[Level]) -> Vec<Duel> {
    let first = points
        .iter()
        .filter(|point| point.get(name) == levels.first());
    let at_all = |point: &&Point| {
        let at = |level: &Level| (*point).clone().with(name, level.clone());
        let all: Vec<Point> = levels.iter().map(at).collect();
        all.iter().all(|it| points.contains(&it)).then(|| Duel {
            experiment,
            shared: part(point, |axis, _| axis != name),
            points: all,
        })
    };
    first.filter_map(at_all).collect()
}

/// Those of the levels of a point that are shared.
fn part(point: &Point, is_shared: impl Fn(&str, &Level) -> bool) -> Point {
    let shared = point
        .levels()
        .filter(|(axis, level)| is_shared(axis, level));
    shared.fold(Point::new(), |part, (axis, level)| {
        part.with(axis, level.clone())
    })
}

/// Name of the axis whose levels are the compared values.
const VARIANT: &str = "variant";

/// Records experiment after experiment, and in each duel after duel.
pub struct Recording<'s> {
    recorder: Recorder<'s>,
    definition: Option<Definition>,
    /// The points of the current duel, one for each way, and the number of their batches.
    points: Vec<Point>,
    taken: Vec<u32>,
}

impl<'s> Recording<'s> {
    pub fn new(recorder: Recorder<'s>) -> Self {
        Self {
            recorder,
            definition: None,
            points: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Starts an experiment with all its duels. The title of the added axis is the key of what varies:
    /// advice recognises trials of a setting by it.
    pub fn start<'d>(
        &mut self,
        of: &Definition,
        duels: impl Iterator<Item = &'d Duel>,
        (key, values): (&str, &[String]),
    ) -> Result<()> {
        let duels: Vec<&Duel> = duels.collect();
        let mut definition = Definition {
            id: format!("ab.{}", of.id),
            ..of.clone()
        };
        let is_shared = |axis: &Axis| duels.iter().all(|it| it.shared.get(&axis.name).is_some());
        definition.axes.retain(is_shared);
        definition.axes.push(Axis::choice(VARIANT, key));
        let points: Vec<Point> = duels.iter().flat_map(|it| variants(it, values)).collect();
        let (definition, points) = (&*self.definition.insert(definition), points.as_slice());
        observe(&mut self.recorder, &Event::Started { definition, points })
    }

    /// Turns to the next duel.
    pub fn turn_to(&mut self, duel: &Duel, values: &[String]) {
        self.points = variants(duel, values).collect();
        self.taken = vec![0; self.points.len()];
    }

    /// Stores a visit of one way.
    pub fn add(&mut self, way: usize, mut batch: Batch) -> Result<()> {
        let Some(definition) = &self.definition else {
            return Ok(());
        };
        batch.pass = Some(self.taken[way]);
        take(&mut self.recorder, definition, &self.points[way], &batch)?;
        self.taken[way] += 1;
        Ok(())
    }

    /// Ends the current duel, for a reason if it could not be measured to its end.
    pub fn close(&mut self, failure: Option<&str>) -> Result<()> {
        let Some(definition) = &self.definition else {
            return Ok(());
        };
        for point in &self.points {
            close(&mut self.recorder, definition, point, failure)?;
        }
        Ok(())
    }

    /// Ends the run.
    pub fn finish(self, is_interrupted: bool) -> Result<()> {
        Ok(self.recorder.finish(is_interrupted)?)
    }
}

/// The points of a duel in the record.
fn variants(duel: &Duel, values: &[String]) -> impl Iterator<Item = Point> {
    let values = values.iter();
    values.map(|value| duel.shared.clone().with(VARIANT, value.as_str()))
}
