//! A metric over the stored runs of one machine: its levels, and where they changed.

use instrument::experiment::{Better, Definition, Metric};
use instrument::point::Point;
use instrument::results::Estimate;
use instrument::statistics::Interval;
use instrument::statistics::changes::{Change, changes};
use jiff::Timestamp;
use record::ExperimentRecord;
use record::store::RunSummary;
use serde::Serialize;

/// A metric at one point over the runs of one machine.
#[derive(Clone, Debug)]
pub struct History {
    /// The experiment, as its newest run defines it.
    pub definition: Definition,
    /// The point.
    pub point: Point,
    /// The metric.
    pub metric: Metric,
    /// The runs that have a sound value of it, the oldest first.
    pub runs: Vec<Entry>,
    /// Where the level changed; indices are those of `runs`.
    pub changes: Vec<Change>,
    /// Runs whose value is left out: of another version of the metric, or not sound.
    pub left_out: usize,
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its number in the store.
    pub run: u64,
    /// When it started.
    pub started: Timestamp,
    /// The estimate, in the metric's unit.
    pub value: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
}

/// The histories of the metric called `metric`, or of every metric of which one way is better, at
/// every point of the newest of `records`; these stand in the order in which they ran.
pub fn histories(records: &[(RunSummary, ExperimentRecord)], metric: Option<&str>) -> Vec<History> {
    let Some((_, newest)) = records.last() else {
        return Vec::new();
    };
    let wanted = |candidate: &&Metric| match metric {
        Some(name) => candidate.name == name,
        None => candidate.better != Better::Neither,
    };
    let metrics: Vec<&Metric> = newest.definition.metrics.iter().filter(wanted).collect();
    let points = newest.points.iter().map(|record| &record.point);
    points
        .flat_map(|point| metrics.iter().map(move |metric| (point, *metric)))
        .map(|(point, metric)| History::new(records, &newest.definition, point, metric))
        .filter(|history| !history.runs.is_empty())
        .collect()
}

impl History {
    fn new(
        records: &[(RunSummary, ExperimentRecord)],
        definition: &Definition,
        point: &Point,
        metric: &Metric,
    ) -> Self {
        let mut runs = Vec::new();
        let mut left_out = 0;
        for (summary, record) in records {
            match estimate(record, point, metric) {
                None => {}
                Some((_, false)) => left_out += 1,
                Some((estimate, true)) => runs.push(Entry {
                    run: summary.number,
                    started: summary.started,
                    value: estimate.centre,
                    interval: estimate.interval,
                }),
            }
        }
        let values: Vec<f64> = runs.iter().map(|entry| entry.value).collect();
        Self {
            definition: definition.clone(),
            point: point.clone(),
            metric: metric.clone(),
            changes: changes(&values),
            runs,
            left_out,
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
fn estimate(record: &ExperimentRecord, point: &Point, metric: &Metric) -> Option<(Estimate, bool)> {
    let measured = record.points.iter().find(|record| record.point == *point)?;
    let own = record.definition.metric(&metric.name)?;
    let estimate = Estimate::from_batches(own, record.definition.isolation, &measured.batches)?;
    let same = own.version == metric.version && own.unit == metric.unit;
    let usable = same && estimate.is_sound();
    Some((estimate, usable))
}

/// The histories as JSON for other programs: for each the runs and the changes, by their numbers.
pub fn json(histories: &[History]) -> serde_json::Value {
    let history = |history: &History| {
        let number = |index: usize| history.runs[index].run;
        let changes = history.changes.iter().map(|change| {
            serde_json::json!({
                "run": number(change.at),
                "earliest_run": number(change.between.0),
                "latest_run": number(change.between.1),
                "ratio": change.ratio.centre,
                "interval": change.ratio.interval,
            })
        });
        serde_json::json!({
            "experiment": history.definition.id,
            "levels": history.point.levels().collect::<std::collections::BTreeMap<_, _>>(),
            "metric": history.metric.name,
            "version": history.metric.version,
            "unit": history.metric.unit,
            "runs": history.runs,
            "changes": changes.collect::<Vec<_>>(),
            "left_out": history.left_out,
        })
    };
    histories.iter().map(history).collect()
}
