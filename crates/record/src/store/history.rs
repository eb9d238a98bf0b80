//! One experiment in many runs.

use super::column::checksum;
use super::error::{Error, Fault, Result};
use super::open::Store;
use super::read::{header, point};
use super::summary::{RunSummary, summaries};
use crate::checksum::{Checksum, Part, Place, check_experiment, check_header, check_point};
use instrument::experiment::Definition;
use instrument::point::Point;
use instrument::sample::Batch;
use jiff::Timestamp;
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
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
        let read = || {
            // One transaction, because another process may be recording.
            let transaction = self.connection.unchecked_transaction()?;
            let mut reader = Reader {
                connection: &transaction,
                query,
                is_wanted,
                definitions: HashMap::new(),
                points: HashMap::new(),
            };
            let mut damaged = Vec::new();
            for (number, experiment) in newest(&transaction, query)? {
                match reader.run(number, experiment)? {
                    Ok(run) => visit(run),
                    Err(parts) => {
                        damaged.push(Fault::DamagedRun { number, parts }.at(&self.path));
                    }
                }
            }
            Ok(damaged)
        };
        read().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// The newest run, on any machine, that has the experiment `id`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn latest_with(&self, id: &str) -> std::result::Result<Option<RunSummary>, Error> {
        let condition =
            "EXISTS (SELECT 1 FROM experiments WHERE run = number AND experiments.id = ?1)";
        summaries(&self.connection, condition, 1, [id])
            .map(|mut found| found.pop())
            .map_err(|fault| fault.at(&self.path))
    }
}

/// The number of each run, and the key of the experiment in it. Definitions are left out, because
/// the query would carry them through its sorting.
fn newest(connection: &Connection, query: &HistoryQuery<'_>) -> Result<Vec<(u64, i64)>> {
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "SELECT number, experiments.key
             FROM runs
             JOIN machines ON machines.key = runs.machine
             JOIN experiments ON experiments.run = number
             WHERE experiments.id = ?1 AND fingerprint = ?2
             ORDER BY started DESC, number DESC LIMIT ?3",
        )?
        .query_and_then((query.experiment, query.fingerprint, limit), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect()
}

/// Reads several runs. Their definitions and points repeat, so each is decoded only once.
struct Reader<'s, F> {
    connection: &'s Connection,
    query: &'s HistoryQuery<'s>,
    is_wanted: F,
    definitions: HashMap<String, Arc<Definition>>,
    /// Points by their stored levels; `None` for unwanted ones.
    points: HashMap<String, Option<Arc<Point>>>,
}

impl<F: Fn(&Point) -> bool> Reader<'_, F> {
    /// The data of the run, or the parts that are damaged.
    fn run(
        &mut self,
        number: u64,
        experiment: i64,
    ) -> Result<std::result::Result<HistoryRun, Vec<Part>>> {
        let (header, run_checksum) = header(self.connection, number)?;
        let siblings = self.siblings(number)?;
        let machine = self.machine(number)?;
        let (definition, skipped) = self.definition(experiment)?;
        let read = self.points(&header.id, experiment)?;

        let mut damaged = read.damaged;
        let checksums: Vec<Checksum> = siblings.iter().map(|(_, checksum)| *checksum).collect();
        if !check_header(&header, run_checksum, machine, &checksums) {
            damaged.push(Part::Header);
        }
        let position = siblings.iter().position(|(key, _)| *key == experiment);
        let agrees = position.is_some_and(|position| {
            let (id, stored) = (header.id.as_str(), checksums[position]);
            let skipped = skipped.as_deref();
            check_experiment(id, position, &definition, skipped, stored, &read.checksums)
        });
        if !agrees || definition.id != self.query.experiment {
            damaged.push(Part::Experiment {
                experiment: self.query.experiment.to_owned(),
            });
        }
        if !damaged.is_empty() {
            return Ok(Err(damaged));
        }
        Ok(Ok(HistoryRun {
            number,
            started: header.started,
            definition,
            points: read.wanted,
        }))
    }

    /// The keys and checksums of the run's experiments, in order.
    fn siblings(&self, number: u64) -> Result<Vec<(i64, Checksum)>> {
        self.connection
            .prepare_cached(
                "SELECT key, checksum FROM experiments WHERE run = ?1 ORDER BY position",
            )?
            .query_and_then([number], |row| {
                Ok((row.get(0)?, checksum(row, "checksum")?))
            })?
            .collect()
    }

    /// The checksum of the run's machine.
    fn machine(&self, number: u64) -> Result<Checksum> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT checksum FROM circumstances WHERE run = ?1")?;
        let mut rows = statement.query([number])?;
        rows.next()?
            .map_or(Ok(Checksum::MISSING), |row| checksum(row, "checksum"))
    }

    /// The definition of the experiment, and the reason why it was skipped.
    fn definition(&mut self, experiment: i64) -> Result<(Arc<Definition>, Option<String>)> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT definition, skipped FROM experiments WHERE key = ?1")?;
        let mut rows = statement.query([experiment])?;
        let row = rows
            .next()?
            .ok_or_else(|| Fault::Damaged(format!("experiment {experiment} is lost")))?;
        let text = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let definition = known(&mut self.definitions, text, |definition| {
            Arc::new(definition)
        })?;
        Ok((definition, row.get(1)?))
    }

    /// The points of `experiment` in the run `id`.
    fn points(&mut self, id: &str, experiment: i64) -> Result<ReadPoints> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, levels, ending, failure, checksum FROM points WHERE experiment = ?1
             ORDER BY position",
        )?;
        let mut rows = statement.query([experiment])?;
        let mut read = ReadPoints::default();
        while let Some(row) = rows.next()? {
            let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let is_wanted = &self.is_wanted;
            let wanted = known(&mut self.points, text, |point: Point| {
                is_wanted(&point).then(|| Arc::new(point))
            })?;
            let position = read.checksums.len();
            read.checksums.push(checksum(row, "checksum")?);
            let Some(wanted) = wanted else {
                continue;
            };
            let (record, stored) = point(self.connection, row.get(0)?, (*wanted).clone(), row)?;
            let place = Place {
                run: id,
                experiment: self.query.experiment,
                point: &wanted,
            };
            check_point(place, position, &record, &stored, &mut read.damaged);
            let mut batches = record.batches;
            if let Some(metric) = self.query.metric {
                let taken = batches.iter_mut();
                taken.for_each(|batch| batch.samples.retain(|sample| sample.metric == metric));
            }
            read.wanted.push((wanted, batches));
        }
        Ok(read)
    }
}

/// The points read from one experiment.
#[derive(Default)]
struct ReadPoints {
    wanted: Vec<(Arc<Point>, Vec<Batch>)>,
    /// The checksums of all points, in order.
    checksums: Vec<Checksum>,
    /// The parts that disagree with their checksums.
    damaged: Vec<Part>,
}

/// Decodes the JSON in `text` and converts it with `keep`, once for each text.
fn known<T: DeserializeOwned, M: Clone>(
    all: &mut HashMap<String, M>,
    text: &str,
    keep: impl FnOnce(T) -> M,
) -> Result<M> {
    if let Some(known) = all.get(text) {
        return Ok(known.clone());
    }
    let decoded =
        serde_json::from_str(text).map_err(|error| Fault::Damaged(format!("'{text}': {error}")))?;
    let kept = keep(decoded);
    all.insert(text.to_owned(), kept.clone());
    Ok(kept)
}
