//! What one experiment gave in many runs.

use super::error::{Error, Fault, Result};
use super::open::Store;
use super::read::{batches, timestamp};
use super::summary::RunSummary;
use instrument::experiment::Definition;
use instrument::point::Point;
use instrument::sample::Batch;
use jiff::Timestamp;
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::Arc;

/// What an experiment gave in one run, as far as a history tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRun {
    /// The run's number in the store.
    pub number: u64,
    /// When it started.
    pub started: Timestamp,
    /// What was asked and measured.
    pub definition: Arc<Definition>,
    /// Its points in the order of its plan, each with what was measured there.
    pub points: Vec<(Arc<Point>, Vec<Batch>)>,
}

/// What is asked for of the runs of a history.
#[derive(Clone, Copy, Debug)]
pub struct HistoryQuery<'q> {
    /// The machine, by its fingerprint.
    pub fingerprint: &'q str,
    /// The experiment, by its id.
    pub experiment: &'q str,
    /// Only samples of this metric; `None` for all.
    pub metric: Option<&'q str>,
    /// So many of the newest runs.
    pub limit: usize,
}

impl Store {
    /// Shows `visit` what an experiment gave in the newest runs of a machine that have it, one after
    /// the other, the newest first. Only points that `is_wanted` are read.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn history(
        &self,
        query: &HistoryQuery<'_>,
        is_wanted: impl Fn(&Point) -> bool,
        mut visit: impl FnMut(HistoryRun),
    ) -> std::result::Result<(), Error> {
        let read = || {
            // One transaction: another process may be recording.
            let transaction = self.connection.unchecked_transaction()?;
            let mut reader = Reader {
                connection: &transaction,
                metric: query.metric,
                is_wanted,
                definitions: HashMap::new(),
                points: HashMap::new(),
            };
            for (number, started, experiment) in newest(&transaction, query)? {
                visit(reader.run(number, started, experiment)?);
            }
            Ok(())
        };
        read().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// The newest run that has the experiment `id`, on whatever machine.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn latest_with(&self, id: &str) -> std::result::Result<Option<RunSummary>, Error> {
        let condition =
            "EXISTS (SELECT 1 FROM experiments WHERE run = number AND experiments.id = ?1)";
        self.summaries(condition, 1, [id])
            .map(|mut found| found.pop())
            .map_err(|fault| fault.at(&self.path))
    }
}

/// Number and start of each run, and the key of the experiment in it. Without the definitions, which
/// would be carried through the sorting.
fn newest(connection: &Connection, query: &HistoryQuery<'_>) -> Result<Vec<(u64, Timestamp, i64)>> {
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "SELECT number, started, experiments.key
             FROM runs
             JOIN machines ON machines.key = runs.machine
             JOIN experiments ON experiments.run = number
             WHERE experiments.id = ?1 AND fingerprint = ?2
             ORDER BY started DESC, number DESC LIMIT ?3",
        )?
        .query_and_then((query.experiment, query.fingerprint, limit), |row| {
            let started = timestamp(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?;
            Ok((row.get(0)?, started, row.get(2)?))
        })?
        .collect()
}

/// Reads runs one after the other. They repeat each other's definitions and points, which are decoded
/// once.
struct Reader<'s, F> {
    connection: &'s Connection,
    metric: Option<&'s str>,
    is_wanted: F,
    definitions: HashMap<String, Arc<Definition>>,
    /// By their levels as stored; `None` for those that are not wanted.
    points: HashMap<String, Option<Arc<Point>>>,
}

impl<F: Fn(&Point) -> bool> Reader<'_, F> {
    fn run(&mut self, number: u64, started: Timestamp, experiment: i64) -> Result<HistoryRun> {
        Ok(HistoryRun {
            number,
            started,
            definition: self.definition(experiment)?,
            points: self.points(experiment)?,
        })
    }

    fn definition(&mut self, experiment: i64) -> Result<Arc<Definition>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT definition FROM experiments WHERE key = ?1")?;
        let mut rows = statement.query([experiment])?;
        let row = rows
            .next()?
            .ok_or_else(|| Fault::Damaged(format!("experiment {experiment} is lost")))?;
        let text = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        known(&mut self.definitions, text, |definition| {
            Arc::new(definition)
        })
    }

    fn points(&mut self, experiment: i64) -> Result<Vec<(Arc<Point>, Vec<Batch>)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, levels FROM points WHERE experiment = ?1 ORDER BY position",
        )?;
        let mut rows = statement.query([experiment])?;
        let mut wanted = Vec::new();
        while let Some(row) = rows.next()? {
            let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let is_wanted = &self.is_wanted;
            let point = known(&mut self.points, text, |point: Point| {
                is_wanted(&point).then(|| Arc::new(point))
            })?;
            if let Some(point) = point {
                let batches = batches(self.connection, row.get(0)?, self.metric)?;
                wanted.push((point, batches));
            }
        }
        Ok(wanted)
    }
}

/// What `keep` makes of the JSON in `text`, read once for each text.
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
