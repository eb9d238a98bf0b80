//! Reading a run.

use super::error::{Error, Fault, Result};
use super::open::Store;
use super::selector::{RunSelector, resolve};
use crate::reading::ReadingRow;
use crate::run::{Closing, ExperimentRecord, Header, PointRecord, Run};
use instrument::plan::Profile;
use instrument::runner::Ending;
use instrument::sample::{Batch, Disturbance, Sample};
use jiff::Timestamp;
use platform::clock::Calibration;
use platform::usage::Usage;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;

impl Store {
    /// The run that `selector` names, exactly as it was recorded or imported.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Ambiguous`], and where the store cannot be read.
    pub fn run(&self, selector: &RunSelector) -> std::result::Result<Run, Error> {
        let read = || {
            // One transaction: another process may be recording into this very run.
            let transaction = self.connection.unchecked_transaction()?;
            let number = resolve(&transaction, selector)?;
            run(&transaction, number)
        };
        read().map_err(|fault: Fault| fault.at(&self.path))
    }
}

fn run(connection: &Connection, number: u64) -> Result<Run> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name, started, ended, interrupted, profile, directory, tags, fingerprint,
                description, version, command_line, budget_ns, seed, environment, storage,
                clock_resolution_ns, clock_cost_ns
         FROM runs
         JOIN machines ON machines.key = runs.machine
         JOIN circumstances ON circumstances.run = runs.number
         WHERE number = ?1",
    )?;
    let mut rows = statement.query([number])?;
    let row = rows
        .next()?
        .ok_or_else(|| Fault::Damaged(format!("run {number} is incomplete")))?;
    Ok(Run {
        header: Header {
            id: row.get("id")?,
            name: row.get("name")?,
            started: timestamp(&row.get::<_, String>("started")?)?,
            ended: row
                .get::<_, Option<String>>("ended")?
                .as_deref()
                .map(timestamp)
                .transpose()?,
            interrupted: row.get("interrupted")?,
            profile: profile(row.get("profile")?)?,
            directory: row.get::<_, String>("directory")?.into(),
            tags: json(row, "tags")?,
            machine_fingerprint: row.get("fingerprint")?,
            version: row.get("version")?,
            command_line: json(row, "command_line")?,
            budget_ns: row.get("budget_ns")?,
            seed: seed(&row.get::<_, String>("seed")?)?,
        },
        machine: json(row, "description")?,
        environment: json(row, "environment")?,
        storage: json(row, "storage")?,
        calibration: Calibration {
            resolution_ns: row.get("clock_resolution_ns")?,
            cost_ns: row.get("clock_cost_ns")?,
        },
        experiments: experiments(connection, number)?,
    })
}

fn experiments(connection: &Connection, run: u64) -> Result<Vec<ExperimentRecord>> {
    connection
        .prepare_cached(
            "SELECT key, definition, skipped FROM experiments WHERE run = ?1 ORDER BY position",
        )?
        .query_and_then([run], |row| {
            Ok(ExperimentRecord {
                definition: json(row, "definition")?,
                skipped: row.get("skipped")?,
                points: points(connection, row.get("key")?)?,
            })
        })?
        .collect()
}

fn points(connection: &Connection, experiment: i64) -> Result<Vec<PointRecord>> {
    connection
        .prepare_cached(
            "SELECT key, levels, ending, failure FROM points WHERE experiment = ?1
             ORDER BY position",
        )?
        .query_and_then([experiment], |row| {
            let key = row.get("key")?;
            Ok(PointRecord {
                point: json(row, "levels")?,
                batches: batches(connection, key, None)?,
                closing: closing(connection, key, row)?,
            })
        })?
        .collect()
}

fn closing(connection: &Connection, point: i64, row: &Row<'_>) -> Result<Option<Closing>> {
    let ending: Option<String> = row.get("ending")?;
    let ending = match ending.as_deref() {
        None => return Ok(None),
        Some("target_reached") => Ending::TargetReached,
        Some("budget_used") => Ending::BudgetUsed,
        Some("interrupted") => Ending::Interrupted,
        Some("failed") => Ending::Failed(row.get("failure")?),
        Some(unknown) => return Err(Fault::Damaged(format!("unknown ending '{unknown}'"))),
    };
    let warnings = connection
        .prepare_cached("SELECT warning FROM warnings WHERE point = ?1 ORDER BY position")?
        .query_and_then([point], |row| json(row, "warning"))?
        .collect::<Result<_>>()?;
    Ok(Some(Closing { ending, warnings }))
}

/// What was measured at a point: all of it, or the samples of one metric.
pub(super) fn batches(
    connection: &Connection,
    point: i64,
    metric: Option<&str>,
) -> Result<Vec<Batch>> {
    connection
        .prepare_cached(
            "SELECT key, warm, cpu, started_ns, wall_ns, stolen_ns, others_ns, frequency_before_hz,
                    frequency_after_hz, remarks
             FROM batches WHERE point = ?1 ORDER BY position",
        )?
        .query_and_then([point], |row| {
            // By position, as for samples.
            let before: Option<f64> = row.get(7)?;
            Ok(Batch {
                samples: samples(connection, row.get(0)?, metric)?,
                remarks: json(row, "remarks")?,
                warm: row.get(1)?,
                cpu: row.get(2)?,
                started_ns: row.get(3)?,
                wall_ns: row.get(4)?,
                disturbance: Disturbance {
                    stolen_ns: row.get(5)?,
                    others_ns: row.get(6)?,
                    frequency_hz: before.zip(row.get(8)?),
                },
            })
        })?
        .collect()
}

fn samples(connection: &Connection, batch: i64, metric: Option<&str>) -> Result<Vec<Sample>> {
    connection
        .prepare_cached(
            "SELECT metric, kind, work, iterations, short_ns, long_ns, wall_ns, count, p5_ns,
                    p50_ns, p95_ns, p99_ns, value, user_ns, system_ns, minor_faults, major_faults,
                    voluntary_switches, involuntary_switches, at_ns
             FROM samples WHERE batch = ?1 AND (?2 IS NULL OR metric = ?2) ORDER BY position",
        )?
        .query_and_then((batch, metric), sample)?
        .collect()
}

/// By position: a run has very many, and columns found by name are compared text by text.
fn sample(row: &Row<'_>) -> Result<Sample> {
    let reading = ReadingRow {
        kind: row.get(1)?,
        work: row.get(2)?,
        iterations: row.get(3)?,
        short_ns: row.get(4)?,
        long_ns: row.get(5)?,
        wall_ns: row.get(6)?,
        count: row.get(7)?,
        p5_ns: row.get(8)?,
        p50_ns: row.get(9)?,
        p95_ns: row.get(10)?,
        p99_ns: row.get(11)?,
        value: row.get(12)?,
    };
    let usage = Usage {
        user_ns: row.get(13)?,
        system_ns: row.get(14)?,
        minor_faults: row.get(15)?,
        major_faults: row.get(16)?,
        voluntary_switches: row.get(17)?,
        involuntary_switches: row.get(18)?,
    };
    Ok(Sample {
        metric: row.get(0)?,
        reading: reading
            .reading()
            .ok_or_else(|| Fault::Damaged(format!("a sample is no '{}'", reading.kind)))?,
        usage,
        at_ns: row.get(19)?,
    })
}

/// The value that is stored as JSON in a column.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(rusqlite::Error::from)?;
    serde_json::from_str(text).map_err(|error| Fault::Damaged(format!("{column}: {error}")))
}

pub(super) fn timestamp(text: &str) -> Result<Timestamp> {
    text.parse()
        .map_err(|error| Fault::Damaged(format!("time '{text}': {error}")))
}

pub(super) fn profile(name: String) -> Result<Profile> {
    serde_json::from_value(name.into()).map_err(|error| Fault::Damaged(format!("profile: {error}")))
}

fn seed(text: &str) -> Result<u64> {
    text.parse()
        .map_err(|error| Fault::Damaged(format!("seed '{text}': {error}")))
}
