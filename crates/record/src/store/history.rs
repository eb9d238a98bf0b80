//! What one experiment gave in many runs.

use super::error::{Error, Fault, Result};
use super::open::Store;
use super::read::{batches, closing, json};
use super::summary::RunSummary;
use crate::run::{ExperimentRecord, PointRecord};
use instrument::point::Point;
use rusqlite::Connection;

impl Store {
    /// What the experiment `id` gave in the newest `limit` runs of the machine `fingerprint` that
    /// have it, the oldest first. Only points that `is_wanted` are read.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn history(
        &self,
        fingerprint: &str,
        id: &str,
        limit: usize,
        is_wanted: impl Fn(&Point) -> bool,
    ) -> std::result::Result<Vec<(RunSummary, ExperimentRecord)>, Error> {
        let read = || {
            // One transaction: another process may be recording.
            let transaction = self.connection.unchecked_transaction()?;
            let mut found = Vec::new();
            for summary in self.with_experiment(id, Some(fingerprint), limit)? {
                let record = experiment(&transaction, summary.number, id, &is_wanted)?;
                found.push((summary, record));
            }
            found.reverse();
            Ok(found)
        };
        read().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// The newest run that has the experiment `id`, on whatever machine.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn latest_with(&self, id: &str) -> std::result::Result<Option<RunSummary>, Error> {
        self.with_experiment(id, None, 1)
            .map(|mut found| found.pop())
            .map_err(|fault| fault.at(&self.path))
    }
}

fn experiment(
    connection: &Connection,
    run: u64,
    id: &str,
    is_wanted: &impl Fn(&Point) -> bool,
) -> Result<ExperimentRecord> {
    let mut statement = connection.prepare_cached(
        "SELECT key, definition, skipped FROM experiments WHERE run = ?1 AND id = ?2",
    )?;
    let mut rows = statement.query((run, id))?;
    let row = rows
        .next()?
        .ok_or_else(|| Fault::Damaged(format!("run {run} has lost {id}")))?;
    let experiment: i64 = row.get("key")?;
    let mut points = Vec::new();
    let mut statement = connection.prepare_cached(
        "SELECT key, levels, ending, failure FROM points WHERE experiment = ?1 ORDER BY position",
    )?;
    let mut found = statement.query([experiment])?;
    while let Some(row) = found.next()? {
        let point: Point = json(row, "levels")?;
        if is_wanted(&point) {
            let key = row.get("key")?;
            points.push(PointRecord {
                point,
                batches: batches(connection, key)?,
                closing: closing(connection, key, row)?,
            });
        }
    }
    Ok(ExperimentRecord {
        definition: json(row, "definition")?,
        skipped: row.get("skipped")?,
        points,
    })
}
