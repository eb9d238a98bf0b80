//! What a listing tells of each run.

use super::error::{Error, Fault, Result};
use super::open::Store;
use super::read::{checksum, ended, json, profile, timestamp};
use crate::checksum::{Checksum, Listing, Part};
use instrument::plan::Profile;
use jiff::Timestamp;
use rusqlite::{Connection, Params, Row};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a listing tells of a run. The first fields are those of its [`Header`](crate::Header).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// Its number in this store, from 1 in the order of recording or import.
    pub number: u64,
    /// Names the run in all the world.
    pub id: String,
    /// The name that the user gave it.
    pub name: Option<String>,
    /// When it started.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// When it ended; `None` for a run that is under way or was cut off.
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
    /// Whether someone stopped it before its end.
    pub interrupted: bool,
    /// How long and how precise.
    pub profile: Profile,
    /// Names the machine.
    pub machine_fingerprint: String,
    /// Where its scratch files went.
    pub directory: PathBuf,
    /// What else the user wanted to remember of it.
    pub tags: BTreeMap<String, String>,
    /// Number of experiments that were begun or skipped.
    pub experiments: u64,
    /// Number of their points, those that were never reached included.
    pub points: u64,
    /// Number of samples.
    pub samples: u64,
    /// Whether this entry is not as it was written: nothing of it can be relied on but the number.
    pub damaged: bool,
}

/// To SQLite, a negative limit is none.
pub(super) const ALL: i64 = -1;

impl Store {
    /// All runs, the latest to start first. No sample is read.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn runs(&self) -> std::result::Result<Vec<RunSummary>, Error> {
        summaries(&self.connection, "TRUE", ALL, ()).map_err(|fault| fault.at(&self.path))
    }

    /// The runs without an end, the latest to start first: under way in some process, or cut off.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn unfinished(&self) -> std::result::Result<Vec<RunSummary>, Error> {
        summaries(&self.connection, "ended IS NULL", ALL, ()).map_err(|fault| fault.at(&self.path))
    }
}

/// The newest `limit` runs for which `condition` holds, the latest to start first.
pub(super) fn summaries(
    connection: &Connection,
    condition: &str,
    limit: i64,
    parameters: impl Params,
) -> Result<Vec<RunSummary>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT number, runs.id, name, started, ended, interrupted, profile, fingerprint,
                directory, tags, experiments, points, samples, listing_checksum
         FROM runs JOIN machines ON machines.key = runs.machine
         WHERE {condition} ORDER BY started DESC, number DESC LIMIT {limit}"
    ))?;
    let read = statement.query_and_then(parameters, |row| {
        let number = row.get("number")?;
        summary(row, number).map_err(|fault| match fault {
            Fault::Damaged(_) => Fault::DamagedRun {
                number,
                parts: vec![Part::Listing],
            },
            other => other,
        })
    })?;
    read.collect()
}

fn summary(row: &Row<'_>, number: u64) -> Result<RunSummary> {
    let mut summary = RunSummary {
        number,
        id: row.get("id")?,
        name: row.get("name")?,
        started: timestamp(&row.get::<_, String>("started")?)?,
        ended: ended(row)?,
        interrupted: row.get("interrupted")?,
        profile: profile(row.get("profile")?)?,
        machine_fingerprint: row.get("fingerprint")?,
        directory: row.get::<_, String>("directory")?.into(),
        tags: json(row, "tags")?,
        experiments: row.get("experiments")?,
        points: row.get("points")?,
        samples: row.get("samples")?,
        damaged: false,
    };
    let stored = checksum(row, "listing_checksum")?;
    summary.damaged = stored != Checksum::MISSING && stored != summary.listing().checksum();
    Ok(summary)
}

impl RunSummary {
    fn listing(&self) -> Listing<'_> {
        Listing {
            number: self.number,
            id: &self.id,
            name: self.name.as_deref(),
            started: self.started,
            ended: self.ended,
            interrupted: self.interrupted,
            profile: self.profile,
            fingerprint: &self.machine_fingerprint,
            directory: &self.directory,
            tags: &self.tags,
            experiments: self.experiments,
            points: self.points,
            samples: self.samples,
        }
    }
}
