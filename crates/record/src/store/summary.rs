//! The list of runs.

use super::column::{checksum, ended, json, profile, timestamp};
use super::error::{Error, Fault, Result};
use super::open::Store;
use crate::checksum::{Listing, Part};
use instrument::plan::Profile;
use jiff::Timestamp;
use rusqlite::{Connection, Params, Row};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A run's entry in the list of runs. The first fields are those of its [`Header`](crate::Header).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// The run's number in this store, from 1 in the order of recording or import.
    pub number: u64,
    /// Globally unique identifier of the run.
    pub id: String,
    /// The user's name for the run.
    pub name: Option<String>,
    /// Start time.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// End time; `None` for a run that is in progress or was cut off.
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
    /// True if a user stopped the run before its end.
    pub interrupted: bool,
    /// The profile, which sets duration and precision.
    pub profile: Profile,
    /// Identifier of the machine.
    pub machine_fingerprint: String,
    /// The directory of the run's scratch files.
    pub directory: PathBuf,
    /// The user's tags of the run: keys and values.
    pub tags: BTreeMap<String, String>,
    /// Number of experiments that were started or skipped.
    pub experiments: u64,
    /// Number of their points, including those never reached.
    pub points: u64,
    /// Number of samples.
    pub samples: u64,
    /// True if this entry differs from what was written: only the number can be relied on.
    pub damaged: bool,
}

/// SQLite takes a negative limit as no limit.
pub(super) const ALL: i64 = -1;

impl Store {
    /// All runs, the latest start first. Reads no samples.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn runs(&self) -> std::result::Result<Vec<RunSummary>, Error> {
        summaries(&self.connection, "TRUE", ALL, ()).map_err(|fault| fault.at(&self.path))
    }

    /// The runs without an end time, the latest start first: in progress in some process, or cut
    /// off.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn unfinished(&self) -> std::result::Result<Vec<RunSummary>, Error> {
        summaries(&self.connection, "ended IS NULL", ALL, ()).map_err(|fault| fault.at(&self.path))
    }
}

/// The newest `limit` runs that meet `condition`, the latest start first.
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
    summary.damaged = stored != summary.listing().checksum();
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
