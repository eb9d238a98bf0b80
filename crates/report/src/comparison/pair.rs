//! Matches the values that both sides have.

use super::row::merit;
use super::side::Side;
use instrument::experiment::{Better, Definition, Metric};
use instrument::point::Point;
use instrument::results::{Estimate, PointResult};
use instrument::statistics::moderation::Variance;
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

/// One metric at one point, measured on both sides.
#[derive(Debug)]
pub(super) struct Pair<'a> {
    pub definition: &'a Definition,
    pub point: &'a Point,
    pub metric: &'a Metric,
    pub a: Measured,
    pub b: Measured,
    /// The sessions of the baseline.
    pub baseline: Measured,
}

/// The measurements of one side.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// In the metric's unit.
    pub values: Vec<f64>,
    /// Per session, the logarithm of the value, signed so that more is better.
    pub sessions: Vec<f64>,
    /// The same per process, if there is only one session.
    pub processes: Vec<f64>,
    /// Variance of each session's value as estimated from that session alone. Fewer than sessions
    /// if some consist of a single process, which says nothing about differences between processes.
    pub errors: Vec<Variance>,
    pub doubtful: bool,
}

/// The values found on both sides.
#[derive(Debug)]
pub(super) struct Matched<'a> {
    pub pairs: Vec<Pair<'a>>,
    pub refused: Vec<Refusal>,
    pub unmatched: BTreeMap<String, [usize; 2]>,
}

type Key<'a> = (&'a str, &'a Point, &'a str);

/// The sound and unsound values of one side under one name.
struct Entry<'a> {
    definition: &'a Definition,
    point: &'a Point,
    metric: &'a Metric,
    measured: Measured,
    /// The reason why a session has no comparable value.
    unusable: Option<String>,
    /// The reason why the sessions of this side do not belong together.
    mixed: Option<String>,
}

/// The values of one side, in the order of its first session.
struct Values<'a> {
    order: Vec<Key<'a>>,
    entries: HashMap<Key<'a>, Entry<'a>>,
}

/// All values that both `a` and `b` have.
pub(super) fn matched<'a>(a: &'a Side, b: &'a Side, baseline: Option<&'a Side>) -> Matched<'a> {
    let mut first = Values::of(a);
    let mut second = Values::of(b);
    let mut background = baseline.map(Values::of);
    let mut matched = Matched {
        pairs: Vec::new(),
        refused: Vec::new(),
        unmatched: BTreeMap::new(),
    };
    for key in std::mem::take(&mut first.order) {
        let Some(ours) = first.entries.remove(&key) else {
            continue;
        };
        let Some(theirs) = second.entries.remove(&key) else {
            matched.unmatched.entry(key.0.into()).or_default()[0] += 1;
            continue;
        };
        if let Some(reason) = obstacle(&ours, &theirs, a, b) {
            matched.refuse(key, reason);
            continue;
        }
        let behind = background
            .as_mut()
            .and_then(|values| values.entries.remove(&key))
            .filter(|entry| same_meaning(entry.metric, ours.metric).is_none());
        matched.pairs.push(Pair {
            definition: ours.definition,
            point: ours.point,
            metric: ours.metric,
            a: ours.measured,
            b: theirs.measured,
            baseline: behind.map_or_else(Measured::default, |entry| entry.measured),
        });
    }
    for (experiment, ..) in second.entries.keys() {
        matched.unmatched.entry((*experiment).into()).or_default()[1] += 1;
    }
    matched
}

impl Matched<'_> {
    fn refuse(&mut self, (experiment, _, metric): Key<'_>, reason: String) {
        let known = self.refused.iter_mut().find(|refusal| {
            refusal.experiment == experiment && refusal.metric == metric && refusal.reason == reason
        });
        match known {
            Some(refusal) => refusal.values += 1,
            None => self.refused.push(Refusal {
                experiment: experiment.into(),
                metric: metric.into(),
                reason,
                values: 1,
            }),
        }
    }

    /// The reason why nothing remains to compare.
    pub fn why_empty(&self, a: &Side, b: &Side) -> String {
        if let Some(refusal) = self.refused.first() {
            return format!(
                "{} {}: {}",
                refusal.experiment, refusal.metric, refusal.reason
            );
        }
        let (ours, theirs) = (measured(a), measured(b));
        let both: Vec<&str> = ours
            .iter()
            .copied()
            .filter(|id| theirs.contains(id))
            .collect();
        if both.is_empty() {
            format!(
                "one measured {}, the other {}",
                named(&ours),
                named(&theirs)
            )
        } else {
            format!("both measured {}, at other points", named(&both))
        }
    }
}

/// The experiments with samples on a side, in its order.
fn measured(side: &Side) -> Vec<&str> {
    let mut ids = Vec::new();
    for record in side.runs.iter().flat_map(|run| &run.experiments) {
        let has_samples = record.points.iter().any(|point| !point.batches.is_empty());
        let id = record.definition.id.as_str();
        if has_samples && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// The experiments by name; a count for the names that do not fit.
fn named(ids: &[&str]) -> String {
    const MOST: usize = 4;
    match ids.len() {
        0 => "nothing".to_owned(),
        count if count > MOST => format!("{} and {} more", ids[..MOST].join(", "), count - MOST),
        _ => ids.join(", "),
    }
}

/// The reason why two entries cannot be compared, if any.
fn obstacle(ours: &Entry<'_>, theirs: &Entry<'_>, a: &Side, b: &Side) -> Option<String> {
    let of_side = |entry: &Entry<'_>, side: &Side| {
        let mixed = entry.mixed.as_ref();
        mixed.map(|reason| format!("the sessions of {} differ: {reason}", side.label))
    };
    let missing = |entry: &Entry<'_>, side: &Side| {
        let reason = entry.unusable.as_ref()?;
        let empty = entry.measured.sessions.is_empty();
        empty.then(|| format!("in {} it is {reason}", side.label))
    };
    of_side(ours, a)
        .or_else(|| of_side(theirs, b))
        .or_else(|| same_meaning(ours.metric, theirs.metric))
        .or_else(|| missing(ours, a))
        .or_else(|| missing(theirs, b))
}

/// The reason why two metrics of the same name differ in meaning; `None` if they do not.
fn same_meaning(ours: &Metric, theirs: &Metric) -> Option<String> {
    if ours.version != theirs.version {
        return Some(format!(
            "version {} of the metric on one side, version {} on the other",
            ours.version, theirs.version
        ));
    }
    (ours.unit != theirs.unit || ours.better != theirs.better)
        .then(|| "its unit or its direction is not the same on both sides".into())
}

impl Measured {
    /// True if some session cannot estimate the variance of its value.
    pub fn is_thin(&self) -> bool {
        self.errors.len() < self.sessions.len()
    }
}

impl<'a> Values<'a> {
    fn of(side: &'a Side) -> Self {
        let mut values = Self {
            order: Vec::new(),
            entries: HashMap::new(),
        };
        let is_single = side.runs.len() == 1;
        for run in &side.runs {
            for record in &run.experiments {
                let definition = &record.definition;
                for point in &record.points {
                    if !point.batches.is_empty() {
                        let result = point.result(definition);
                        values.take(definition, &point.point, &result, is_single);
                    }
                }
            }
        }
        values
    }

    fn take(
        &mut self,
        definition: &'a Definition,
        point: &'a Point,
        result: &PointResult,
        is_single: bool,
    ) {
        for metric in &definition.metrics {
            let Some(estimate) = result.estimate(&metric.name) else {
                continue;
            };
            if metric.better == Better::Neither {
                continue;
            }
            let key = (definition.id.as_str(), point, metric.name.as_str());
            let order = &mut self.order;
            let entry = self.entries.entry(key).or_insert_with(|| {
                order.push(key);
                Entry {
                    definition,
                    point,
                    metric,
                    measured: Measured::default(),
                    unusable: None,
                    mixed: None,
                }
            });
            if let Some(reason) = same_meaning(entry.metric, metric) {
                entry.mixed.get_or_insert(reason);
            }
            if let Err(reason) = usable(estimate) {
                entry.unusable = Some(reason);
                continue;
            }
            let measured = &mut entry.measured;
            measured.values.push(estimate.centre);
            measured.sessions.push(merit(metric, estimate.centre));
            measured.doubtful |= result.is_doubtful(&metric.name);
            measured.errors.extend(estimate.error());
            if is_single {
                let processes = estimate.by_process.iter();
                measured.processes = processes.map(|value| merit(metric, *value)).collect();
            }
        }
    }
}

/// Checks that an estimate can be part of a ratio; the error is the reason why not.
fn usable(estimate: &Estimate) -> Result<(), String> {
    use instrument::results::Verdict;
    match &estimate.verdict {
        Verdict::BelowResolution => Err("below resolution".into()),
        Verdict::Broken(reason) => Err(format!("broken ({reason})")),
        Verdict::Sound if estimate.centre > 0.0 => Ok(()),
        Verdict::Sound => Err("zero or less, which has no ratio".into()),
    }
}
