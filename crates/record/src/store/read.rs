//! Reads a run.

use super::column::{checksum, ended, json, optional_json, profile, seed, timestamp};
use super::error::{Error, Fault, Result};
use super::open::Store;
use super::selector::{RunSelector, resolve};
use crate::checksum::{Checksum, ExperimentChecksums, PointChecksums, RunChecksums, check};
use crate::file::{self, ExportError};
use crate::reading::ReadingRow;
use crate::run::{Closing, ExperimentRecord, Header, PointRecord, Run};
use instrument::clock::Calibration;
use instrument::point::Point;
use instrument::runner::Ending;
use instrument::sample::{Batch, Disturbance, Sample};
use platform::usage::Usage;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::io::Write;

impl Store {
    /// The run that `selector` names, exactly as it was recorded or imported.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Ambiguous`]; [`Error::DamagedRun`] for a run that disagrees
    /// with its checksums; and if the store cannot be read.
    pub fn run(&self, selector: &RunSelector) -> std::result::Result<Run, Error> {
        self.checked(selector).map(|(run, _)| run)
    }

    /// Writes the run that `selector` names like [`file::export`], with its stored checksums.
    ///
    /// # Errors
    /// Those of [`Store::run`] and of [`file::export`].
    pub fn export(
        &self,
        selector: &RunSelector,
        output: impl Write,
    ) -> std::result::Result<(), ExportError> {
        let (run, checksums) = self.checked(selector)?;
        run.validate()?;
        file::write(&run, checksums, output)
    }

    /// The run that `selector` names, and its checksums, which agree with it.
    fn checked(&self, selector: &RunSelector) -> std::result::Result<(Run, RunChecksums), Error> {
        let read = || {
            // One transaction, because another process may be recording this very run.
            let transaction = self.connection.unchecked_transaction()?;
            let number = resolve(&transaction, selector)?;
            checked(&transaction, number)
        };
        read().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// The secret for the marks of redacted runs, the same for all runs of the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn redaction_key(&self) -> std::result::Result<[u8; 32], Error> {
        let read = || {
            let key = self
                .connection
                .query_row("SELECT key FROM redaction", [], |row| row.get(0));
            Ok(key?)
        };
        read().map_err(|fault: Fault| fault.at(&self.path))
    }
}

/// The run and its checksums, which agree with it.
pub(super) fn checked(connection: &Connection, number: u64) -> Result<(Run, RunChecksums)> {
    let (run, checksums) = run(connection, number)?;
    let parts = check(&run, &checksums);
    if parts.is_empty() {
        Ok((run, checksums))
    } else {
        Err(Fault::DamagedRun { number, parts })
    }
}

/// A run and its stored checksums.
pub(super) fn run(connection: &Connection, number: u64) -> Result<(Run, RunChecksums)> {
    read(connection, number, batches)
}

/// A run without its measurements: each point that was measured has one batch, which is empty.
pub(super) fn outline(connection: &Connection, number: u64) -> Result<Run> {
    read(connection, number, empty_batch).map(|(run, _)| run)
}

/// Reads the batches of the point with this key, and their checksums.
type ReadBatches = fn(&Connection, i64) -> Result<(Vec<Batch>, Vec<Checksum>)>;

fn read(
    connection: &Connection,
    number: u64,
    read_batches: ReadBatches,
) -> Result<(Run, RunChecksums)> {
    let (header, run_checksum) = header(connection, number)?;
    let mut statement = connection.prepare_cached(
        "SELECT description, environment, storage, clock_resolution_ns, clock_cost_ns,
                circumstances.checksum
         FROM runs
         JOIN machines ON machines.key = runs.machine
         JOIN circumstances ON circumstances.run = runs.number
         WHERE number = ?1",
    )?;
    let mut rows = statement.query([number])?;
    let row = rows.next()?.ok_or_else(|| incomplete(number))?;
    let (experiments, experiment_checksums) = experiments(connection, number, read_batches)?;
    let run = Run {
        header,
        machine: json(row, "description")?,
        environment: json(row, "environment")?,
        storage: json(row, "storage")?,
        calibration: Calibration {
            resolution_ns: row.get("clock_resolution_ns")?,
            cost_ns: row.get("clock_cost_ns")?,
        },
        experiments,
    };
    let checksums = RunChecksums {
        run: run_checksum,
        machine: checksum(row, "checksum")?,
        experiments: experiment_checksums,
    };
    Ok((run, checksums))
}

/// The header and checksum of the run.
pub(super) fn header(connection: &Connection, number: u64) -> Result<(Header, Checksum)> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name, started, ended, interrupted, profile, directory, tags, fingerprint,
                version, command_line, budget_ns, seed, proven, limited, redacted, runs.checksum
         FROM runs
         JOIN machines ON machines.key = runs.machine
         JOIN circumstances ON circumstances.run = runs.number
         WHERE number = ?1",
    )?;
    let mut rows = statement.query([number])?;
    let row = rows.next()?.ok_or_else(|| incomplete(number))?;
    let header = Header {
        id: row.get("id")?,
        name: row.get("name")?,
        started: timestamp(&row.get::<_, String>("started")?)?,
        ended: ended(row)?,
        interrupted: row.get("interrupted")?,
        profile: profile(row.get("profile")?)?,
        directory: row.get::<_, String>("directory")?.into(),
        tags: json(row, "tags")?,
        machine_fingerprint: row.get("fingerprint")?,
        version: row.get("version")?,
        command_line: json(row, "command_line")?,
        budget_ns: row.get("budget_ns")?,
        seed: seed(&row.get::<_, String>("seed")?)?,
        proven: row.get("proven")?,
        limited: match row.get_ref("limited")? {
            ValueRef::Null => None,
            _ => Some(json(row, "limited")?),
        },
        redacted: row.get("redacted")?,
    };
    Ok((header, checksum(row, "checksum")?))
}

fn incomplete(number: u64) -> Fault {
    Fault::Damaged(format!("run {number} is incomplete"))
}

fn experiments(
    connection: &Connection,
    run: u64,
    read_batches: ReadBatches,
) -> Result<(Vec<ExperimentRecord>, Vec<ExperimentChecksums>)> {
    connection
        .prepare_cached(
            "SELECT key, definition, skipped, checksum FROM experiments WHERE run = ?1
             ORDER BY position",
        )?
        .query_and_then([run], |row| {
            let (points, point_checksums) = points(connection, row.get("key")?, read_batches)?;
            let record = ExperimentRecord {
                definition: json(row, "definition")?,
                skipped: row.get("skipped")?,
                points,
            };
            let checksums = ExperimentChecksums {
                experiment: checksum(row, "checksum")?,
                points: point_checksums,
            };
            Ok((record, checksums))
        })?
        .collect()
}

fn points(
    connection: &Connection,
    experiment: i64,
    read_batches: ReadBatches,
) -> Result<(Vec<PointRecord>, Vec<PointChecksums>)> {
    connection
        .prepare_cached(
            "SELECT key, levels, ending, failure, checksum FROM points WHERE experiment = ?1
             ORDER BY position",
        )?
        .query_and_then([experiment], |row| {
            let key = row.get("key")?;
            let batches = read_batches(connection, key)?;
            point_of(connection, key, json(row, "levels")?, batches, row)
        })?
        .collect()
}

/// The point in `row` with its batches, and its checksums.
pub(super) fn point(
    connection: &Connection,
    key: i64,
    point: Point,
    row: &Row<'_>,
) -> Result<(PointRecord, PointChecksums)> {
    point_of(connection, key, point, batches(connection, key)?, row)
}

fn point_of(
    connection: &Connection,
    key: i64,
    point: Point,
    (batches, batch_checksums): (Vec<Batch>, Vec<Checksum>),
    row: &Row<'_>,
) -> Result<(PointRecord, PointChecksums)> {
    let record = PointRecord {
        point,
        batches,
        closing: closing(connection, key, row)?,
    };
    let checksums = PointChecksums {
        point: checksum(row, "checksum")?,
        batches: batch_checksums,
    };
    Ok((record, checksums))
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

fn batches(connection: &Connection, point: i64) -> Result<(Vec<Batch>, Vec<Checksum>)> {
    connection
        .prepare_cached(
            "SELECT key, warm, cpu, started_ns, wall_ns, stolen_ns, others_ns, frequency_before_hz,
                    frequency_after_hz, remarks, checksum, pass, full_speed_ns, full_speed
             FROM batches WHERE point = ?1 ORDER BY position",
        )?
        .query_and_then([point], |row| {
            // Columns are read by position, as for samples.
            let before: Option<f64> = row.get(7)?;
            let batch = Batch {
                samples: samples(connection, row.get(0)?)?,
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
                pass: row.get(11)?,
                full_speed_ns: row.get(12)?,
                full_speed: optional_json(row, 13)?,
            };
            Ok((batch, checksum(row, 10)?))
        })?
        .collect()
}

fn empty_batch(connection: &Connection, point: i64) -> Result<(Vec<Batch>, Vec<Checksum>)> {
    let is_measured: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM batches WHERE point = ?1)")?
        .query_row([point], |row| row.get(0))?;
    let batches = is_measured.then(Batch::default);
    Ok((batches.into_iter().collect(), Vec::new()))
}

fn samples(connection: &Connection, batch: i64) -> Result<Vec<Sample>> {
    connection
        .prepare_cached(
            "SELECT metric, kind, work, iterations, wall_ns, count, p5_ns, p50_ns, p95_ns, p99_ns,
                    value, user_ns, system_ns, minor_faults, major_faults, voluntary_switches,
                    involuntary_switches, at_ns, legs, reference_ns, around
             FROM samples WHERE batch = ?1 ORDER BY position",
        )?
        .query_and_then([batch], sample)?
        .collect()
}

/// Columns are read by position: looking them up by name compares strings for each of a great many
/// samples.
fn sample(row: &Row<'_>) -> Result<Sample> {
    let reading = ReadingRow {
        kind: row.get(1)?,
        work: row.get(2)?,
        iterations: row.get(3)?,
        wall_ns: row.get(4)?,
        count: row.get(5)?,
        p5_ns: row.get(6)?,
        p50_ns: row.get(7)?,
        p95_ns: row.get(8)?,
        p99_ns: row.get(9)?,
        value: row.get(10)?,
        legs: row.get(18)?,
        reference_ns: row.get(19)?,
        around: optional_json(row, 20)?,
    };
    let usage = Usage {
        user_ns: row.get(11)?,
        system_ns: row.get(12)?,
        minor_faults: row.get(13)?,
        major_faults: row.get(14)?,
        voluntary_switches: row.get(15)?,
        involuntary_switches: row.get(16)?,
    };
    Ok(Sample {
        metric: row.get(0)?,
        reading: reading
            .reading()
            .ok_or_else(|| Fault::Damaged(format!("a sample is no '{}'", reading.kind)))?,
        usage,
        at_ns: row.get(17)?,
    })
}
