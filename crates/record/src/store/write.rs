//! Writes a run: as a whole, or event by event.

use super::earlier::{FullSpeeds, note};
use super::error::{Error, OrFault};
use super::open::Store;
use super::read::StoredRun;
use super::selector::{RunSelector, resolve};
use super::summary::Listing;
use super::verify::proof;
use crate::blob::encode;
use crate::checksum::{Checksum, PointChecksums};
use crate::run::{Closing, PointRecord, Run};
use instrument::experiment::Definition;
use instrument::point::Point;
use instrument::sample::Batch;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

impl Store {
    /// Stores a whole run, for example from an import, and returns its number in this store. A
    /// damaged run with the same id is replaced.
    ///
    /// # Errors
    /// [`Error::AlreadyStored`] if an intact run with this id exists, [`Error::Invalid`] if the run
    /// contains an invalid value, and if the store cannot be written. The store is then unchanged.
    pub fn insert(&mut self, run: &Run) -> Result<u64, Error> {
        run.validate()?;
        self.writing(|connection, claims| {
            if let Some(number) = number_of(connection, &run.header.id)?
                && proof(connection, number)?.is_damage()
            {
                claims.claim(number)?;
                delete(connection, number)?;
            }
            Ok(WrittenRun::insert(connection, run)?.stored.number)
        })
    }

    /// Deletes runs with everything that belongs to them, and returns their numbers, which are never
    /// reused. Deletes all or none.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Ambiguous`]; [`Error::UnderWay`] for a run that another process measures; and
    /// if the store cannot be written.
    pub fn delete(&mut self, selectors: &[RunSelector]) -> Result<Vec<u64>, Error> {
        self.writing(|connection, claims| {
            let mut numbers = Vec::new();
            for selector in selectors {
                let number = resolve(connection, selector)?;
                claims.claim(number)?;
                delete(connection, number)?;
                numbers.push(number);
            }
            Ok(numbers)
        })
    }
}

/// Deletes a run with everything that belongs to it.
fn delete(connection: &Connection, number: u64) -> OrFault<()> {
    connection.execute("DELETE FROM runs WHERE number = ?1", [number])?;
    Ok(())
}

/// The number of the run with this id.
pub(super) fn number_of(connection: &Connection, id: &str) -> OrFault<Option<u64>> {
    Ok(connection
        .query_row("SELECT number FROM runs WHERE id = ?1", [id], |row| {
            row.get(0)
        })
        .optional()?)
}

/// A run in the store that can grow. Added data must be valid.
///
/// It keeps everything but the batches in memory, with all checksums, so that a new batch updates
/// the checksums above it without reading.
#[derive(Debug)]
pub(super) struct WrittenRun {
    pub stored: StoredRun,
    samples: u64,
    full_speeds: FullSpeeds,
}

/// The positions of an experiment in its run, and of a point in the experiment.
pub(super) type PointPosition = [usize; 2];

impl WrittenRun {
    /// Stores `run` in its current state.
    pub fn insert(connection: &Connection, run: &Run) -> OrFault<Self> {
        let mut written = Self::begin(connection, run)?;
        for (experiment, record) in run.experiments.iter().enumerate() {
            let skipped = record.skipped.as_deref();
            written.add_experiment(connection, &record.definition, skipped)?;
            let points = record.points.iter().map(|record| &record.point);
            written.add_points(connection, experiment, points)?;
            for (point, record) in record.points.iter().enumerate() {
                let position = [experiment, point];
                for batch in &record.batches {
                    written.add_batch(connection, position, batch)?;
                }
                written.close_point(connection, position, record.closing.clone())?;
            }
            written.seal_experiment(connection, experiment)?;
        }
        written.seal(connection)?;
        Ok(written)
    }

    fn begin(connection: &Connection, run: &Run) -> OrFault<Self> {
        let header = &run.header;
        if let Some(number) = number_of(connection, &header.id)? {
            return Err(Error::AlreadyStored {
                id: header.id.clone(),
                number,
            }
            .into());
        }
        connection.execute(
            "INSERT INTO runs (content, id, name, started, fingerprint) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                json(header),
                header.id,
                header.name,
                sortable(header.started),
                header.machine_fingerprint,
            ],
        )?;
        let number = connection.last_insert_rowid();
        let begun = Run {
            header: header.clone(),
            machine: run.machine.clone(),
            environment: run.environment.clone(),
            storage: run.storage.clone(),
            calibration: run.calibration.clone(),
            experiments: Vec::new(),
        };
        let stored = StoredRun::begun(number.cast_unsigned(), begun);
        connection.execute(
            "INSERT INTO machines (run, content, checksum) VALUES (?1, ?2, ?3)",
            params![
                number,
                json(&run.surroundings()),
                stored.checksums.machine.bytes(),
            ],
        )?;
        Ok(Self {
            stored,
            samples: 0,
            full_speeds: FullSpeeds::default(),
        })
    }

    /// A stored run that is continued.
    pub fn reopen(mut stored: StoredRun) -> Self {
        let samples = stored.run.sample_count() as u64;
        let mut full_speeds = FullSpeeds::default();
        let experiments = stored.run.experiments.iter_mut();
        for record in experiments.flat_map(|record| &mut record.points) {
            let batches = record.batches.drain(..);
            batches.for_each(|batch| note(&mut full_speeds, &batch));
        }
        Self {
            stored,
            samples,
            full_speeds,
        }
    }

    /// Adds an experiment without points, perhaps with the reason why it could not run.
    /// [`WrittenRun::seal_experiment`] and its siblings store the checksums.
    pub fn add_experiment(
        &mut self,
        connection: &Connection,
        definition: &Definition,
        skipped: Option<&str>,
    ) -> OrFault<()> {
        let key = connection
            .prepare_cached(
                "INSERT INTO experiments (run, position, id, content) VALUES (?1, ?2, ?3, ?4)",
            )?
            .insert(params![
                self.stored.number,
                self.stored.keys.len(),
                definition.id,
                json(&(definition, skipped)),
            ])?;
        let skipped = skipped.map(str::to_owned);
        self.stored
            .add_experiment(key, definition.clone(), skipped, Checksum::MISSING);
        Ok(())
    }

    /// Adds points to an experiment, with their checksums.
    pub fn add_points<'p>(
        &mut self,
        connection: &Connection,
        experiment: usize,
        points: impl IntoIterator<Item = &'p Point>,
    ) -> OrFault<()> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO points (experiment, position, content, checksum) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for point in points {
            let record = PointRecord {
                point: point.clone(),
                batches: Vec::new(),
                closing: None,
            };
            let checksums = PointChecksums::of(&record);
            let content = json(&(point, &record.closing));
            let (key, keys) = &self.stored.keys[experiment];
            let row = params![key, keys.len(), content, checksums.point.bytes()];
            let key = insert.insert(row)?;
            self.stored.add_point(experiment, key, record, checksums);
        }
        Ok(())
    }

    /// Adds a batch to a point; [`WrittenRun::seal_all_above`] updates the checksums above it.
    pub fn add_batch(
        &mut self,
        connection: &Connection,
        position @ [experiment, point]: PointPosition,
        batch: &Batch,
    ) -> OrFault<()> {
        let key = self.key(position);
        let blob = encode(batch);
        let checksum = Checksum::of(&blob);
        let checksums = &mut self.stored.checksums.experiments[experiment].points[point].batches;
        connection
            .prepare_cached(
                "INSERT INTO batches (point, position, checksum, content) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![key, checksums.len(), checksum.bytes(), blob])?;
        checksums.push(checksum);
        connection
            .prepare_cached(
                "UPDATE points SET visits = visits + 1, wall_ns = wall_ns + ?2 WHERE key = ?1",
            )?
            .execute(params![key, batch.wall_ns])?;
        self.samples += batch.samples.len() as u64;
        note(&mut self.full_speeds, batch);
        Ok(())
    }

    /// Stores the ending of a point and its checksum; those above are updated separately, as for a
    /// batch.
    pub fn close_point(
        &mut self,
        connection: &Connection,
        position @ [experiment, point]: PointPosition,
        closing: Option<Closing>,
    ) -> OrFault<()> {
        let record = &mut self.stored.run.experiments[experiment].points[point];
        record.closing = closing;
        let content = json(&(&record.point, &record.closing));
        connection
            .prepare_cached("UPDATE points SET content = ?2 WHERE key = ?1")?
            .execute(params![self.key(position), content])?;
        self.seal_point(connection, position)
    }

    /// Updates the checksums of a point and of everything above it.
    pub fn seal_all_above(
        &mut self,
        connection: &Connection,
        position: PointPosition,
    ) -> OrFault<()> {
        self.seal_point(connection, position)?;
        self.seal_experiment(connection, position[0])?;
        self.seal(connection)
    }

    fn seal_point(
        &mut self,
        connection: &Connection,
        position @ [experiment, point]: PointPosition,
    ) -> OrFault<()> {
        let key = self.key(position);
        let record = &self.stored.run.experiments[experiment].points[point];
        let checksums = &mut self.stored.checksums.experiments[experiment].points[point];
        checksums.point = checksums.joined(record);
        connection
            .prepare_cached("UPDATE points SET checksum = ?2 WHERE key = ?1")?
            .execute(params![key, checksums.point.bytes()])?;
        Ok(())
    }

    /// Updates the checksum of an experiment.
    pub fn seal_experiment(&mut self, connection: &Connection, experiment: usize) -> OrFault<()> {
        let (key, _) = self.stored.keys[experiment];
        let record = &self.stored.run.experiments[experiment];
        let checksums = &mut self.stored.checksums.experiments[experiment];
        checksums.experiment = checksums.joined(record);
        connection
            .prepare_cached("UPDATE experiments SET checksum = ?2 WHERE key = ?1")?
            .execute(params![key, checksums.experiment.bytes()])?;
        Ok(())
    }

    /// Stores the header, the counts and the checksum of the run, and that of its entry in the list
    /// of runs.
    pub fn seal(&mut self, connection: &Connection) -> OrFault<()> {
        let StoredRun {
            number,
            run,
            checksums,
            ..
        } = &mut self.stored;
        let header = &run.header;
        checksums.run = checksums.joined(header);
        let points = run.measured().map(|record| record.points.len());
        let listing = Listing {
            number: *number,
            content: &json(header),
            id: &header.id,
            name: header.name.as_deref(),
            started: &sortable(header.started),
            fingerprint: &header.machine_fingerprint,
            experiments: run.measured().count() as u64,
            points: points.sum::<usize>() as u64,
            samples: self.samples,
            full_speeds: &json(&self.full_speeds.values().collect::<Vec<_>>()),
        };
        connection
            .prepare_cached(
                "UPDATE runs SET content = ?2, experiments = ?3, points = ?4, samples = ?5,
                                 full_speeds = ?6, checksum = ?7, listing_checksum = ?8
                 WHERE number = ?1",
            )?
            .execute(params![
                listing.number,
                listing.content,
                listing.experiments,
                listing.points,
                listing.samples,
                listing.full_speeds,
                checksums.run.bytes(),
                listing.checksum().bytes(),
            ])?;
        Ok(())
    }

    /// The position of an experiment that was added before.
    pub fn experiment(&self, id: &str) -> OrFault<usize> {
        let experiments = &mut self.stored.run.experiments.iter();
        let found = experiments.position(|record| record.definition.id == id);
        found.ok_or_else(|| Error::NotAnnounced(id.to_owned()).into())
    }

    /// The position of a point that was added before.
    pub fn position(&self, id: &str, point: &Point) -> OrFault<PointPosition> {
        let experiment = self.experiment(id)?;
        let points = &mut self.stored.run.experiments[experiment].points.iter();
        let found = points.position(|record| record.point == *point);
        found
            .map(|point| [experiment, point])
            .ok_or_else(|| Error::NotAnnounced(format!("the point ({point}) of {id}")).into())
    }

    fn key(&self, [experiment, point]: PointPosition) -> i64 {
        self.stored.keys[experiment].1[point]
    }
}

/// UTC with nine decimals: exact, and sortable as text.
fn sortable(time: Timestamp) -> String {
    format!("{time:.9}")
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("validation has written it before")
}
