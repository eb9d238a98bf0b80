//! A metric over the stored runs of one machine: its levels, and where they changed.

use instrument::experiment::{Better, Definition, Metric};
use instrument::point::Point;
use instrument::results::Estimate;
use instrument::sample::Batch;
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
    /// The runs that have a sound value of it, the oldest first.
    pub runs: Vec<Entry>,
    /// Where the level changed; indices are those of `runs`.
    pub changes: Vec<Change>,
    /// Runs whose value is left out: of another version of the metric, or not sound.
    pub left_out: usize,
    /// Runs that are left out since they do not agree with their checksums. Which of them had a value
    /// here cannot be told.
    pub damaged: usize,
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    /// Its number in the store.
    pub run: u64,
    /// When it started.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// The estimate, in the metric's unit.
    pub value: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
}

/// Histories while they are gathered, run by run, so that of each only its estimates are kept.
#[derive(Debug)]
pub struct Gathering<'n> {
    metric: Option<&'n str>,
    histories: Vec<History>,
    /// Where the histories of a point begin, and how many there are.
    places: HashMap<Arc<Point>, std::ops::Range<usize>>,
    is_empty: bool,
}

impl<'n> Gathering<'n> {
    /// Of the metric called `metric`, or of every metric of which one way is better.
    pub fn new(metric: Option<&'n str>) -> Self {
        Self {
            metric,
            histories: Vec::new(),
            places: HashMap::new(),
            is_empty: true,
        }
    }

    /// Adds a run. The first is the newest: at its points the histories are, and its metrics are what
    /// others must mean, too. Then come the others, back in time.
    pub fn add(&mut self, run: &HistoryRun) {
        if std::mem::take(&mut self.is_empty) {
            self.begin(run);
        }
        for (point, batches) in &run.points {
            let Some(place) = self.places.get(point) else {
                continue;
            };
            for history in &mut self.histories[place.clone()] {
                history.add(run, batches);
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
            self.histories.extend(metrics.iter().map(|metric| History {
                definition: newest.definition.clone(),
                point: point.clone(),
                metric: (*metric).clone(),
                runs: Vec::new(),
                changes: Vec::new(),
                left_out: 0,
                damaged: 0,
            }));
            self.places
                .insert(point.clone(), from..self.histories.len());
        }
    }

    /// The histories of all points that have any, in the order in which the newest run measured them.
    /// Each tells of the `damaged` runs that were left out as well.
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
    fn add(&mut self, run: &HistoryRun, batches: &[Batch]) {
        match estimate(&run.definition, batches, &self.metric) {
            None => {}
            Some((_, false)) => self.left_out += 1,
            Some((estimate, true)) => self.runs.push(Entry {
                run: run.number,
                started: run.started,
                value: estimate.centre,
                interval: estimate.interval,
            }),
        }
    }

    /// The stretches between changes, as ranges of indices of `runs`.
    pub fn levels(&self) -> Vec<std::ops::Range<usize>> {
        let starts = [0]
            .into_iter()
            .chain(self.changes.iter().map(|change| change.at));
        let ends = self.changes.iter().map(|change| change.at);
        let ends = ends.chain([self.runs.len()]);
        starts.zip(ends).map(|(start, end)| start..end).collect()
    }
}

/// What a run gave, and whether it can stand beside values of `metric`: it is sound and means the
/// same.
fn estimate(
    definition: &Definition,
    batches: &[Batch],
    metric: &Metric,
) -> Option<(Estimate, bool)> {
    let own = definition.metric(&metric.name)?;
    let estimate = Estimate::from_batches(own, batches)?;
    let same = own.version == metric.version && own.unit == metric.unit;
    let usable = same && estimate.is_sound();
    Some((estimate, usable))
}
