//! Writing a run: as a whole, or as it goes on.

use super::error::{Error, Fault, Result};
use super::open::Store;
use super::selector::{RunSelector, resolve};
use crate::reading::ReadingRow;
use crate::run::{Closing, Run};
use instrument::experiment::Definition;
use instrument::point::Point;
use instrument::runner::Ending;
use instrument::sample::{Batch, Sample};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::Serialize;
use std::collections::HashMap;

impl Store {
    /// Stores a whole run, as from an import, and gives its number here.
    ///
    /// # Errors
    /// [`Error::AlreadyStored`] if a run of this id is there, [`Error::Invalid`] if it holds what
    /// cannot be, and where the store cannot be written. Nothing is changed then.
    pub fn insert(&mut self, run: &Run) -> std::result::Result<u64, Error> {
        run.validate()?;
        let mut insert = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let stored = StoredRun::insert(&transaction, run)?;
            transaction.commit()?;
            Ok(stored.number)
        };
        insert().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// Deletes a run with all that hangs on it, and tells the number it had, which no other run
    /// will get.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Ambiguous`], and where the store cannot be written.
    pub fn delete(&mut self, selector: &RunSelector) -> std::result::Result<u64, Error> {
        let mut delete = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let number = resolve(&transaction, selector)?;
            transaction.execute("DELETE FROM runs WHERE number = ?1", [number])?;
            transaction.execute(
                "DELETE FROM machines WHERE key NOT IN (SELECT machine FROM runs)",
                [],
            )?;
            transaction.commit()?;
            Ok(number)
        };
        delete().map_err(|fault: Fault| fault.at(&self.path))
    }
}

/// A run in the store to which can be added. What it is given was validated.
#[derive(Debug)]
pub(super) struct StoredRun {
    pub number: u64,
    experiments: HashMap<String, StoredExperiment>,
}

#[derive(Debug)]
struct StoredExperiment {
    points: HashMap<Point, StoredPoint>,
}

#[derive(Debug)]
struct StoredPoint {
    key: i64,
    batches: usize,
}

impl StoredRun {
    /// Puts `run` into the store, as far as it goes.
    pub fn insert(connection: &Connection, run: &Run) -> Result<Self> {
        let mut stored = Self::insert_header(connection, run)?;
        for experiment in &run.experiments {
            let definition = &experiment.definition;
            let points: Vec<&Point> = experiment
                .points
                .iter()
                .map(|record| &record.point)
                .collect();
            stored.add_experiment(
                connection,
                definition,
                experiment.skipped.as_deref(),
                &points,
            )?;
            for record in &experiment.points {
                for batch in &record.batches {
                    stored.add_batch(connection, &definition.id, &record.point, batch)?;
                }
                if let Some(closing) = &record.closing {
                    stored.close_point(connection, &definition.id, &record.point, closing)?;
                }
            }
        }
        Ok(stored)
    }

    fn insert_header(connection: &Connection, run: &Run) -> Result<Self> {
        let header = &run.header;
        let known = "SELECT number FROM runs WHERE id = ?1";
        if let Some(number) = connection
            .query_row(known, [&header.id], |row| row.get(0))
            .optional()?
        {
            return Err(Error::AlreadyStored {
                id: header.id.clone(),
                number,
            }
            .into());
        }
        connection.execute(
            "INSERT INTO runs (id, name, started, ended, interrupted, profile, machine, directory,
                               tags)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                header.id,
                header.name,
                sortable(header.started),
                header.ended.map(sortable),
                header.interrupted,
                header.profile.to_string(),
                machine_key(connection, run)?,
                header.directory.to_str(),
                json(&header.tags),
            ],
        )?;
        let number = connection.last_insert_rowid();
        connection.execute(
            "INSERT INTO circumstances (run, version, command_line, budget_ns, seed, environment,
                                        storage, clock_resolution_ns, clock_cost_ns)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                number,
                header.version,
                json(&header.command_line),
                header.budget_ns,
                header.seed.to_string(),
                json(&run.environment),
                json(&run.storage),
                run.calibration.resolution_ns,
                run.calibration.cost_ns,
            ],
        )?;
        Ok(Self {
            number: number.cast_unsigned(),
            experiments: HashMap::new(),
        })
    }

    /// Adds an experiment with its points, or with the reason why it could not run.
    pub fn add_experiment(
        &mut self,
        connection: &Connection,
        definition: &Definition,
        skipped: Option<&str>,
        points: &[&Point],
    ) -> Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO experiments (run, position, id, definition, skipped)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                self.number,
                self.experiments.len(),
                definition.id,
                json(definition),
                skipped,
            ])?;
        let experiment = connection.last_insert_rowid();
        let mut insert = connection.prepare_cached(
            "INSERT INTO points (experiment, position, levels) VALUES (?1, ?2, ?3)",
        )?;
        let mut stored = StoredExperiment {
            points: HashMap::new(),
        };
        for (position, &point) in points.iter().enumerate() {
            let key = insert.insert(params![experiment, position, json(point)])?;
            stored
                .points
                .insert(point.clone(), StoredPoint { key, batches: 0 });
        }
        connection
            .prepare_cached(
                "UPDATE runs SET experiments = experiments + 1, points = points + ?2
                 WHERE number = ?1",
            )?
            .execute(params![self.number, points.len()])?;
        self.experiments.insert(definition.id.clone(), stored);
        Ok(())
    }

    /// Adds a batch to a point.
    pub fn add_batch(
        &mut self,
        connection: &Connection,
        experiment: &str,
        point: &Point,
        batch: &Batch,
    ) -> Result<()> {
        let number = self.number;
        let stored = self.point(experiment, point)?;
        let around = &batch.disturbance;
        let key = connection
            .prepare_cached(
                "INSERT INTO batches (point, position, warm, cpu, started_ns, wall_ns, stolen_ns,
                                      others_ns, frequency_before_hz, frequency_after_hz, remarks)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .insert(params![
                stored.key,
                stored.batches,
                batch.warm,
                batch.cpu,
                batch.started_ns,
                batch.wall_ns,
                around.stolen_ns,
                around.others_ns,
                around.frequency_hz.map(|(before, _)| before),
                around.frequency_hz.map(|(_, after)| after),
                json(&batch.remarks),
            ])?;
        for (position, sample) in batch.samples.iter().enumerate() {
            insert_sample(connection, key, position, sample)?;
        }
        connection
            .prepare_cached("UPDATE runs SET samples = samples + ?2 WHERE number = ?1")?
            .execute(params![number, batch.samples.len()])?;
        stored.batches += 1;
        Ok(())
    }

    /// Marks how a point ended.
    pub fn close_point(
        &mut self,
        connection: &Connection,
        experiment: &str,
        point: &Point,
        closing: &Closing,
    ) -> Result<()> {
        let key = self.point(experiment, point)?.key;
        let (ending, failure) = match &closing.ending {
            Ending::TargetReached => ("target_reached", None),
            Ending::BudgetUsed => ("budget_used", None),
            Ending::Interrupted => ("interrupted", None),
            Ending::Failed(reason) => ("failed", Some(reason)),
        };
        connection
            .prepare_cached("UPDATE points SET ending = ?2, failure = ?3 WHERE key = ?1")?
            .execute(params![key, ending, failure])?;
        let mut insert = connection.prepare_cached(
            "INSERT INTO warnings (point, position, label, warning) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (position, warning) in closing.warnings.iter().enumerate() {
            insert.execute(params![key, position, warning.label(), json(warning)])?;
        }
        Ok(())
    }

    /// Marks the end of the run.
    pub fn end(&self, connection: &Connection, ended: Timestamp, interrupted: bool) -> Result<()> {
        connection.execute(
            "UPDATE runs SET ended = ?2, interrupted = ?3 WHERE number = ?1",
            params![self.number, sortable(ended), interrupted],
        )?;
        Ok(())
    }

    fn point(&mut self, experiment: &str, point: &Point) -> Result<&mut StoredPoint> {
        let stored = self.experiments.get_mut(experiment);
        stored
            .and_then(|stored| stored.points.get_mut(point))
            .ok_or_else(|| {
                Error::NotAnnounced(format!("the point ({point}) of {experiment}")).into()
            })
    }
}

fn insert_sample(
    connection: &Connection,
    batch: i64,
    position: usize,
    sample: &Sample,
) -> Result<()> {
    let row = ReadingRow::from(sample.reading);
    let usage = &sample.usage;
    connection
        .prepare_cached(
            "INSERT INTO samples (batch, position, metric, kind, work, iterations, short_ns,
                                  long_ns, wall_ns, count, p5_ns, p50_ns, p95_ns, p99_ns, value,
                                  user_ns, system_ns, minor_faults, major_faults,
                                  voluntary_switches, involuntary_switches, at_ns)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     ?18, ?19, ?20, ?21, ?22)",
        )?
        .execute(params![
            batch,
            position,
            sample.metric,
            row.kind,
            row.work,
            row.iterations,
            row.short_ns,
            row.long_ns,
            row.wall_ns,
            row.count,
            row.p5_ns,
            row.p50_ns,
            row.p95_ns,
            row.p99_ns,
            row.value,
            usage.user_ns,
            usage.system_ns,
            usage.minor_faults,
            usage.major_faults,
            usage.voluntary_switches,
            usage.involuntary_switches,
            sample.at_ns,
        ])?;
    Ok(())
}

/// The key of the run's machine, which is stored once for all of its runs.
fn machine_key(connection: &Connection, run: &Run) -> Result<i64> {
    let fingerprint = &run.header.machine_fingerprint;
    let description = json(&run.machine);
    connection.execute(
        "INSERT OR IGNORE INTO machines (fingerprint, description) VALUES (?1, ?2)",
        params![fingerprint, description],
    )?;
    Ok(connection.query_row(
        "SELECT key FROM machines WHERE fingerprint = ?1 AND description = ?2",
        params![fingerprint, description],
        |row| row.get(0),
    )?)
}

/// UTC with nine decimals: exact, and in order as text.
fn sortable(time: Timestamp) -> String {
    format!("{time:.9}")
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("validation has written it before")
}
