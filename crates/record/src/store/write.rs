//! Writes a run: as a whole, or event by event.

use super::claims::Claims;
use super::error::{Error, Fault, Result};
use super::open::Store;
use super::selector::{RunSelector, resolve};
use super::verify::proof;
use crate::checksum::{self, Checksum, Listing, Place};
use crate::reading::ReadingRow;
use crate::run::{Closing, Header, Run};
use instrument::experiment::Definition;
use instrument::limits::Used;
use instrument::point::Point;
use instrument::runner::Ending;
use instrument::sample::{Batch, Sample};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::Serialize;
use std::collections::HashMap;

impl Store {
    /// Stores a whole run, for example from an import, and returns its number in this store. A
    /// damaged run with the same id is replaced.
    ///
    /// # Errors
    /// [`Error::AlreadyStored`] if an intact run with this id exists, [`Error::Invalid`] if the run
    /// contains an invalid value, and if the store cannot be written. The store is then unchanged.
    pub fn insert(&mut self, run: &Run) -> std::result::Result<u64, Error> {
        run.validate()?;
        let mut insert = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(number) = number_of(&transaction, &run.header.id)?
                && proof(&transaction, &self.path, number)?.is_damage()
            {
                claim(&mut self.claims, number)?;
                delete(&transaction, number)?;
            }
            let stored = StoredRun::insert(&transaction, run)?;
            transaction.commit()?;
            Ok(stored.number)
        };
        insert().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// Deletes runs with everything that belongs to them, and returns their numbers, which are never
    /// reused. Deletes all or none.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Ambiguous`]; [`Error::UnderWay`] for a run that another process measures; and
    /// if the store cannot be written.
    pub fn delete(&mut self, selectors: &[RunSelector]) -> std::result::Result<Vec<u64>, Error> {
        let mut delete = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut numbers = Vec::new();
            for selector in selectors {
                let number = resolve(&transaction, selector)?;
                claim(&mut self.claims, number)?;
                delete(&transaction, number)?;
                numbers.push(number);
            }
            transaction.commit()?;
            Ok(numbers)
        };
        delete().map_err(|fault: Fault| fault.at(&self.path))
    }
}

/// Claims a run, if the store was opened for writing: no other store can.
pub(super) fn claim(claims: &mut Option<Claims>, number: u64) -> Result<()> {
    claims
        .as_mut()
        .map_or(Ok(()), |claims| claims.claim(number))
}

/// Deletes a run with everything that belongs to it.
fn delete(connection: &Connection, number: u64) -> Result<()> {
    connection.execute("DELETE FROM runs WHERE number = ?1", [number])?;
    connection.execute(
        "DELETE FROM machines WHERE key NOT IN (SELECT machine FROM runs)",
        [],
    )?;
    Ok(())
}

/// The number of the run with this id.
pub(super) fn number_of(connection: &Connection, id: &str) -> Result<Option<u64>> {
    Ok(connection
        .query_row("SELECT number FROM runs WHERE id = ?1", [id], |row| {
            row.get(0)
        })
        .optional()?)
}

/// A run in the store that can grow. Added data must be valid.
///
/// It keeps the checksums of all its parts in memory, so that a new batch updates the checksums
/// above it without reading.
#[derive(Debug)]
pub(super) struct StoredRun {
    pub number: u64,
    pub header: Header,
    pub machine: Checksum,
    pub experiments: HashMap<String, StoredExperiment>,
    /// The checksums of the experiments, in order.
    pub checksums: Vec<Checksum>,
    pub points: u64,
    pub samples: u64,
}

#[derive(Debug)]
pub(super) struct StoredExperiment {
    pub key: i64,
    pub position: usize,
    /// The checksum of the experiment without its points.
    pub own: Checksum,
    pub points: HashMap<Point, StoredPoint>,
    /// The checksums of the points, in order.
    pub checksums: Vec<Checksum>,
}

#[derive(Debug)]
pub(super) struct StoredPoint {
    pub key: i64,
    pub position: usize,
    /// The checksum of the point without its batches.
    pub own: Checksum,
    /// The checksums of the batches, in order.
    pub batches: Vec<Checksum>,
}

impl StoredRun {
    /// Stores `run` in its current state.
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
                stored.seal_point(connection, &definition.id, &record.point)?;
            }
            stored.seal_experiment(connection, &definition.id)?;
        }
        stored.seal(connection)?;
        Ok(stored)
    }

    fn insert_header(connection: &Connection, run: &Run) -> Result<Self> {
        let header = &run.header;
        if let Some(number) = number_of(connection, &header.id)? {
            return Err(Error::AlreadyStored {
                id: header.id.clone(),
                number,
            }
            .into());
        }
        connection.execute(
            "INSERT INTO runs (id, name, started, ended, interrupted, profile, machine, directory,
                               tags, proven, redacted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
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
                header.proven,
                header.redacted,
            ],
        )?;
        let number = connection.last_insert_rowid();
        let machine = checksum::machine(run);
        connection.execute(
            "INSERT INTO circumstances (run, version, command_line, budget_ns, seed, environment,
                                        storage, clock_resolution_ns, clock_cost_ns, checksum,
                                        limited)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
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
                machine.bytes(),
                header.limited.as_ref().map(json),
            ],
        )?;
        Ok(Self {
            number: number.cast_unsigned(),
            header: header.clone(),
            machine,
            experiments: HashMap::new(),
            checksums: Vec::new(),
            points: 0,
            samples: 0,
        })
    }

    /// Adds an experiment with its points, or with the reason why it could not run. Computes the
    /// experiment's checksum; [`StoredRun::seal`] updates the run's.
    pub fn add_experiment(
        &mut self,
        connection: &Connection,
        definition: &Definition,
        skipped: Option<&str>,
        points: &[&Point],
    ) -> Result<()> {
        let position = self.checksums.len();
        let key = connection
            .prepare_cached(
                "INSERT INTO experiments (run, position, id, definition, skipped)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .insert(params![
                self.number,
                position,
                definition.id,
                json(definition),
                skipped,
            ])?;
        let stored = StoredExperiment {
            key,
            position,
            own: checksum::experiment(&self.header.id, position, definition, skipped),
            points: HashMap::new(),
            checksums: Vec::new(),
        };
        connection
            .prepare_cached("UPDATE runs SET experiments = experiments + 1 WHERE number = ?1")?
            .execute(params![self.number])?;
        self.experiments.insert(definition.id.clone(), stored);
        self.checksums.push(Checksum::MISSING);
        self.add_points(connection, &definition.id, points.iter().copied())
    }

    /// Adds points to an experiment. Computes the experiment's checksum; [`StoredRun::seal`] updates
    /// the run's.
    pub fn add_points<'p>(
        &mut self,
        connection: &Connection,
        experiment: &str,
        points: impl IntoIterator<Item = &'p Point>,
    ) -> Result<()> {
        let (number, id) = (self.number, self.header.id.clone());
        let mut insert = connection.prepare_cached(
            "INSERT INTO points (experiment, position, levels, checksum) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let stored = self.experiment(experiment)?;
        let before = stored.checksums.len();
        for point in points {
            let place = Place {
                run: &id,
                experiment,
                point,
            };
            let position = stored.checksums.len();
            let own = checksum::point(place, position, None);
            let checksum = Checksum::joined(own, []);
            let row = params![stored.key, position, json(point), checksum.bytes()];
            let added = StoredPoint {
                key: insert.insert(row)?,
                position,
                own,
                batches: Vec::new(),
            };
            stored.checksums.push(checksum);
            stored.points.insert(point.clone(), added);
        }
        let count = stored.checksums.len() - before;
        connection
            .prepare_cached("UPDATE runs SET points = points + ?2 WHERE number = ?1")?
            .execute(params![number, count])?;
        self.points += count as u64;
        self.seal_experiment(connection, experiment)
    }

    /// Adds a batch with its checksum to a point; [`StoredRun::seal_point`] and its siblings update
    /// the checksums above.
    pub fn add_batch(
        &mut self,
        connection: &Connection,
        experiment: &str,
        point: &Point,
        batch: &Batch,
    ) -> Result<()> {
        let number = self.number;
        let id = self.header.id.clone();
        let stored = self.point(experiment, point)?;
        let place = Place {
            run: &id,
            experiment,
            point,
        };
        let checksum = checksum::batch(place, stored.batches.len(), batch);
        let around = &batch.disturbance;
        let key = connection
            .prepare_cached(
                "INSERT INTO batches (point, position, warm, cpu, started_ns, wall_ns, stolen_ns,
                                      others_ns, frequency_before_hz, frequency_after_hz,
                                      remarks, checksum, pass, full_speed_ns, full_speed)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .insert(params![
                stored.key,
                stored.batches.len(),
                batch.warm,
                batch.cpu,
                batch.started_ns,
                batch.wall_ns,
                around.stolen_ns,
                around.others_ns,
                around.frequency_hz.map(|(before, _)| before),
                around.frequency_hz.map(|(_, after)| after),
                json(&batch.remarks),
                checksum.bytes(),
                batch.pass,
                batch.full_speed_ns,
                batch.full_speed.as_ref().map(json),
            ])?;
        for (position, sample) in batch.samples.iter().enumerate() {
            insert_sample(connection, key, position, sample)?;
        }
        connection
            .prepare_cached("UPDATE runs SET samples = samples + ?2 WHERE number = ?1")?
            .execute(params![number, batch.samples.len()])?;
        stored.batches.push(checksum);
        self.samples += batch.samples.len() as u64;
        Ok(())
    }

    /// Computes the checksum of a point with this end, and returns the key of its row.
    pub fn set_closing(
        &mut self,
        experiment: &str,
        point: &Point,
        closing: Option<&Closing>,
    ) -> Result<i64> {
        let id = self.header.id.clone();
        let stored = self.point(experiment, point)?;
        let place = Place {
            run: &id,
            experiment,
            point,
        };
        stored.own = checksum::point(place, stored.position, closing);
        Ok(stored.key)
    }

    /// Stores the ending of a point. The checksums above it are updated separately, as for a batch.
    pub fn close_point(
        &mut self,
        connection: &Connection,
        experiment: &str,
        point: &Point,
        closing: &Closing,
    ) -> Result<()> {
        let key = self.set_closing(experiment, point, Some(closing))?;
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

    /// Records the resources used by the run.
    pub fn note_use(&mut self, connection: &Connection, used: Used) -> Result<()> {
        let Some(limited) = &mut self.header.limited else {
            return Ok(());
        };
        limited.used = Some(used);
        connection.execute(
            "UPDATE circumstances SET limited = ?2 WHERE run = ?1",
            params![self.number, json(limited)],
        )?;
        self.seal(connection)
    }

    /// Stores the end time of the run.
    pub fn end(
        &mut self,
        connection: &Connection,
        ended: Timestamp,
        interrupted: bool,
    ) -> Result<()> {
        connection.execute(
            "UPDATE runs SET ended = ?2, interrupted = ?3 WHERE number = ?1",
            params![self.number, sortable(ended), interrupted],
        )?;
        self.header.ended = Some(ended);
        self.header.interrupted = interrupted;
        self.seal(connection)
    }

    /// Updates the checksums of a point and of everything above it.
    pub fn seal_all_above(
        &mut self,
        connection: &Connection,
        experiment: &str,
        point: &Point,
    ) -> Result<()> {
        self.seal_point(connection, experiment, point)?;
        self.seal_experiment(connection, experiment)?;
        self.seal(connection)
    }

    pub fn seal_point(
        &mut self,
        connection: &Connection,
        experiment: &str,
        point: &Point,
    ) -> Result<()> {
        let stored = self.point(experiment, point)?;
        let (key, position) = (stored.key, stored.position);
        let checksum = Checksum::joined(stored.own, stored.batches.iter().copied());
        connection
            .prepare_cached("UPDATE points SET checksum = ?2 WHERE key = ?1")?
            .execute(params![key, checksum.bytes()])?;
        self.experiment(experiment)?.checksums[position] = checksum;
        Ok(())
    }

    pub fn seal_experiment(&mut self, connection: &Connection, experiment: &str) -> Result<()> {
        let stored = self.experiment(experiment)?;
        let (key, position) = (stored.key, stored.position);
        let checksum = Checksum::joined(stored.own, stored.checksums.iter().copied());
        connection
            .prepare_cached("UPDATE experiments SET checksum = ?2 WHERE key = ?1")?
            .execute(params![key, checksum.bytes()])?;
        self.checksums[position] = checksum;
        Ok(())
    }

    /// Updates the checksums of the run and of its entry in the list of runs, from those of its
    /// experiments.
    pub fn seal(&self, connection: &Connection) -> Result<()> {
        let parts = [self.machine].into_iter();
        let parts = parts.chain(self.checksums.iter().copied());
        let checksum = Checksum::joined(checksum::header(&self.header), parts);
        connection
            .prepare_cached(
                "UPDATE runs SET checksum = ?2, listing_checksum = ?3 WHERE number = ?1",
            )?
            .execute(params![
                self.number,
                checksum.bytes(),
                self.listing().checksum().bytes()
            ])?;
        Ok(())
    }

    fn listing(&self) -> Listing<'_> {
        let header = &self.header;
        Listing {
            number: self.number,
            id: &header.id,
            name: header.name.as_deref(),
            started: header.started,
            ended: header.ended,
            interrupted: header.interrupted,
            profile: header.profile,
            fingerprint: &header.machine_fingerprint,
            directory: &header.directory,
            tags: &header.tags,
            experiments: self.checksums.len() as u64,
            points: self.points,
            samples: self.samples,
        }
    }

    fn experiment(&mut self, experiment: &str) -> Result<&mut StoredExperiment> {
        let stored = self.experiments.get_mut(experiment);
        stored.ok_or_else(|| Error::NotAnnounced(experiment.to_owned()).into())
    }

    pub fn point(&mut self, experiment: &str, point: &Point) -> Result<&mut StoredPoint> {
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
    let row = ReadingRow::from(&sample.reading);
    let usage = &sample.usage;
    connection
        .prepare_cached(
            "INSERT INTO samples (batch, position, metric, kind, work, iterations, wall_ns, count,
                                  p5_ns, p50_ns, p95_ns, p99_ns, value, user_ns, system_ns,
                                  minor_faults, major_faults, voluntary_switches,
                                  involuntary_switches, at_ns, legs, reference_ns, around)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     ?18, ?19, ?20, ?21, ?22, ?23)",
        )?
        .execute(params![
            batch,
            position,
            sample.metric,
            row.kind,
            row.work,
            row.iterations,
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
            row.legs,
            row.reference_ns,
            row.around.as_ref().map(json),
        ])?;
    Ok(())
}

/// The key of the run's machine, which all its runs share.
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

/// UTC with nine decimals: exact, and sortable as text.
fn sortable(time: Timestamp) -> String {
    format!("{time:.9}")
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("validation has written it before")
}
