//! One experiment in many runs.

use super::error::{Error, Fault, OrFault};
use super::open::Store;
use super::read::{Wanted, read};
use super::summary::{RunSummary, summaries};
use crate::checksum::Part;
use instrument::experiment::Definition;
use instrument::point::Point;
use instrument::sample::Batch;
use jiff::Timestamp;
use rusqlite::Connection;
use std::sync::Arc;

/// One run of an experiment, as a history needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRun {
    /// The run's number in the store.
    pub number: u64,
    /// Start time.
    pub started: Timestamp,
    /// The experiment's definition in this run.
    pub definition: Arc<Definition>,
    /// The points in the order of the plan, each with its batches.
    pub points: Vec<(Arc<Point>, Vec<Batch>)>,
}

/// A query for a history.
#[derive(Clone, Copy, Debug)]
pub struct HistoryQuery<'q> {
    /// The machine, by its fingerprint.
    pub fingerprint: &'q str,
    /// The experiment, by its id.
    pub experiment: &'q str,
    /// Only samples of this metric; `None` for all.
    pub metric: Option<&'q str>,
    /// Maximum number of runs, the newest first.
    pub limit: usize,
}

impl Store {
    /// Calls `visit` with the experiment's data from each of the newest runs of a machine that have
    /// it, the newest first. Reads only points that `is_wanted` accepts. A run whose data disagrees
    /// with its checksums is left out and returned as an [`Error::DamagedRun`].
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn history(
        &self,
        query: &HistoryQuery<'_>,
        is_wanted: impl Fn(&Point) -> bool,
        mut visit: impl FnMut(HistoryRun),
    ) -> Result<Vec<Error>, Error> {
        self.reading(|connection| {
            let mut damaged = Vec::new();
            for summary in newest(connection, query)? {
                let number = summary.number;
                match run(connection, &summary, query, &is_wanted)? {
                    Ok(run) => visit(run),
                    Err(parts) => damaged.push(Fault::DamagedRun { number, parts }.at(&self.path)),
                }
            }
            Ok(damaged)
        })
    }

    /// The newest run, on any machine, that has the experiment `id`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn latest_with(&self, id: &str) -> Result<Option<RunSummary>, Error> {
        let condition =
            "EXISTS (SELECT 1 FROM experiments WHERE run = number AND experiments.id = ?1)";
        let mut found = self.reading(|connection| summaries(connection, condition, 1, [id]))?;
        Ok(found.pop())
    }
}

fn newest(connection: &Connection, query: &HistoryQuery<'_>) -> OrFault<Vec<RunSummary>> {
    let condition = "fingerprint = ?1
         AND EXISTS (SELECT 1 FROM experiments WHERE run = number AND experiments.id = ?2)";
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let parameters = [query.fingerprint, query.experiment];
    summaries(connection, condition, limit, parameters)
}

/// The data of the run, or the parts that are damaged.
fn run(
    connection: &Connection,
    summary: &RunSummary,
    query: &HistoryQuery<'_>,
    is_wanted: impl Fn(&Point) -> bool,
) -> OrFault<Result<HistoryRun, Vec<Part>>> {
    let number = summary.number;
    let stored = read(connection, number, Some(query.experiment), |point| {
        if is_wanted(point) {
            Wanted::All
        } else {
            Wanted::Number
        }
    })?;
    let mut damaged = stored.damage(Some(query.experiment));
    if summary.damaged {
        damaged.push(Part::Listing);
    }
    let mut records = stored.run.experiments.into_iter();
    let record = records.find(|record| record.definition.id == query.experiment);
    let Some(record) = record.filter(|_| damaged.is_empty()) else {
        if damaged.is_empty() {
            let experiment = query.experiment.to_owned();
            damaged.push(Part::Experiment { experiment });
        }
        return Ok(Err(damaged));
    };
    let wanted = record.points.into_iter();
    let wanted = wanted.filter(|record| is_wanted(&record.point));
    let points = wanted.map(|record| {
        let mut batches = record.batches;
        if let Some(metric) = query.metric {
            let taken = batches.iter_mut();
            taken.for_each(|batch| batch.samples.retain(|sample| sample.metric == metric));
        }
        (Arc::new(record.point), batches)
    });
    Ok(Ok(HistoryRun {
        number,
        started: stored.run.header.started,
        definition: Arc::new(record.definition),
        points: points.collect(),
    }))
}
