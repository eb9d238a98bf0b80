//! What can go wrong with a store, and what to do about it.

use super::selector::Candidate;
use crate::checksum::{Part, disagreeing};
use crate::validation::Invalid;
use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use std::path::{Path, PathBuf};

/// Why the store could not do what was asked. In every case but a failed disk, what was stored
/// before is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system tells no place for a person's data.
    #[error("there is no place for the store: {missing} is not set; set it or name a store")]
    NoPlace {
        /// The environment variable that would tell.
        missing: &'static str,
    },
    /// The folder that should hold a named store is missing. Only the default one is made.
    #[error("the folder {} for the store does not exist; make it first", .0.display())]
    NoFolder(PathBuf),
    /// There is nothing to read.
    #[error("no run has been recorded yet: there is no store at {}", .0.display())]
    Missing(PathBuf),
    /// The system does not let this user at it.
    #[error("the store {} cannot be opened: {reason}", path.display())]
    NoAccess {
        /// The store.
        path: PathBuf,
        /// In the system's words.
        reason: String,
    },
    /// The file is something else.
    #[error(
        "{} is not a store of oscope, or its beginning was overwritten; it is left as it is: name \
         another store, or move the file away", .0.display()
    )]
    NotAStore(PathBuf),
    /// The store was written by a later version.
    #[error(
        "the store {} was written by a newer oscope (schema {found}, this one knows {known}); it is \
         left as it is: use that oscope, or name another store", path.display()
    )]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its schema.
        found: usize,
        /// The newest schema of this program.
        known: usize,
    },
    /// Its content contradicts itself.
    #[error(
        "the store {} is damaged ({reason}); move it away to start anew, and save what can be read \
         with `sqlite3 FILE .recover`", path.display()
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A run is not as it was stored.
    #[error(
        "run {number} in the store {} is damaged and is not used: {}; import it again from an \
         exported file, take the store from a backup, or measure again (`oscope verify` tells all)", path.display(),
        disagreeing(parts)
    )]
    DamagedRun {
        /// The store.
        path: PathBuf,
        /// Its number in the store.
        number: u64,
        /// What does not agree with its checksums.
        parts: Vec<Part>,
    },
    /// An entry in the list of runs is not as it was written.
    #[error(
        "which run is the latest cannot be told: the entry of run {number} in the list of runs is \
         damaged; name a run by its number, or remove that one with `oscope delete {number}`"
    )]
    NoLatest {
        /// The number of the damaged run.
        number: u64,
    },
    /// Another program keeps it locked.
    #[error(
        "the store {} is locked by another program; wait until that has finished, or name another \
         store", .0.display()
    )]
    Locked(PathBuf),
    /// It cannot be written to.
    #[error(
        "the store {} cannot be written: its file, folder or disk is read-only; name a store \
         elsewhere", .0.display()
    )]
    ReadOnly(PathBuf),
    /// The disk is full.
    #[error("the disk that holds the store {} is full; make room, or name a store elsewhere", .0.display())]
    Full(PathBuf),
    /// A run with this id is in the store already.
    #[error("the run {id} is in the store already, as number {number}")]
    AlreadyStored {
        /// The run's id.
        id: String,
        /// Its number in this store.
        number: u64,
    },
    /// The run holds something that cannot be.
    #[error("the run cannot be stored: {0}")]
    Invalid(#[from] Invalid),
    /// An event of an experiment or a point that was never announced.
    #[error("{0} was not announced before")]
    NotAnnounced(String),
    /// There is no such run.
    #[error("there is no run '{selector}'{}", suggest(suggestions))]
    Unknown {
        /// What was asked for.
        selector: String,
        /// Runs with similar names, or else the latest ones.
        suggestions: Vec<Candidate>,
    },
    /// Several runs answer to it.
    #[error("'{selector}' can be {}; say which by its number", list(candidates))]
    Ambiguous {
        /// What was asked for.
        selector: String,
        /// All of them, the latest first.
        candidates: Vec<Candidate>,
    },
    /// Anything else that SQLite could not do.
    #[error("the store {} failed: {source}", path.display())]
    Sqlite {
        /// The store.
        path: PathBuf,
        /// In SQLite's words.
        source: rusqlite::Error,
    },
}

/// An error inside the store, where its path is not at hand.
#[derive(Debug)]
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    Damaged(String),
    DamagedRun {
        number: u64,
        parts: Vec<Part>,
    },
    Newer {
        found: usize,
        known: usize,
    },
    /// One that needs no path.
    Other(Error),
}

/// What the functions inside the store return.
pub(super) type Result<T> = std::result::Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<Invalid> for Fault {
    fn from(invalid: Invalid) -> Self {
        Self::Other(invalid.into())
    }
}

impl Fault {
    /// The error of the store at `path`.
    pub fn at(self, path: &Path) -> Error {
        let path = path.to_owned();
        match self {
            Self::Sqlite(source) => explain(path, source),
            Self::Damaged(reason) => Error::Damaged { path, reason },
            Self::DamagedRun { number, parts } => Error::DamagedRun {
                path,
                number,
                parts,
            },
            Self::Newer { found, known } => Error::Newer { path, found, known },
            Self::Other(error) => error,
        }
    }
}

/// Result codes: <https://www.sqlite.org/rescode.html>.
fn explain(path: PathBuf, source: rusqlite::Error) -> Error {
    use rusqlite::Error as Sqlite;
    match &source {
        Sqlite::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::Locked(path),
            // A value can only be too large for SQLite where its length is damaged.
            ErrorCode::DatabaseCorrupt | ErrorCode::TooBig => Error::Damaged {
                path,
                reason: source.to_string(),
            },
            ErrorCode::NotADatabase => Error::NotAStore(path),
            ErrorCode::ReadOnly => Error::ReadOnly(path),
            ErrorCode::DiskFull => Error::Full(path),
            // The index of the write-ahead log could not be enlarged.
            _ if failure.extended_code == SQLITE_IOERR_SHMSIZE => Error::Full(path),
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Error::NoAccess {
                path,
                reason: source.to_string(),
            },
            _ => Error::Sqlite { path, source },
        },
        // Values of types that oscope never writes, and a schema that does not have what it should.
        Sqlite::SqlInputError { .. }
        | Sqlite::FromSqlConversionFailure(..)
        | Sqlite::IntegralValueOutOfRange(..)
        | Sqlite::InvalidColumnType(..)
        | Sqlite::Utf8Error(..) => Error::Damaged {
            path,
            reason: source.to_string(),
        },
        _ => Error::Sqlite { path, source },
    }
}

fn suggest(suggestions: &[Candidate]) -> String {
    match suggestions {
        [] => "; the store is empty".into(),
        suggestions => format!("; did you mean {}?", list(suggestions)),
    }
}

/// `a, b or c`
fn list(candidates: &[Candidate]) -> String {
    let shown: Vec<String> = candidates.iter().map(ToString::to_string).collect();
    match shown.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        shown => shown.concat(),
    }
}
