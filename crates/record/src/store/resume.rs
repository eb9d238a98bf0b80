//! Opens a stopped run again, so that it can grow.

use super::error::{Error, Fault, Result};
use super::read::checked;
use super::write::{StoredExperiment, StoredPoint, StoredRun, number_of};
use crate::checksum::{self, Checksum, ExperimentChecksums, Place, PointChecksums, RunChecksums};
use crate::run::{Closing, ExperimentRecord, PointRecord, Run};
use instrument::point::Point;
use instrument::runner::Ending;
use rusqlite::{Connection, params};
use std::collections::HashMap;

impl StoredRun {
    /// Opens the stored run with the id of `run` again, with a budget of `budget_ns` for the whole of
    /// it. Points that failed stay closed.
    ///
    /// # Errors
    /// [`Error::Changed`] if the stored run differs from `run`.
    pub fn reopen(connection: &Connection, run: &Run, budget_ns: f64) -> Result<Self> {
        let changed = || Fault::from(Error::Changed(run.header.id.clone()));
        let number = number_of(connection, &run.header.id)?.ok_or_else(changed)?;
        let (stored, checksums) = checked(connection, number)?;
        if stored != *run {
            return Err(changed());
        }
        let mut reopened = known(connection, number, run, checksums)?;
        for record in &run.experiments {
            let id = &record.definition.id;
            for point in record.points.iter().filter(|point| !has_failed(point)) {
                reopened.open_point(connection, id, &point.point)?;
            }
            reopened.seal_experiment(connection, id)?;
        }
        reopened.open_header(connection, budget_ns)?;
        Ok(reopened)
    }

    /// Removes the end of a point.
    fn open_point(
        &mut self,
        connection: &Connection,
        experiment: &str,
        point: &Point,
    ) -> Result<()> {
        let key = self.set_closing(experiment, point, None)?;
        connection
            .prepare_cached("UPDATE points SET ending = NULL, failure = NULL WHERE key = ?1")?
            .execute(params![key])?;
        connection
            .prepare_cached("DELETE FROM warnings WHERE point = ?1")?
            .execute(params![key])?;
        self.seal_point(connection, experiment, point)
    }

    /// Removes the end of the run, and sets its budget.
    fn open_header(&mut self, connection: &Connection, budget_ns: f64) -> Result<()> {
        connection.execute(
            "UPDATE runs SET ended = NULL, interrupted = 0 WHERE number = ?1",
            params![self.number],
        )?;
        connection.execute(
            "UPDATE circumstances SET budget_ns = ?2 WHERE run = ?1",
            params![self.number, budget_ns],
        )?;
        self.header.ended = None;
        self.header.interrupted = false;
        self.header.budget_ns = budget_ns;
        self.seal(connection)
    }
}

fn has_failed(point: &PointRecord) -> bool {
    let ending = point.closing.as_ref().map(|closing| &closing.ending);
    matches!(ending, Some(Ending::Failed(_)))
}

/// The stored run as it is, with the keys of its rows and their checksums.
fn known(
    connection: &Connection,
    number: u64,
    run: &Run,
    checksums: RunChecksums,
) -> Result<StoredRun> {
    let keys = keys(
        connection,
        "SELECT key FROM experiments WHERE run = ?1 ORDER BY position",
        number.cast_signed(),
    )?;
    let of_experiments = checksums.experiments.iter().map(|it| it.experiment);
    let of_experiments: Vec<Checksum> = of_experiments.collect();
    let parts = keys
        .into_iter()
        .zip(&run.experiments)
        .zip(checksums.experiments)
        .enumerate();
    let mut experiments = HashMap::new();
    for (position, ((key, record), checksums)) in parts {
        let stored = experiment(connection, key, position, &run.header.id, record, checksums)?;
        experiments.insert(record.definition.id.clone(), stored);
    }
    let points = run.experiments.iter().map(|record| record.points.len());
    Ok(StoredRun {
        number,
        header: run.header.clone(),
        machine: checksums.machine,
        experiments,
        checksums: of_experiments,
        points: points.sum::<usize>() as u64,
        samples: run.sample_count() as u64,
    })
}

fn experiment(
    connection: &Connection,
    key: i64,
    position: usize,
    run: &str,
    record: &ExperimentRecord,
    checksums: ExperimentChecksums,
) -> Result<StoredExperiment> {
    let keys = keys(
        connection,
        "SELECT key FROM points WHERE experiment = ?1 ORDER BY position",
        key,
    )?;
    let definition = &record.definition;
    let of_points = checksums.points.iter().map(|it| it.point).collect();
    let parts = keys.into_iter().zip(&record.points).zip(checksums.points);
    let point =
        |(position, ((key, record), checksums)): (usize, ((i64, &PointRecord), PointChecksums))| {
            let place = Place {
                run,
                experiment: &definition.id,
                point: &record.point,
            };
            let closing: Option<&Closing> = record.closing.as_ref();
            let stored = StoredPoint {
                key,
                position,
                own: checksum::point(place, position, closing),
                batches: checksums.batches,
            };
            (record.point.clone(), stored)
        };
    Ok(StoredExperiment {
        key,
        position,
        own: checksum::experiment(run, position, definition, record.skipped.as_deref()),
        points: parts.enumerate().map(point).collect(),
        checksums: of_points,
    })
}

/// The keys that `query` finds for `of`.
fn keys(connection: &Connection, query: &str, of: i64) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(query)?;
    let keys = statement.query_map([of], |row| row.get(0))?;
    Ok(keys.collect::<rusqlite::Result<_>>()?)
}
