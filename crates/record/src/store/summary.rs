//! What a listing tells of each run.

use super::error::{Error, Result};
use super::open::Store;
use super::read::{json, profile, timestamp};
use instrument::plan::Profile;
use jiff::Timestamp;
use rusqlite::{Params, Row};
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
}

/// To SQLite, a negative limit is none.
pub(super) const ALL: i64 = -1;

impl Store {
    /// All runs, the latest to start first. No sample is read.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn runs(&self) -> std::result::Result<Vec<RunSummary>, Error> {
        self.summaries("TRUE", ALL, ())
            .map_err(|fault| fault.at(&self.path))
    }

    /// The runs without an end, the latest to start first: under way in some process, or cut off.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn unfinished(&self) -> std::result::Result<Vec<RunSummary>, Error> {
        self.summaries("ended IS NULL", ALL, ())
            .map_err(|fault| fault.at(&self.path))
    }

    /// The newest `limit` runs for which `condition` holds, the latest to start first.
    pub(super) fn summaries(
        &self,
        condition: &str,
        limit: i64,
        parameters: impl Params,
    ) -> Result<Vec<RunSummary>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT number, runs.id, name, started, ended, interrupted, profile, fingerprint,
                    directory, tags, experiments, points, samples
             FROM runs JOIN machines ON machines.key = runs.machine
             WHERE {condition} ORDER BY started DESC, number DESC LIMIT {limit}"
        ))?;
        statement.query_and_then(parameters, summary)?.collect()
    }
}

fn summary(row: &Row<'_>) -> Result<RunSummary> {
    Ok(RunSummary {
        number: row.get("number")?,
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
        machine_fingerprint: row.get("fingerprint")?,
        directory: row.get::<_, String>("directory")?.into(),
        tags: json(row, "tags")?,
        experiments: row.get("experiments")?,
        points: row.get("points")?,
        samples: row.get("samples")?,
    })
}
