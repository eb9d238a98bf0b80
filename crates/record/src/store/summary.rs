//! The list of runs.

use super::column::{checksum, json};
use super::error::{Error, Fault, OrFault};
use super::open::Store;
use crate::checksum::{Checksum, Part};
use crate::run::Header;
use instrument::plan::Profile;
use instrument::sample::FullSpeed;
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
    pub fn runs(&self) -> Result<Vec<RunSummary>, Error> {
        self.reading(|connection| summaries(connection, "TRUE", ALL, ()))
    }

    /// The runs without an end time, the latest start first: in progress in some process, or cut
    /// off.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn unfinished(&self) -> Result<Vec<RunSummary>, Error> {
        let mut runs = self.runs()?;
        runs.retain(|run| run.ended.is_none());
        Ok(runs)
    }
}

/// A run's entry in the list of runs, and what later runs use of it.
pub(super) struct Entry {
    pub summary: RunSummary,
    pub is_limited: bool,
    /// By the type of the core.
    pub full_speeds: Vec<FullSpeed>,
}

/// The newest `limit` runs that meet `condition`, the latest start first.
pub(super) fn summaries(
    connection: &Connection,
    condition: &str,
    limit: i64,
    parameters: impl Params,
) -> OrFault<Vec<RunSummary>> {
    let entries = entries(connection, condition, limit, parameters)?;
    Ok(entries.into_iter().map(|entry| entry.summary).collect())
}

/// As [`summaries`].
pub(super) fn entries(
    connection: &Connection,
    condition: &str,
    limit: i64,
    parameters: impl Params,
) -> OrFault<Vec<Entry>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT number, content, id, name, started, fingerprint, experiments, points, samples,
                full_speeds, listing_checksum
         FROM runs WHERE {condition} ORDER BY started DESC, number DESC LIMIT {limit}"
    ))?;
    let read = statement.query_and_then(parameters, |row| {
        let number = row.get(0)?;
        entry(row, number).map_err(|fault| match fault {
            Fault::Damaged(_) => Fault::DamagedRun {
                number,
                parts: vec![Part::Listing],
            },
            other => other,
        })
    })?;
    read.collect()
}

fn entry(row: &Row<'_>, number: u64) -> OrFault<Entry> {
    let header: Header = json(row, 1)?;
    let text = |column| row.get::<_, String>(column);
    let name: Option<String> = row.get(3)?;
    let listing = Listing {
        number,
        content: &text(1)?,
        id: &text(2)?,
        name: name.as_deref(),
        started: &text(4)?,
        fingerprint: &text(5)?,
        experiments: row.get(6)?,
        points: row.get(7)?,
        samples: row.get(8)?,
        full_speeds: &text(9)?,
    };
    let damaged = checksum(row, 10)? != listing.checksum();
    let is_limited = header.limited.is_some();
    let summary = RunSummary {
        number,
        id: header.id,
        name: header.name,
        started: header.started,
        ended: header.ended,
        interrupted: header.interrupted,
        profile: header.profile,
        machine_fingerprint: header.machine_fingerprint,
        directory: header.directory,
        tags: header.tags,
        experiments: listing.experiments,
        points: listing.points,
        samples: listing.samples,
        damaged,
    };
    Ok(Entry {
        summary,
        is_limited,
        full_speeds: json(row, 9)?,
    })
}

/// A run's entry in the list of runs: all columns of its row. It has its own checksum because
/// listing runs reads nothing else.
#[derive(Serialize)]
pub(super) struct Listing<'l> {
    pub number: u64,
    pub content: &'l str,
    pub id: &'l str,
    pub name: Option<&'l str>,
    pub started: &'l str,
    pub fingerprint: &'l str,
    pub experiments: u64,
    pub points: u64,
    pub samples: u64,
    pub full_speeds: &'l str,
}

impl Listing<'_> {
    pub fn checksum(&self) -> Checksum {
        Checksum::of_json(self)
    }
}
