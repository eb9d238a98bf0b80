//! Verifies stored runs.

use super::error::{Error, OrFault};
use super::open::Store;
use super::read::run;
use super::selector::{RunSelector, resolve};
use super::summary::{ALL, summaries};
use crate::checksum::{Part, Proof};
use crate::run::Run;
use rusqlite::{Connection, OptionalExtension};
use schemars::JsonSchema;
use serde::Serialize;

/// A verified run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifiedRun {
    /// The run's number in the store.
    pub number: u64,
    /// The run's name, if it can be read.
    pub name: Option<String>,
    /// The result.
    #[serde(flatten)]
    pub proof: Proof,
}

/// The result of [`Store::verify`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verification {
    /// SQLite's findings about the structure of the file.
    pub structure: Vec<String>,
    /// The requested runs, by number.
    pub runs: Vec<VerifiedRun>,
}

impl Verification {
    /// True if damage was found.
    pub fn has_damage(&self) -> bool {
        !self.structure.is_empty() || self.runs.iter().any(|run| run.proof.is_damage())
    }
}

/// Maximum number of SQLite's findings to report.
const MAX_FINDINGS: u32 = 20;

impl Store {
    /// Checks the structure of the file, and the run that `selector` names, or all runs.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Ambiguous`], and if the file cannot be read at all. Damage
    /// is a result, not an error.
    pub fn verify(&self, selector: Option<&RunSelector>) -> Result<Verification, Error> {
        self.reading(|connection| {
            let mut structure = structure(connection)?;
            let numbers = match selector {
                Some(selector) => vec![resolve(connection, selector)?],
                None => match numbers(connection) {
                    Ok(numbers) => numbers,
                    Err(fault) => {
                        structure.push(format!("the list of runs: {}", fault.damage()?));
                        Vec::new()
                    }
                },
            };
            let runs = numbers.into_iter().map(|number| {
                Ok(VerifiedRun {
                    number,
                    name: name(connection, number),
                    proof: proof(connection, number)?,
                })
            });
            Ok(Verification {
                runs: runs.collect::<OrFault<_>>()?,
                structure,
            })
        })
    }
}

/// Verifies the integrity of a run.
pub(super) fn proof(connection: &Connection, number: u64) -> OrFault<Proof> {
    let stored = match run(connection, number) {
        Ok(read) => read,
        Err(fault) => {
            let reason = fault.damage()?;
            return Ok(Proof::Unreadable { reason });
        }
    };
    let mut parts = stored.damage(None);
    let listed = summaries(connection, "number = ?1", ALL, [number])?;
    if listed.iter().any(|run| run.damaged) {
        parts.push(Part::Listing);
    // A damaged batch is not read, and so not counted.
    } else if parts.is_empty() && !counts_agree(connection, number, &stored.run)? {
        parts.push(Part::Counts);
    }
    Ok(if parts.is_empty() {
        Proof::of(&stored.run)
    } else {
        Proof::Damaged { parts }
    })
}

/// SQLite's findings about the file, and rows without an owner.
fn structure(connection: &Connection) -> OrFault<Vec<String>> {
    let findings = connection
        .prepare(&format!("PRAGMA integrity_check({MAX_FINDINGS})"))?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<String>>>();
    let mut findings = match findings {
        Ok(findings) => findings,
        Err(error) => vec![error.to_string()],
    };
    findings.retain(|finding| finding != "ok");
    let orphans = connection
        .prepare("SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1")?
        .query_map([], |row| {
            let (table, count): (String, u64) = (row.get(0)?, row.get(1)?);
            Ok(format!("rows of {table} that belong to nothing: {count}"))
        })?
        .collect::<rusqlite::Result<Vec<String>>>();
    // If this fails, the check before it has found the cause.
    findings.extend(orphans.unwrap_or_default());
    Ok(findings)
}

fn numbers(connection: &Connection) -> OrFault<Vec<u64>> {
    connection
        .prepare_cached("SELECT number FROM runs ORDER BY number")?
        .query_and_then([], |row| Ok(row.get(0)?))?
        .collect()
}

fn name(connection: &Connection, number: u64) -> Option<String> {
    connection
        .query_row("SELECT name FROM runs WHERE number = ?1", [number], |row| {
            row.get(0)
        })
        .optional()
        .ok()?
        .flatten()
}

/// True if the counts in the list of runs and in its points agree with the run.
fn counts_agree(connection: &Connection, number: u64, run: &Run) -> OrFault<bool> {
    let listed: [u64; 3] = connection.query_row(
        "SELECT experiments, points, samples FROM runs WHERE number = ?1",
        [number],
        |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]),
    )?;
    let counted = [
        run.measured().count(),
        run.measured().map(|record| record.points.len()).sum(),
        run.sample_count(),
    ];
    let sums = run.points().map(|record| {
        let wall_ns = record.batches.iter().map(|batch| batch.wall_ns);
        [record.batches.len() as u64, wall_ns.sum()]
    });
    let summed = connection
        .prepare_cached(
            "SELECT visits, wall_ns FROM points JOIN experiments ON experiments.key = experiment
             WHERE run = ?1 ORDER BY experiments.position, points.position",
        )?
        .query_map([number], |row| Ok([row.get(0)?, row.get(1)?]))?
        .collect::<rusqlite::Result<Vec<[u64; 2]>>>()?;
    Ok(listed == counted.map(|count| count as u64) && sums.eq(summed))
}
