//! Matches the values that both sides have.

use super::Question;
use super::one_clock::OneClock;
use super::row::OtherPoint;
use super::sessions::Sessions;
use super::side::Side;
use crate::show;
use instrument::counterpart::Counterpart;
use instrument::experiment::{Better, Definition, Metric};
use instrument::point::Point;
use instrument::quantity::counted;
use instrument::results::{Estimate, Verdict};
use platform::environment::System;
use record::ExperimentRecord;
use std::collections::{BTreeMap, HashMap};

/// Values that both sides have but that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Refusal {
    /// The experiment.
    pub experiment: String,
    /// The metric.
    pub metric: String,
    /// The reason.
    pub reason: String,
    /// Number of affected values.
    pub values: usize,
}

/// One metric at one point on both sides.
#[derive(Clone, Debug)]
pub(super) struct Pair<'a> {
    pub definition: &'a Definition,
    pub point: &'a Point,
    pub other_point: Option<OtherPoint<'a>>,
    pub metric: &'a Metric,
    pub a: Sessions,
    pub b: Sessions,
    /// The sessions of the baseline.
    pub baseline: Sessions,
}

/// The values found on both sides.
#[derive(Debug, Default)]
pub(super) struct Matched<'a> {
    pub pairs: Vec<Pair<'a>>,
    pub refused: Vec<Refusal>,
    pub unmatched: BTreeMap<String, [usize; 2]>,
}

/// An experiment, a point and a metric.
type Key<'a> = (&'a str, &'a Point, &'a str);

/// A metric at a point on one side: the values of its sessions, or why they have none.
pub(super) struct Entry<'a> {
    definition: &'a Definition,
    point: &'a Point,
    metric: &'a Metric,
    sessions: Sessions,
    /// The operating system of its first session; `None` for published numbers.
    system: Option<System>,
    /// The reason why a session has no comparable value.
    unusable: Option<String>,
    /// The reason why the sessions of this side do not belong together.
    mixed: Option<String>,
}

/// The values of one side, in the order of its first session.
#[derive(Default)]
pub(super) struct Values<'a> {
    order: Vec<Key<'a>>,
    entries: HashMap<Key<'a>, Entry<'a>>,
    /// The operating systems of its sessions.
    systems: Vec<System>,
}

/// All values that both sides of `question` have, with the clocks of their sessions if there is one clock for all.
pub(super) fn matched<'a>(question: &Question<'a>, clock: Option<&OneClock>) -> Matched<'a> {
    let Question { a, b, baseline, .. } = *question;
    let no_clocks = [const { Vec::new() }; 3];
    let clocks = clock.map_or(&no_clocks, |clock| &clock.of_sessions);
    let mut first = Values::of(a, &clocks[0]);
    let mut second = Values::of(b, &clocks[1]);
    let mut baseline = baseline.map(|side| Values::of(side, &clocks[2]));
    let mut matched = Matched::default();
    for key in std::mem::take(&mut first.order) {
        let Some(ours) = first.entries.remove(&key) else {
            continue;
        };
        let counterpart = ours.counterpart(&second.systems);
        let wanted = match &counterpart {
            Counterpart::Like { point, .. } => second.key_at(&ours, point),
            Counterpart::Same | Counterpart::Missing(_) => Some(key),
        };
        let Some(theirs) = wanted.and_then(|key| second.entries.remove(&key)) else {
            matched.unmatched.entry(key.0.into()).or_default()[0] += 1;
            continue;
        };
        let obstacle = match counterpart {
            Counterpart::Missing(reason) => Some(format!(
                "not comparable between operating systems: {reason}"
            )),
            Counterpart::Same | Counterpart::Like { .. } => obstacle(&ours, &theirs, a, b),
        };
        if let Some(reason) = obstacle {
            Refusal::count(&mut matched.refused, key.0, key.2, reason);
            continue;
        }
        let unchanged = baseline
            .as_mut()
            .and_then(|values| values.entries.remove(&key))
            .filter(|entry| other_meaning(entry.metric, ours.metric).is_none())
            .filter(|entry| ours.unlike(entry.system).is_none());
        matched.pairs.push(Pair {
            definition: ours.definition,
            point: ours.point,
            other_point: match counterpart {
                Counterpart::Like { difference, .. } => Some(OtherPoint {
                    point: theirs.point,
                    difference,
                }),
                Counterpart::Same | Counterpart::Missing(_) => None,
            },
            metric: ours.metric,
            a: ours.sessions,
            b: theirs.sessions,
            baseline: unchanged.map_or_else(Sessions::default, |entry| entry.sessions),
        });
    }
    for (experiment, ..) in second.entries.keys() {
        matched.unmatched.entry((*experiment).into()).or_default()[1] += 1;
    }
    matched
}

impl Pair<'_> {
    /// The pair without sessions in a bad mode. With a clock, the values are first brought to it: by the growth with
    /// the duration of a cycle that the sessions show, or else by the slope next to the clock.
    pub fn prepared(mut self, clock: Option<(&OneClock, f64)>) -> Self {
        if let Some((clock, unknown_slope)) = clock {
            let sides = [&mut self.a, &mut self.b, &mut self.baseline];
            clock.bring(sides, self.metric, unknown_slope);
        }
        self.a = self.a.without_bad_session();
        self.b = self.b.without_bad_session();
        self
    }
}

impl Refusal {
    /// The sentence for readers.
    pub(crate) fn text(&self) -> String {
        let values = counted(self.values, "value");
        format!(
            "{} {} ({values}): {}",
            self.experiment, self.metric, self.reason
        )
    }

    /// Counts one more value in `refused`.
    pub(crate) fn count(refused: &mut Vec<Self>, experiment: &str, metric: &str, reason: String) {
        let known = refused.iter_mut().find(|refusal| {
            refusal.experiment == experiment && refusal.metric == metric && refusal.reason == reason
        });
        match known {
            Some(refusal) => refusal.values += 1,
            None => refused.push(Self {
                experiment: experiment.into(),
                metric: metric.into(),
                reason,
                values: 1,
            }),
        }
    }
}

/// The reason why two entries cannot be compared, if any.
fn obstacle(ours: &Entry<'_>, theirs: &Entry<'_>, a: &Side, b: &Side) -> Option<String> {
    ours.mixed_in(a)
        .or_else(|| theirs.mixed_in(b))
        .or_else(|| other_meaning(ours.metric, theirs.metric))
        .or_else(|| ours.missing_in(a))
        .or_else(|| theirs.missing_in(b))
}

/// The reason why no value by `metric` of this version can be compared with `entry` of the side
/// `before`, if any.
pub(super) fn obstacle_before(entry: &Entry<'_>, before: &Side, metric: &Metric) -> Option<String> {
    entry
        .mixed_in(before)
        .or_else(|| other_meaning(entry.metric, metric))
        .or_else(|| entry.missing_in(before))
}

impl Entry<'_> {
    pub(super) fn metric(&self) -> &Metric {
        self.metric
    }

    /// The value with which it may be compared on a side that was measured on `systems`.
    fn counterpart(&self, systems: &[System]) -> Counterpart {
        let foreign = |own| systems.iter().find(|other| **other != own);
        match self.system.and_then(foreign) {
            Some(other) => {
                let id = &self.definition.id;
                experiments::counterpart(id, self.point, &self.metric.name, *other)
            }
            None => Counterpart::Same,
        }
    }

    /// The reason why a session of the same name on `system` measured something else, if any.
    fn unlike(&self, system: Option<System>) -> Option<String> {
        let (own, other) = (self.system?, system?);
        let is_same = self.counterpart(&[other]) == Counterpart::Same;
        (!is_same).then(|| format!("one was measured on {own}, another on {other}"))
    }

    /// The reason why the sessions of its side do not belong together, if any.
    fn mixed_in(&self, side: &Side) -> Option<String> {
        let mixed = self.mixed.as_ref();
        mixed.map(|reason| format!("the sessions of {} differ: {reason}", side.label))
    }

    /// The reason why its side has no value to compare, if any.
    fn missing_in(&self, side: &Side) -> Option<String> {
        let reason = self.unusable.as_ref()?;
        let empty = self.sessions.merits.is_empty();
        empty.then(|| format!("in {} it is {reason}", side.label))
    }
}

/// The reason why two metrics of the same name differ in meaning; `None` if they do not.
fn other_meaning(ours: &Metric, theirs: &Metric) -> Option<String> {
    if ours.version != theirs.version {
        return Some(format!(
            "version {} of the metric on one side, version {} on the other",
            ours.version, theirs.version
        ));
    }
    (ours.unit != theirs.unit || ours.better != theirs.better)
        .then(|| "its unit or its direction is not the same on both sides".into())
}

impl<'a> Values<'a> {
    /// Each value, with the experiment that it belongs to.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (&'a str, &Entry<'a>)> {
        let keys = self.order.iter();
        keys.filter_map(|key| Some((key.0, self.entries.get(key)?)))
    }

    /// The values of `side`, whose sessions ran at `clocks_hz`, if they are known.
    pub(super) fn of(side: &'a Side, clocks_hz: &[f64]) -> Self {
        let mut values = Self::default();
        for (index, run) in side.runs.iter().enumerate() {
            let at_hz = clocks_hz.get(index).copied();
            // Published numbers have the names of this program, whatever system they are from.
            let system = run.environment.system();
            let system = system.filter(|_| !run.header.is_reported());
            let new = system.filter(|system| !values.systems.contains(system));
            values.systems.extend(new);
            for record in run.measured() {
                let definition = &record.definition;
                each_value(record, |point, metric, estimate, is_doubtful| {
                    let key = (definition.id.as_str(), point, metric.name.as_str());
                    let entry = values.entries.entry(key).or_insert_with(|| {
                        values.order.push(key);
                        Entry {
                            definition,
                            point,
                            metric,
                            sessions: Sessions::default(),
                            system,
                            unusable: None,
                            mixed: None,
                        }
                    });
                    let differs = other_meaning(entry.metric, metric);
                    if let Some(reason) = differs.or_else(|| entry.unlike(system)) {
                        entry.mixed.get_or_insert(reason);
                    }
                    match usable(estimate) {
                        Err(reason) => entry.unusable = Some(reason),
                        Ok(()) => entry.sessions.add(metric, estimate, is_doubtful, at_hz),
                    }
                });
            }
        }
        values
    }

    /// The name here of the value of `entry` at another point.
    fn key_at(&self, entry: &Entry<'_>, wanted: &Point) -> Option<Key<'a>> {
        let mut keys = self.entries.keys();
        let is_it = |(id, point, metric): &&Key<'a>| {
            *id == entry.definition.id && *point == wanted && *metric == entry.metric.name
        };
        keys.find(is_it).copied()
    }
}

/// Calls `take` with each estimate of an experiment, but for facts that are neither good nor bad: its point, its
/// metric, the estimate, and true if a warning concerns it.
pub(crate) fn each_value<'r>(
    record: &'r ExperimentRecord,
    mut take: impl FnMut(&'r Point, &'r Metric, &Estimate, bool),
) {
    let definition = &record.definition;
    let points = record.points.iter();
    for point in points.filter(|point| !point.batches.is_empty()) {
        let result = point.result(definition);
        let metrics = definition.metrics.iter();
        for metric in metrics.filter(|metric| metric.better != Better::Neither) {
            if let Some(estimate) = result.estimate(&metric.name) {
                let is_doubtful = result.is_doubtful(&metric.name);
                take(&point.point, metric, estimate, is_doubtful);
            }
        }
    }
}

/// Checks that an estimate can be part of a ratio; the error is the reason why not.
pub(crate) fn usable(estimate: &Estimate) -> Result<(), String> {
    match &estimate.verdict {
        verdict @ (Verdict::TooFew | Verdict::BelowResolution) => {
            Err(show::verdict(verdict).text.into())
        }
        verdict @ Verdict::Broken(reason) => {
            Err(format!("{} ({reason})", show::verdict(verdict).text))
        }
        Verdict::Sound if estimate.centre > 0.0 => Ok(()),
        Verdict::Sound => Err("zero or less, which has no ratio".into()),
    }
}
