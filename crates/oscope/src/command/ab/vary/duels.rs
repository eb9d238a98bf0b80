//! The compared ways of measuring, at each point one for each value of the setting, and their visits as a
//! stored run: each experiment with one more axis, `variant`.

use crate::arguments::Varied;
use crate::command::ab::recording::{close, observe, take};
use crate::exit::WrongUse;
use anyhow::Result;
use instrument::definition::Definition;
use instrument::plan::Plan;
use instrument::point::{Axis, Level, Point};
use instrument::quantity::Bytes;
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
/// [`WrongUse`] for an axis or a level that no experiment has, and if no point is left.
pub fn duels(
    plans: &[Plan<'_>],
    varied: &Varied,
    values: &[String],
    at: &[(String, String)],
) -> Result<Vec<Duel>, WrongUse> {
    let mut duels = Vec::new();
    for (experiment, planned) in plans[0].experiments.iter().enumerate() {
        let Ok(points) = &planned.points else {
            continue;
        };
        let axes = &planned.definition.axes;
        let is_chosen =
            |point: &&Point| at.iter().all(|(name, text)| is_at(axes, point, name, text));
        let is_everywhere = |point: &&Point| {
            plans.iter().all(|plan| {
                let there = plan.experiments.get(experiment);
                there.is_some_and(|it| it.points.as_ref().is_ok_and(|all| all.contains(point)))
            })
        };
        let chosen: Vec<&Point> = points
            .iter()
            .filter(is_chosen)
            .filter(is_everywhere)
            .collect();
        match varied {
            Varied::Axis(name) => {
                duels.extend(along(experiment, axes, &chosen, name, values));
            }
            Varied::Trial(_, points) => duels.push(Duel {
                experiment,
                shared: common(points),
                points: points.to_vec(),
            }),
            _ => duels.extend(chosen.into_iter().map(|point| Duel {
                experiment,
                shared: point.clone(),
                points: vec![point.clone(); values.len()],
            })),
        }
    }
    if duels.is_empty() {
        return Err(nothing(&plans[0], varied, values, at));
    }
    Ok(duels)
}

/// The points that differ in the axis `name` only and have all of `values` there.
fn along(
    experiment: usize,
    axes: &[Axis],
    points: &[&Point],
    name: &str,
    values: &[String],
) -> Vec<Duel> {
    let mut duels: Vec<Duel> = Vec::new();
    for point in points {
        if !is_at(axes, point, name, &values[0]) {
            continue;
        }
        let shared = without(point, name);
        let at_value = |value: &String| {
            let mut fitting = points.iter();
            let found = fitting
                .find(|other| without(other, name) == shared && is_at(axes, other, name, value));
            found.map(|found| (*found).clone())
        };
        let found: Option<Vec<Point>> = values.iter().map(at_value).collect();
        duels.extend(found.map(|points| Duel {
            experiment,
            shared,
            points,
        }));
    }
    duels
}

/// The levels that both points have.
fn common([one, other]: &[Point; 2]) -> Point {
    let shared = one
        .levels()
        .filter(|(axis, level)| other.get(axis) == Some(*level));
    shared.fold(Point::new(), |point, (axis, level)| {
        point.with(axis, level.clone())
    })
}

fn without(point: &Point, axis: &str) -> Point {
    let others = point.levels().filter(|(name, _)| *name != axis);
    others.fold(Point::new(), |shared, (name, level)| {
        shared.with(name, level.clone())
    })
}

/// True if `point` has the level that `text` names on the axis `name`: as it is stored, or as readers see
/// it, with or without blanks.
fn is_at(axes: &[Axis], point: &Point, name: &str, text: &str) -> bool {
    let Some(level) = point.get(name) else {
        return false;
    };
    let shown = axes
        .iter()
        .find(|it| it.name == name)
        .map(|it| it.show(level));
    let is_shown = shown.is_some_and(|shown| shown == text || shown.replace(' ', "") == text);
    let is_size = match level {
        Level::Number(number) => text.parse().is_ok_and(|Bytes(size)| size == *number),
        Level::Choice(_) => false,
    };
    level.to_string() == text || is_shown || is_size
}

/// The reason why no point is left.
fn nothing(
    plan: &Plan<'_>,
    varied: &Varied,
    values: &[String],
    at: &[(String, String)],
) -> WrongUse {
    let mut wanted: Vec<(&str, &str)> = Vec::new();
    if let Varied::Axis(axis) = varied {
        wanted.extend(values.iter().map(|value| (axis.as_str(), value.as_str())));
    }
    wanted.extend(
        at.iter()
            .map(|(axis, level)| (axis.as_str(), level.as_str())),
    );
    let points = || {
        let experiments = plan.experiments.iter();
        experiments.flat_map(|it| {
            let points = it.points.iter().flatten();
            points.map(|point| (it.definition.axes.as_slice(), point))
        })
    };
    if points().next().is_none() {
        let reasons = plan
            .experiments
            .iter()
            .filter_map(|it| it.points.as_ref().err());
        let reasons: Vec<&str> = reasons.map(String::as_str).collect();
        return WrongUse(format!(
            "nothing can be measured here: {}",
            reasons.join("; ")
        ));
    }
    for (axis, level) in wanted {
        if points().all(|(_, point)| point.get(axis).is_none()) {
            let mut known: Vec<&str> = points()
                .flat_map(|(_, point)| point.levels().map(|(name, _)| name))
                .collect();
            known.sort_unstable();
            known.dedup();
            return WrongUse(format!(
                "there is no axis '{axis}'; the axes are {}",
                known.join(", ")
            ));
        }
        if !points().any(|(axes, point)| is_at(axes, point, axis, level)) {
            let mut known: Vec<(&Level, &[Axis])> = points()
                .filter_map(|(axes, point)| Some((point.get(axis)?, axes)))
                .collect();
            known.sort_by_key(|(level, _)| *level);
            known.dedup_by_key(|(level, _)| *level);
            let shown = |(level, axes): (&Level, &[Axis])| {
                let found = axes.iter().find(|it| it.name == axis);
                found.map_or(level.to_string(), |axis| axis.show(level))
            };
            let known: Vec<String> = known.into_iter().map(shown).collect();
            return WrongUse(format!(
                "'{axis}' has no level '{level}' here: there are {}",
                known.join(", ")
            ));
        }
    }
    WrongUse("no points differ only in that: name fewer levels with `--at`, or others".into())
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
