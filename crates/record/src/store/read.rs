//! Reads a run.

use super::column::{blob, checksum, json};
use super::error::{Error, Fault, OrFault};
use super::open::Store;
use super::selector::{RunSelector, resolve};
use crate::blob::decode;
use crate::checksum::{Checksum, ExperimentChecksums, Part, PointChecksums, RunChecksums, check};
use crate::file::{self, ExportError};
use crate::run::{ExperimentRecord, PointRecord, Run};
use instrument::experiment::Definition;
use instrument::point::Point;
use instrument::sample::Batch;
use rusqlite::{Connection, ToSql};
use serde::de::DeserializeOwned;
use std::io::Write;

impl Store {
    /// The run that `selector` names, exactly as it was recorded or imported.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Ambiguous`]; [`Error::DamagedRun`] for a run that disagrees
    /// with its checksums; and if the store cannot be read.
    pub fn run(&self, selector: &RunSelector) -> Result<Run, Error> {
        self.checked(selector).map(|stored| stored.run)
    }

    /// Writes the run that `selector` names like [`file::export`], with its stored checksums.
    ///
    /// # Errors
    /// Those of [`Store::run`] and of [`file::export`].
    pub fn export(&self, selector: &RunSelector, output: impl Write) -> Result<(), ExportError> {
        let StoredRun { run, checksums, .. } = self.checked(selector)?;
        run.validate()?;
        file::write(&run, checksums, output)
    }

    fn checked(&self, selector: &RunSelector) -> Result<StoredRun, Error> {
        self.reading(|connection| run(connection, resolve(connection, selector)?)?.checked())
    }

    /// The secret for the marks of redacted runs, the same for all runs of the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn redaction_key(&self) -> Result<[u8; 32], Error> {
        self.reading(|connection| {
            Ok(connection.query_row("SELECT key FROM redaction", [], |row| row.get(0))?)
        })
    }
}

/// A run as it lies in the store.
#[derive(Debug)]
pub(super) struct StoredRun {
    pub number: u64,
    pub run: Run,
    pub checksums: RunChecksums,
    /// The keys of the rows of each experiment and of its points, in order.
    pub keys: Vec<(i64, Vec<i64>)>,
    /// The batches that disagree with their checksums: positions of experiment, point and batch.
    damaged: Vec<[usize; 3]>,
}

impl StoredRun {
    /// A run of which nothing but the header and the machine is stored.
    pub fn begun(number: u64, run: Run) -> Self {
        Self {
            number,
            checksums: RunChecksums::of(&run),
            run,
            keys: Vec::new(),
            damaged: Vec::new(),
        }
    }

    /// Adds an experiment, without points, whose row has this key.
    pub fn add_experiment(
        &mut self,
        key: i64,
        definition: Definition,
        skipped: Option<String>,
        experiment: Checksum,
    ) {
        self.keys.push((key, Vec::new()));
        self.run.experiments.push(ExperimentRecord {
            definition,
            skipped,
            points: Vec::new(),
        });
        self.checksums.experiments.push(ExperimentChecksums {
            experiment,
            points: Vec::new(),
        });
    }

    /// Adds a point, whose row has this key, to an experiment.
    pub fn add_point(
        &mut self,
        experiment: usize,
        key: i64,
        record: PointRecord,
        checksums: PointChecksums,
    ) {
        self.keys[experiment].1.push(key);
        self.run.experiments[experiment].points.push(record);
        self.checksums.experiments[experiment]
            .points
            .push(checksums);
    }

    /// Reads the points of the last experiment.
    fn read_points(
        &mut self,
        connection: &Connection,
        wanted: impl Fn(&Point) -> Wanted,
    ) -> OrFault<()> {
        let experiment = self.keys.len() - 1;
        let points =
            "SELECT key, content, checksum FROM points WHERE experiment = ?1 ORDER BY position";
        let mut batches = connection.prepare_cached(
            "SELECT checksum, content FROM batches WHERE point = ?1 ORDER BY position",
        )?;
        for (key, (point, closing), of_point) in rows(connection, points, self.keys[experiment].0)?
        {
            let position = self.keys[experiment].1.len();
            let wanted = wanted(&point);
            let mut record = PointRecord {
                point,
                batches: Vec::new(),
                closing,
            };
            let mut checksums = PointChecksums {
                point: of_point,
                batches: Vec::new(),
            };
            let mut rows = batches.query([key])?;
            while let Some(row) = rows.next()? {
                let checksum = checksum(row, 0)?;
                let mut batch = Batch::default();
                if wanted != Wanted::Number {
                    let blob = blob(row, 1)?;
                    if Checksum::of(blob) != checksum {
                        let number = record.batches.len();
                        self.damaged.push([experiment, position, number]);
                    } else if wanted == Wanted::All {
                        batch = decode(blob)
                            .ok_or_else(|| Fault::Damaged("a batch cannot be read".into()))?;
                    }
                }
                record.batches.push(batch);
                checksums.batches.push(checksum);
            }
            self.add_point(experiment, key, record, checksums);
        }
        Ok(())
    }

    /// The parts that disagree with their checksums. If `only` one experiment is named, the others need only be there.
    pub fn damage(&self, only: Option<&str>) -> Vec<Part> {
        check(&self.run, &self.checksums, only, |batch, _| {
            !self.damaged.contains(&batch)
        })
    }

    /// The run, if all of it agrees with its checksums.
    pub fn checked(self) -> OrFault<Self> {
        let parts = self.damage(None);
        if parts.is_empty() {
            return Ok(self);
        }
        let number = self.number;
        Err(Fault::DamagedRun { number, parts })
    }
}

/// The part of a point's batches that is of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// The proof that they agree with their checksums. They are read as empty batches.
    Proof,
    /// Their number alone. They are read as empty batches.
    Number,
}

/// A run as it was recorded.
pub(super) fn run(connection: &Connection, number: u64) -> OrFault<StoredRun> {
    read(connection, number, None, |_| Wanted::All)
}

/// A run with empty batches.
pub(super) fn outline(connection: &Connection, number: u64) -> OrFault<StoredRun> {
    read(connection, number, None, |_| Wanted::Proof)
}

/// A run as far as it is wanted: with the points of all experiments, or of `only` one.
pub(super) fn read(
    connection: &Connection,
    number: u64,
    only: Option<&str>,
    wanted: impl Fn(&Point) -> Wanted,
) -> OrFault<StoredRun> {
    let runs = "SELECT number, content, checksum FROM runs WHERE number = ?1";
    let found = rows(connection, runs, number)?.pop();
    let (_, header, run_checksum) = found.ok_or_else(|| incomplete(number))?;
    let machines = "SELECT run, content, checksum FROM machines WHERE run = ?1";
    let machine = rows(connection, machines, number)?.pop();
    let (_, surroundings, machine_checksum) = machine.ok_or_else(|| incomplete(number))?;
    let (machine, environment, storage, calibration) = surroundings;
    let begun = Run {
        header,
        machine,
        environment,
        storage,
        calibration,
        experiments: Vec::new(),
    };
    let mut stored = StoredRun::begun(number, begun);
    stored.checksums.run = run_checksum;
    stored.checksums.machine = machine_checksum;
    let experiments =
        "SELECT key, content, checksum FROM experiments WHERE run = ?1 ORDER BY position";
    for (key, (definition, skipped), checksum) in rows(connection, experiments, number)? {
        let definition: Definition = definition;
        let has_points = only.is_none_or(|only| only == definition.id);
        stored.add_experiment(key, definition, skipped, checksum);
        if has_points {
            stored.read_points(connection, &wanted)?;
        }
    }
    Ok(stored)
}

fn incomplete(number: u64) -> Fault {
    Fault::Damaged(format!("run {number} is incomplete"))
}

/// Key, content and checksum of each row that `query` finds for the owner with this key.
fn rows<T: DeserializeOwned>(
    connection: &Connection,
    query: &str,
    owner: impl ToSql,
) -> OrFault<Vec<(i64, T, Checksum)>> {
    connection
        .prepare_cached(query)?
        .query_and_then([owner], |row| {
            Ok((row.get(0)?, json(row, 1)?, checksum(row, 2)?))
        })?
        .collect()
}
