//! Errors of a store, with advice for the user.

use super::candidate::Candidate;
use crate::checksum::{Part, disagreeing};
use crate::validation::Invalid;
use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_SHORT_READ};
use std::path::{Path, PathBuf};

/// The reason why the store could not do what was asked. Except after a disk failure, everything
/// stored before is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system reports no directory for user data.
    #[error("there is no place for the store: {missing} is not set; set it or name a store")]
    NoPlace {
        /// The environment variable that is missing.
        missing: &'static str,
    },
    /// The directory of a named store is missing. Only the default one is created.
    #[error("the folder {} for the store does not exist; create it first", .0.display())]
    NoFolder(PathBuf),
    /// The store does not exist.
    #[error("there is no store at {}: `oscope run` makes one", .0.display())]
    Missing(PathBuf),
    /// The user does not have the rights to open the store.
    #[error("the store {} cannot be opened: {reason}", path.display())]
    NoAccess {
        /// The store.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The file is not a store.
    #[error(
        "{} is not a store of oscope, or its beginning was overwritten; it is left as it is: name \
         another store, or move the file away", .0.display()
    )]
    NotAStore(PathBuf),
    /// Another version of oscope wrote the store.
    #[error(
        "the store {} has schema {found}, and this oscope uses schema {known}; it is left as it is: \
         use the oscope that wrote it, or start a new store with `--store FILE`", path.display()
    )]
    OtherVersion {
        /// The store.
        path: PathBuf,
        /// The store's schema version.
        found: i32,
        /// The schema version that this program uses.
        known: i32,
    },
    /// The store's contents are inconsistent.
    #[error(
        "the store {} is damaged ({reason}); move it away to start anew, and save what can be read \
         with `sqlite3 FILE .recover`", path.display()
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// The inconsistency.
        reason: String,
    },
    /// A run differs from what was stored.
    #[error(
        "run {number} in the store {} is damaged and is not used: {}; import it again from an \
         exported file, take the store from a backup, or measure again (`oscope verify` lists all damage)", path.display(),
        disagreeing(parts)
    )]
    DamagedRun {
        /// The store.
        path: PathBuf,
        /// The run's number in the store.
        number: u64,
        /// The parts that disagree with their checksums.
        parts: Vec<Part>,
    },
    /// An entry in the list of runs differs from what was written.
    #[error(
        "the latest run is unknown: the entry of run {number} in the list of runs is \
         damaged; name a run by its number, or remove that one with `oscope delete {number}`"
    )]
    NoLatest {
        /// The number of the damaged run.
        number: u64,
    },
    /// Another program holds the lock.
    #[error(
        "the store {} is locked by another program; wait until that has finished, or name another \
         store", .0.display()
    )]
    Locked(PathBuf),
    /// The store is not writable.
    #[error(
        "the store {} cannot be written: its file, folder or disk is read-only; name a store \
         elsewhere", .0.display()
    )]
    ReadOnly(PathBuf),
    /// The disk is full.
    #[error("the disk that holds the store {} is full; make room, or name a store elsewhere", .0.display())]
    Full(PathBuf),
    /// The store already contains a run with this id.
    #[error("the run {id} is in the store already, as number {number}")]
    AlreadyStored {
        /// The run's id.
        id: String,
        /// Its number in this store.
        number: u64,
    },
    /// The stored run differs from the one that was to be continued.
    #[error("the run {0} was changed or deleted by another program in the meantime")]
    Changed(String),
    /// Another process measures the run at this moment.
    #[error("run {0} is under way: stop it, or wait for its end")]
    UnderWay(u64),
    /// The run contains an invalid value.
    #[error("the run cannot be stored: {0}")]
    Invalid(#[from] Invalid),
    /// An event of an experiment or a point that was never announced.
    #[error("{0} was not announced before")]
    NotAnnounced(String),
    /// There is no such run.
    #[error("there is no run '{selector}'{}", suggest(suggestions))]
    Unknown {
        /// The requested run.
        selector: String,
        /// Runs with similar names; if there are none, the latest runs.
        suggestions: Vec<Candidate>,
    },
    /// Several runs match.
    #[error("'{selector}' can be {}; say which by its number", list(candidates))]
    Ambiguous {
        /// The requested run.
        selector: String,
        /// All matching runs, the latest first.
        candidates: Vec<Candidate>,
    },
    /// Any other error of SQLite.
    #[error("the store {} failed: {source}", path.display())]
    Sqlite {
        /// The store.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
}

/// An error inside the store, where its path is not available.
#[derive(Debug)]
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    Damaged(String),
    DamagedRun {
        number: u64,
        parts: Vec<Part>,
    },
    OtherVersion {
        found: i32,
        known: i32,
    },
    /// An error that needs no path.
    Other(Error),
}

/// The result type of functions inside the store.
pub(super) type OrFault<T> = Result<T, Fault>;

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
    /// The inconsistency of the store, if that is the fault.
    pub fn damage(self) -> OrFault<String> {
        match self {
            Self::Damaged(reason) => Ok(reason),
            Self::Sqlite(error) if is_damage(&error) => Ok(error.to_string()),
            other => Err(other),
        }
    }

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
            Self::OtherVersion { found, known } => Error::OtherVersion { path, found, known },
            Self::Other(error) => error,
        }
    }
}

/// Translates SQLite's result codes: <https://www.sqlite.org/rescode.html>.
fn explain(path: PathBuf, source: rusqlite::Error) -> Error {
    if is_damage(&source) {
        let reason = source.to_string();
        return Error::Damaged { path, reason };
    }
    let rusqlite::Error::SqliteFailure(failure, _) = &source else {
        return Error::Sqlite { path, source };
    };
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::Locked(path),
        ErrorCode::NotADatabase => Error::NotAStore(path),
        ErrorCode::ReadOnly => Error::ReadOnly(path),
        ErrorCode::DiskFull => Error::Full(path),
        // The index of the write-ahead log could not grow.
        _ if failure.extended_code == SQLITE_IOERR_SHMSIZE => Error::Full(path),
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Error::NoAccess {
            path,
            reason: source.to_string(),
        },
        _ => Error::Sqlite { path, source },
    }
}

/// True if SQLite read something that oscope did not write.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as Sqlite;
    match error {
        Sqlite::SqliteFailure(failure, _) => match failure.code {
            // Only a damaged length makes a value too large for SQLite.
            ErrorCode::DatabaseCorrupt | ErrorCode::TooBig => true,
            // The file ends within a page.
            _ => failure.extended_code == SQLITE_IOERR_SHORT_READ,
        },
        // Value types that oscope never writes, and a schema without expected columns.
        Sqlite::SqlInputError { .. }
        | Sqlite::FromSqlConversionFailure(..)
        | Sqlite::IntegralValueOutOfRange(..)
        | Sqlite::InvalidColumnType(..)
        | Sqlite::Utf8Error(..) => true,
        _ => false,
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
