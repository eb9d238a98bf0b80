//! Selectors of stored runs.

use super::candidate::Candidate;
use super::error::{Error, Fault, OrFault};
use super::open::Store;
use super::summary::{ALL, RunSummary, summaries};
use rusqlite::{Connection, Params};
use std::fmt;
use std::str::FromStr;

/// A selector of a stored run: `latest`, the run's number in the store, its name, or at least the
/// first four digits of its id. An ambiguous text is interpreted in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSelector {
    /// The run that started last.
    Latest,
    /// A number, a name, or the beginning of an id.
    Text(String),
}

/// A selector without text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("say which run: `latest`, its number, its name, or the beginning of its id")]
pub struct BlankSelector;

impl FromStr for RunSelector {
    type Err = BlankSelector;

    fn from_str(text: &str) -> Result<Self, BlankSelector> {
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

impl Store {
    /// The run that `selector` names; reads nothing else of it.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Ambiguous`] and [`Error::NoLatest`], and if the store cannot be
    /// read.
    pub fn find(&self, selector: &RunSelector) -> Result<Candidate, Error> {
        self.reading(|connection| find_one(connection, selector))
    }
}

/// Minimum digits of an id in a selector. With four digits, two of some 300 runs collide with a
/// probability of one half.
const MIN_ID_DIGITS: usize = 4;
/// Maximum number of suggested names.
const MAX_SUGGESTIONS: i64 = 3;
/// Minimum Jaro–Winkler similarity of a name to a possible misspelling of it.
const SIMILAR: f64 = 0.8;

/// The number of the run that `selector` names.
pub(super) fn resolve(connection: &Connection, selector: &RunSelector) -> OrFault<u64> {
    find_one(connection, selector).map(|run| run.number)
}

fn find_one(connection: &Connection, selector: &RunSelector) -> OrFault<Candidate> {
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

/// Checks that every entry in the list of runs is intact, so that the latest run is certain.
fn all_entries_agree(connection: &Connection) -> OrFault<()> {
    let runs = match summaries(connection, "TRUE", ALL, ()) {
        Err(Fault::DamagedRun { number, .. }) => return Err(Error::NoLatest { number }.into()),
        read => read?,
    };
    match runs.iter().find(|run| run.damaged) {
        Some(&RunSummary { number, .. }) => Err(Error::NoLatest { number }.into()),
        None => Ok(()),
    }
}

/// The runs that match `text` in the first interpretation that has any match.
fn find(connection: &Connection, text: &str) -> OrFault<Vec<Candidate>> {
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

fn unknown(connection: &Connection, selector: &RunSelector) -> OrFault<Error> {
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

/// The first `limit` runs that meet `condition`, the latest first.
fn candidates(
    connection: &Connection,
    condition: &str,
    limit: i64,
    parameters: impl Params,
) -> OrFault<Vec<Candidate>> {
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
