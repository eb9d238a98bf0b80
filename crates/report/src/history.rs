//! A metric over the stored runs of one machine: its levels, and the runs at which they changed.

use instrument::experiment::{Better, Definition, Metric};
use instrument::point::Point;
use instrument::results::Estimate;
use instrument::statistics::Interval;
use instrument::statistics::changes::{Change, changes};
use jiff::Timestamp;
use record::store::HistoryRun;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// A metric at one point over the runs of one machine.
#[derive(Clone, Debug)]
pub struct History {
    /// The experiment, as its newest run defines it.
    pub definition: Arc<Definition>,
    /// The point.
    pub point: Arc<Point>,
    /// The metric.
    pub metric: Metric,
    /// The runs with a sound value, oldest first.
    pub runs: Vec<Entry>,
    /// Changes of the level; indices refer to `runs`.
    pub changes: Vec<Change>,
    /// Number of runs left out because their value is not sound, belongs to another version of the
    /// metric, or was measured in another way: with passes or without.
    pub left_out: usize,
    /// Number of runs left out because they do not match their checksums. It is unknown
    /// whether they had a value here.
    pub damaged: usize,
}

/// The value of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    /// Its number in the store.
    pub run: u64,
    /// Start time of the run.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// The estimate, in the metric's unit.
    pub value: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
}

/// Collects histories run by run and keeps only the estimates of each run.
#[derive(Debug)]
pub struct Gathering<'n> {
    metric: Option<&'n str>,
    histories: Vec<History>,
    /// Index range of the histories of each point.
    places: HashMap<Arc<Point>, std::ops::Range<usize>>,
    is_empty: bool,
}

impl<'n> Gathering<'n> {
    /// Histories of the metric called `metric`, or of all metrics that have a better direction.
    pub fn new(metric: Option<&'n str>) -> Self {
        Self {
            metric,
            histories: Vec::new(),
            places: HashMap::new(),
            is_empty: true,
        }
    }

    /// Adds a run, newest first. The newest run sets the points and the meaning of the metrics;
    /// older runs must agree.
    pub fn add(&mut self, run: &HistoryRun) {
        if std::mem::take(&mut self.is_empty) {
            self.begin(run);
        }
        for (point, batches) in &run.points {
            let Some(place) = self.places.get(point) else {
                continue;
            };
            for history in &mut self.histories[place.clone()] {
                let Some(metric) = run.definition.metric(&history.metric.name) else {
                    continue;
                };
                match Estimate::from_batches(metric, batches) {
                    Some(estimate) if estimate.is_sound() => {
                        history.add((run.number, run.started), metric, &estimate);
                    }
                    Some(_) => history.left_out += 1,
                    None => {}
                }
            }
        }
    }

    fn begin(&mut self, newest: &HistoryRun) {
        let wanted = |candidate: &&Metric| match self.metric {
            Some(name) => candidate.name == name,
            None => candidate.better != Better::Neither,
        };
        let metrics: Vec<&Metric> = newest.definition.metrics.iter().filter(wanted).collect();
        for (point, _) in &newest.points {
            let from = self.histories.len();
            let metrics = metrics.iter();
            let histories = metrics.map(|it| History::new(&newest.definition, point, it));
            self.histories.extend(histories);
            self.places
                .insert(point.clone(), from..self.histories.len());
        }
    }

    /// The histories of all points that have any, in the measuring order of the newest run. Each
    /// reports the `damaged` runs that were left out.
    pub fn finish(self, damaged: usize) -> Vec<History> {
        let mut histories = self.histories;
        histories.retain(|history| !history.runs.is_empty());
        for history in &mut histories {
            history.runs.reverse();
            history.damaged = damaged;
            let values: Vec<f64> = history.runs.iter().map(|entry| entry.value).collect();
            history.changes = changes(&values);
        }
        histories
    }
}

impl History {
    /// A history without runs.
    pub(crate) fn new(definition: &Arc<Definition>, point: &Arc<Point>, metric: &Metric) -> Self {
        Self {
            definition: definition.clone(),
            point: point.clone(),
            metric: metric.clone(),
            runs: Vec::new(),
            changes: Vec::new(),
            left_out: 0,
            damaged: 0,
        }
    }

    /// Adds the value of a run, by its number and its start time, if its `metric` has the same meaning.
    pub(crate) fn add(
        &mut self,
        (run, started): (u64, Timestamp),
        metric: &Metric,
        estimate: &Estimate,
    ) {
        if metric.version == self.metric.version && metric.unit == self.metric.unit {
            self.runs.push(Entry {
                run,
                started,
                value: estimate.centre,
                interval: estimate.interval,
            });
        } else {
            self.left_out += 1;
        }
    }

    /// The stretches between changes, as index ranges of `runs`.
    pub fn levels(&self) -> Vec<std::ops::Range<usize>> {
        let starts = [0]
            .into_iter()
            .chain(self.changes.iter().map(|change| change.at));
        let ends = self.changes.iter().map(|change| change.at);
        let ends = ends.chain([self.runs.len()]);
        starts.zip(ends).map(|(start, end)| start..end).collect()
    }
}
