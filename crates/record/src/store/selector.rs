//! Naming a stored run.

use super::error::{Error, Fault, Result};
use super::open::Store;
use super::summary::{ALL, RunSummary, summaries};
use rusqlite::{Connection, Params};
use std::fmt;
use std::str::FromStr;

/// Names a stored run: `latest`, its number in the store, its name, or at least the first four
/// digits of its id. What could be read in several ways is read in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSelector {
    /// The one that started last.
    Latest,
    /// Its number, name, or the beginning of its id.
    Text(String),
}

/// A selector that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("say which run: `latest`, its number, its name, or the beginning of its id")]
pub struct BlankSelector;

impl FromStr for RunSelector {
    type Err = BlankSelector;

    fn from_str(text: &str) -> std::result::Result<Self, BlankSelector> {
        match text.trim() {
            "" => Err(BlankSelector),
            "latest" => Ok(Self::Latest),
            text => Ok(Self::Text(text.to_owned())),
        }
    }
}

impl fmt::Display for RunSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Latest => "latest",
            Self::Text(text) => text,
        })
    }
}

/// A run that may be the one that was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number in the store.
    pub number: u64,
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id.get(..8).unwrap_or(&self.id);
        match &self.name {
            Some(name) => write!(f, "{} ({name}, {id})", self.number),
            None => write!(f, "{} ({id})", self.number),
        }
    }
}

impl Store {
    /// The run that `selector` names. Nothing else of it is read.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Ambiguous`] and [`Error::NoLatest`], and where the store cannot be read.
    pub fn find(&self, selector: &RunSelector) -> std::result::Result<Candidate, Error> {
        find_one(&self.connection, selector).map_err(|fault| fault.at(&self.path))
    }
}

/// Digits of an id that name a run: four tell some 300 runs apart with a chance of one half.
const MIN_ID_DIGITS: usize = 4;
/// Similar names that are suggested.
const MAX_SUGGESTIONS: i64 = 3;
/// Jaro–Winkler similarity from which on a name may be a misspelling of another.
const SIMILAR: f64 = 0.8;

/// The number of the run that `selector` names.
pub(super) fn resolve(connection: &Connection, selector: &RunSelector) -> Result<u64> {
    find_one(connection, selector).map(|run| run.number)
}

fn find_one(connection: &Connection, selector: &RunSelector) -> Result<Candidate> {
    let mut candidates = match selector {
        RunSelector::Latest => {
            all_entries_agree(connection)?;
            candidates(connection, "TRUE", 1, [])?
        }
        RunSelector::Text(text) => find(connection, text)?,
    };
    match candidates.len() {
        0 => Err(unknown(connection, selector)?.into()),
        1 => Ok(candidates.remove(0)),
        _ => Err(Error::Ambiguous {
            selector: selector.to_string(),
            candidates,
        }
        .into()),
    }
}

/// Makes sure that the list of runs tells which run is the latest.
fn all_entries_agree(connection: &Connection) -> Result<()> {
    let runs = match summaries(connection, "TRUE", ALL, ()) {
        Err(Fault::DamagedRun { number, .. }) => return Err(Error::NoLatest { number }.into()),
        read => read?,
    };
    match runs.iter().find(|run| run.damaged) {
        Some(&RunSummary { number, .. }) => Err(Error::NoLatest { number }.into()),
        None => Ok(()),
    }
}

/// The runs that `text` names in the first of the ways in which it names any.
fn find(connection: &Connection, text: &str) -> Result<Vec<Candidate>> {
    if let Ok(number) = text.parse::<i64>() {
        let found = candidates(connection, "number = ?1", ALL, [number])?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let found = candidates(connection, "name = ?1", ALL, [text])?;
    if !found.is_empty() || text.len() < MIN_ID_DIGITS {
        return Ok(found);
    }
    candidates(
        connection,
        "substr(id, 1, length(?1)) = ?1",
        ALL,
        [text.to_ascii_lowercase()],
    )
}

fn unknown(connection: &Connection, selector: &RunSelector) -> Result<Error> {
    let selector = selector.to_string();
    let mut named: Vec<(f64, Candidate)> = candidates(connection, "name IS NOT NULL", ALL, [])?
        .into_iter()
        .filter_map(|run| Some((strsim::jaro_winkler(run.name.as_deref()?, &selector), run)))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .collect();
    named.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut suggestions: Vec<Candidate> = named.into_iter().map(|(_, run)| run).collect();
    suggestions.truncate(MAX_SUGGESTIONS as usize);
    if suggestions.is_empty() {
        suggestions = candidates(connection, "TRUE", MAX_SUGGESTIONS, [])?;
    }
    Ok(Error::Unknown {
        selector,
        suggestions,
    })
}

/// The first `limit` runs for which `condition` holds, the latest first.
fn candidates(
    connection: &Connection,
    condition: &str,
    limit: i64,
    parameters: impl Params,
) -> Result<Vec<Candidate>> {
    let sql = format!(
        "SELECT number, id, name FROM runs WHERE {condition} \
         ORDER BY started DESC, number DESC LIMIT {limit}"
    );
    connection
        .prepare_cached(&sql)?
        .query_and_then(parameters, |row| {
            Ok(Candidate {
                number: row.get(0)?,
                id: row.get(1)?,
                name: row.get(2)?,
            })
        })?
        .collect()
}
