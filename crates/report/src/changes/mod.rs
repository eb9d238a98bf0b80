//! The changes in all metrics over the stored runs of one machine: false alarms are controlled, changes at
//! the same runs are one, and each change has the other facts that changed there.

#[cfg(test)]
mod tests;

use crate::comparison::{
    Circumstance, FALSE_DISCOVERY_RATE, MARGIN, changed, differences, facts_of, longer_by_clock,
    reasons, towards_better, united,
};
use crate::history::History;
use crate::lists::by_key;
use crate::{Analysis, Surroundings};
use instrument::experiment::{Better, Definition};
use instrument::point::{Level, Point};
use instrument::statistics::Interval;
use instrument::statistics::changes::{Departure, LEAST, Shape, departures};
use instrument::statistics::discovery::adjusted;
use instrument::statistics::summary::median;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, HashMap};
use std::iter;
use std::sync::Arc;

/// The changes in all metrics over the runs of one machine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Changes {
    /// The machine, by its fingerprint.
    pub machine: String,
    /// The numbers of the runs, oldest first.
    pub runs: Vec<u64>,
    /// Values with enough runs, which were searched together.
    pub searched: usize,
    /// Values with too few runs.
    pub too_short: usize,
    /// The changes, the newest first.
    #[serde(rename = "changes")]
    pub events: Vec<Event>,
}

/// A run, as far as a change needs it.
#[derive(Clone, Debug)]
struct Session {
    /// Its number in the store.
    number: u64,
    started: Timestamp,
    /// The environment and the machine, by path.
    facts: BTreeMap<String, String>,
    surroundings: Surroundings,
}

/// Values that changed at the same runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Event {
    /// The shape of the change.
    pub kind: Kind,
    /// The first run that may be the first of the new level; of a drift, its first run.
    pub earliest_run: u64,
    /// The last run that may be the first of the new level; of a drift, its last run.
    pub latest_run: u64,
    /// The start time of that run.
    #[serde(skip)]
    pub since: Timestamp,
    /// The values that changed, by experiment and metric, the largest change first.
    pub moved: Vec<Moved>,
    /// The facts that were different before and after.
    pub circumstances: Vec<Circumstance>,
    /// The cause of the change.
    pub cause: Cause,
    /// The differences in conditions, if they are the cause.
    pub conditions: Vec<String>,
}

/// The cause of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The runs before and after had such different conditions that no change of the system can be seen.
    Conditions,
    /// The processor ran at another clock, which explains each of the values.
    Clock,
    /// Neither of these: the system, the machine or what the circumstances name.
    System,
}

/// The shape of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// From one level to another.
    Step,
    /// Steadily from the first run to the last.
    Drift,
}

/// A definition by its id.
fn by_id<S: Serializer>(definition: &Definition, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&definition.id)
}

/// A point as a map from axis to level.
fn by_axis<S: Serializer>(point: &Point, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(point.levels())
}

/// The values of a metric that changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Moved {
    /// The experiment.
    #[serde(rename = "experiment", serialize_with = "by_id")]
    #[schemars(with = "String")]
    pub definition: Arc<Definition>,
    /// The metric's name.
    pub metric: String,
    /// The direction in which it is better.
    #[serde(skip)]
    better: Better,
    /// The values of the metric that were searched.
    pub searched: usize,
    /// The median of the ratios of the values that changed: new over old.
    pub ratio: f64,
    /// True if the values changed for the worse, by their median.
    pub worse: bool,
    /// The values that changed.
    pub values: Vec<MovedValue>,
}

/// A value that changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MovedValue {
    /// The point: axis to level, in bytes, a count, or a choice.
    #[serde(rename = "levels", serialize_with = "by_axis")]
    #[schemars(with = "BTreeMap<String, Level>")]
    pub point: Arc<Point>,
    /// New value over the old one.
    pub ratio: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all values that were searched.
    pub adjusted_p: f64,
}

/// Collects the values of a machine's runs.
#[derive(Debug, Default)]
pub struct Gathering {
    machine: String,
    sessions: Vec<Session>,
    /// The values of each metric at each point, the newest first.
    histories: Vec<History>,
    places: HashMap<(String, Point, String), usize>,
}

impl Gathering {
    /// Nothing yet of the machine with this fingerprint.
    pub fn new(machine: &str) -> Self {
        Self {
            machine: machine.to_owned(),
            ..Self::default()
        }
    }

    /// Adds the run with this number, newest first. The newest run with a value sets its meaning; older
    /// runs must agree.
    pub fn add(&mut self, number: u64, analysis: &Analysis<'_>) {
        let started = analysis.run.header.started;
        self.sessions.push(Session {
            number,
            started,
            facts: facts_of(analysis.run),
            surroundings: analysis.surroundings.clone(),
        });
        for experiment in &analysis.experiments {
            let definition = Arc::new(experiment.definition.clone());
            for (point, metric, estimate) in experiment.sound() {
                if metric.better == Better::Neither {
                    continue;
                }
                let key = (definition.id.clone(), point.clone(), metric.name.clone());
                let place = *self.places.entry(key).or_insert_with(|| {
                    let point = Arc::new(point.clone());
                    self.histories
                        .push(History::new(&definition, &point, metric));
                    self.histories.len() - 1
                });
                self.histories[place].add((number, started), metric, estimate);
            }
        }
    }

    /// The changes in all that was added.
    pub fn finish(mut self) -> Changes {
        self.sessions.reverse();
        for history in &mut self.histories {
            history.runs.reverse();
        }
        let (long, short): (Vec<History>, Vec<History>) =
            (self.histories.into_iter()).partition(|history| history.runs.len() >= LEAST);
        let found = found(&long, &self.sessions);
        Changes {
            machine: self.machine,
            searched: long.len(),
            too_short: short.len(),
            events: events(found, &long, &self.sessions),
            runs: self.sessions.iter().map(|session| session.number).collect(),
        }
    }
}

/// A change that holds among all that were searched.
struct Found {
    /// Index of its history.
    history: usize,
    departure: Departure,
    adjusted_p: f64,
    /// The sessions between which it lies: the first and the last that may be the first of a new level.
    between: (usize, usize),
    /// The most likely of them.
    at: usize,
}

/// The changes whose false discovery rate is controlled over all `histories`.
fn found(histories: &[History], sessions: &[Session]) -> Vec<Found> {
    let session_of: HashMap<u64, usize> = sessions
        .iter()
        .enumerate()
        .map(|(index, session)| (session.number, index))
        .collect();
    let (mut found, mut unchanged) = (Vec::new(), 0);
    for (index, history) in histories.iter().enumerate() {
        let values: Vec<f64> = history.runs.iter().map(|entry| entry.value).collect();
        let at = |entry: usize| session_of[&history.runs[entry].run];
        let departures = departures(&values, MARGIN.ln_1p());
        unchanged += usize::from(departures.is_empty());
        found.extend(departures.into_iter().map(|departure| {
            let (between, likely) = match departure.shape {
                Shape::Step(change) => {
                    let earliest = at(change.between.0 - 1) + 1;
                    ((earliest, at(change.between.1)), at(change.at))
                }
                Shape::Drift(_) => ((at(0), at(values.len() - 1)), at(0)),
            };
            Found {
                history: index,
                adjusted_p: departure.p_value,
                departure,
                between,
                at: likely,
            }
        }));
    }
    // A series without a change was searched as well.
    let p_values = found.iter().map(|found| found.adjusted_p);
    let p_values = p_values.chain(iter::repeat_n(1.0, unchanged));
    let adjusted = adjusted(&p_values.collect::<Vec<f64>>());
    for (found, adjusted_p) in found.iter_mut().zip(adjusted) {
        found.adjusted_p = adjusted_p;
    }
    found.retain(|found| found.adjusted_p <= FALSE_DISCOVERY_RATE);
    found
}

/// The changes, those of one cause together, the newest first.
fn events<'s>(found: Vec<Found>, histories: &[History], sessions: &'s [Session]) -> Vec<Event> {
    let (drifts, steps): (Vec<Found>, Vec<Found>) = found
        .into_iter()
        .partition(|found| matches!(found.departure.shape, Shape::Drift(_)));
    let mut groups = together(steps);
    groups.sort_by_key(|group| group.between);
    let mut events: Vec<Event> = Vec::new();
    for (place, group) in groups.iter().enumerate() {
        let from = match place {
            0 => 0,
            later => groups[later - 1].between.1,
        };
        let to = groups
            .get(place + 1)
            .map_or(sessions.len(), |next| next.between.0);
        let (earliest, latest) = group.between;
        let before = &sessions[from.min(earliest.saturating_sub(1))..earliest];
        let after = &sessions[latest..to.max(latest + 1)];
        let moved = moved(&group.found, histories);
        let around = [before, after].map(|sessions| -> Vec<Surroundings> {
            let around = sessions.iter().map(|session| session.surroundings.clone());
            around.collect()
        });
        let (cause, conditions) = cause(&moved, &around);
        let facts = |sessions: &'s [Session]| united(sessions.iter().map(|session| &session.facts));
        let mut circumstances = changed(&facts(before), &facts(after));
        circumstances.extend(differences(&around[0], &around[1]));
        events.push(Event {
            kind: Kind::Step,
            earliest_run: sessions[earliest].number,
            latest_run: sessions[latest].number,
            since: sessions[latest].started,
            moved,
            circumstances,
            cause,
            conditions,
        });
    }
    events.reverse();
    if !drifts.is_empty() {
        let first = drifts.iter().map(|found| found.between.0).min();
        let last = drifts.iter().map(|found| found.between.1).max();
        let [first, last] = [first, last].map(|index| &sessions[index.unwrap_or(0)]);
        events.push(Event {
            kind: Kind::Drift,
            earliest_run: first.number,
            latest_run: last.number,
            since: last.started,
            moved: moved(&drifts, histories),
            circumstances: Vec::new(),
            cause: Cause::System,
            conditions: Vec::new(),
        });
    }
    events
}

/// Steps of one cause: their ranges have a session in common.
struct Group {
    between: (usize, usize),
    found: Vec<Found>,
}

/// Groups the steps so that the ranges of each group have a session in common, with as few groups as
/// possible; a step that fits several goes to the nearest.
fn together(mut steps: Vec<Found>) -> Vec<Group> {
    steps.sort_by_key(|step| step.between.1);
    let mut common: Vec<usize> = Vec::new();
    for step in &steps {
        let is_covered = common.last().is_some_and(|last| step.between.0 <= *last);
        if !is_covered {
            common.push(step.between.1);
        }
    }
    let placed = steps.into_iter().map(|step| {
        let fits = |session: &usize| (step.between.0..=step.between.1).contains(session);
        let fitting = common.iter().enumerate().filter(|(_, at)| fits(at));
        let nearest = fitting.min_by_key(|(_, at)| at.abs_diff(step.at));
        let (place, _) = nearest.expect("each step has a session in common");
        (place, step)
    });
    let groups = by_key(placed).into_iter().map(|(_, found)| {
        let ranges = || found.iter().map(|step| step.between);
        let earliest = ranges().map(|(earliest, _)| earliest).max();
        let latest = ranges().map(|(_, latest)| latest).min();
        let between = (earliest.unwrap_or(0), latest.unwrap_or(0));
        Group { between, found }
    });
    groups.collect()
}

/// The values of `found` by experiment and metric, the largest change first.
fn moved<'h>(found: &[Found], histories: &'h [History]) -> Vec<Moved> {
    let name =
        |history: &'h History| (history.definition.id.as_str(), history.metric.name.as_str());
    let groups = by_key((found.iter()).map(|found| (name(&histories[found.history]), found)));
    let moved = groups.into_iter().map(|(of_metric, found)| {
        let History {
            definition, metric, ..
        } = &histories[found[0].history];
        let values = found.iter().map(|found| {
            let ratio = found.departure.ratio();
            MovedValue {
                point: histories[found.history].point.clone(),
                ratio: ratio.centre,
                interval: ratio.interval,
                adjusted_p: found.adjusted_p,
            }
        });
        let values: Vec<MovedValue> = values.collect();
        let ratios: Vec<f64> = values.iter().map(|value| value.ratio).collect();
        let ratio = median(&ratios).unwrap_or(1.0);
        let searched = histories.iter().filter(|it| name(it) == of_metric);
        Moved {
            definition: definition.clone(),
            metric: metric.name.clone(),
            better: metric.better,
            searched: searched.count(),
            ratio,
            worse: towards_better(metric.better) * ratio.ln() < 0.0,
            values,
        }
    });
    let mut moved: Vec<Moved> = moved.collect();
    moved.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    moved
}

/// The cause of a change of these values between runs under the conditions `around` them.
fn cause(moved: &[Moved], around: &[Vec<Surroundings>; 2]) -> (Cause, Vec<String>) {
    let [before, after] = around;
    let conditions = reasons(before, after, ["before the change", "since the change"]);
    if !conditions.is_empty() {
        return (Cause::Conditions, conditions);
    }
    let is_by_clock = |longer: f64| moved.iter().all(|it| it.is_explained_by(longer));
    match longer_by_clock(before, after) {
        Some(longer) if is_by_clock(longer) => (Cause::Clock, conditions),
        _ => (Cause::System, conditions),
    }
}

impl Moved {
    /// True if all values changed by no more than work of the core, which takes `longer` times as long.
    fn is_explained_by(&self, longer: f64) -> bool {
        let all = longer.ln();
        let (low, high) = (all.min(0.0) - MARGIN.ln_1p(), all.max(0.0) + MARGIN.ln_1p());
        self.values.iter().all(|value| {
            let cost = -towards_better(self.better) * value.ratio.ln();
            (low..=high).contains(&cost)
        })
    }
}
