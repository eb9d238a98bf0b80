//! One experiment in many runs.

use super::column::checksum;
use super::error::{Error, Fault, Result};
use super::open::Store;
use super::read::{Wanted, header, points, rows};
use super::summary::{RunSummary, summaries};
use crate::checksum::{Checksum, ExperimentChecksums, Part, RunChecksums, check_experiment};
use crate::run::{ExperimentRecord, PointRecord};
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
    ) -> std::result::Result<Vec<Error>, Error> {
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
    pub fn latest_with(&self, id: &str) -> std::result::Result<Option<RunSummary>, Error> {
        let condition =
            "EXISTS (SELECT 1 FROM experiments WHERE run = number AND experiments.id = ?1)";
        let mut found = self.reading(|connection| summaries(connection, condition, 1, [id]))?;
        Ok(found.pop())
    }
}

fn newest(connection: &Connection, query: &HistoryQuery<'_>) -> Result<Vec<RunSummary>> {
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
) -> Result<std::result::Result<HistoryRun, Vec<Part>>> {
    let number = summary.number;
    let (header, run) = header(connection, number)?;
    let siblings = siblings(connection, number)?;
    let checksums = RunChecksums {
        run,
        machine: machine(connection, number)?,
        experiments: siblings.iter().map(|(_, _, own)| own.clone()).collect(),
    };
    let mut damaged = Vec::new();
    if summary.damaged {
        damaged.push(Part::Listing);
    }
    if checksums.joined(&header) != checksums.run {
        damaged.push(Part::Header);
    }
    let named = siblings
        .into_iter()
        .find(|(_, id, _)| id == query.experiment);
    let (key, _, mut own) = named.ok_or_else(|| lost(query.experiment))?;
    let content = "SELECT key, content, checksum FROM experiments WHERE key = ?1";
    let found = rows(connection, content, key)?.pop();
    let (_, (definition, skipped), _) = found.ok_or_else(|| lost(query.experiment))?;
    let stored = points(connection, key, |point| {
        if is_wanted(point) {
            Wanted::All
        } else {
            Wanted::Number
        }
    })?;
    own.points = stored.checksums;
    let record = ExperimentRecord {
        definition,
        skipped,
        points: stored.records,
    };
    let is_intact = |batch, _| !stored.damaged.contains(&batch);
    check_experiment(&record, &own, is_intact, &mut damaged);
    if record.definition.id != query.experiment {
        damaged.push(Part::Experiment {
            experiment: query.experiment.to_owned(),
        });
    }
    if !damaged.is_empty() {
        return Ok(Err(damaged));
    }
    let wanted = record.points.into_iter();
    let wanted = wanted.filter(|record| is_wanted(&record.point));
    let points = wanted.map(
        |PointRecord {
             point, mut batches, ..
         }| {
            if let Some(metric) = query.metric {
                let taken = batches.iter_mut();
                taken.for_each(|batch| batch.samples.retain(|sample| sample.metric == metric));
            }
            (Arc::new(point), batches)
        },
    );
    Ok(Ok(HistoryRun {
        number,
        started: header.started,
        definition: Arc::new(record.definition),
        points: points.collect(),
    }))
}

fn lost(experiment: &str) -> Fault {
    Fault::Damaged(format!("the experiment {experiment} is lost"))
}

/// Key, id and checksum of each of the run's experiments, in order.
fn siblings(connection: &Connection, run: u64) -> Result<Vec<(i64, String, ExperimentChecksums)>> {
    connection
        .prepare_cached(
            "SELECT key, id, checksum FROM experiments WHERE run = ?1 ORDER BY position",
        )?
        .query_and_then([run], |row| {
            let checksums = ExperimentChecksums {
                experiment: checksum(row, 2)?,
                points: Vec::new(),
            };
            Ok((row.get(0)?, row.get(1)?, checksums))
        })?
        .collect()
}

/// The checksum of the run's machine.
fn machine(connection: &Connection, run: u64) -> Result<Checksum> {
    let mut statement =
        connection.prepare_cached("SELECT checksum FROM machines WHERE run = ?1")?;
    let mut rows = statement.query([run])?;
    rows.next()?
        .map_or(Ok(Checksum::MISSING), |row| checksum(row, 0))
}
