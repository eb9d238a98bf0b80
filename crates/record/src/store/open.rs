//! Opens a store.

use super::claims::Claims;
use super::error::{Error, Fault, OrFault};
use super::room::{allocate_index, ensure_room_next_to, with_suffix};
use super::schema::{APPLICATION_ID, create, ensure_version};
use platform::storage::Storage;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, TransactionBehavior};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Maximum time to wait for another process that keeps the store locked.
const PATIENCE: Duration = Duration::from_secs(5);

/// All runs of one user on one machine, in one SQLite file.
///
/// Several processes may read and record at the same time. On a local file system, changes go
/// through a [write-ahead log](https://www.sqlite.org/wal.html), the files `…-wal` and `…-shm`
/// next to the store. On a network file system, where that cannot work, they go through a rollback
/// journal.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) claims: Claims,
    /// Holds a copy of the store, where the store itself cannot be opened.
    _copy: Option<TempDir>,
}

/// File name of the default store.
pub const DEFAULT_NAME: &str = "oscope.db";

/// The default location of the store: `oscope.db` in oscope's data directory
/// ([`advice::data_folder`]).
///
/// # Errors
/// [`Error::NoPlace`] if the environment does not define it.
pub fn default_path() -> Result<PathBuf, Error> {
    let folder = advice::data_folder().map_err(|missing| Error::NoPlace { missing })?;
    Ok(folder.join(DEFAULT_NAME))
}

/// Creates the default store's directory, accessible to this user only, as the specification
/// requires.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

impl Store {
    /// Opens the default store for reading and writing; creates it and its directory if they are
    /// missing.
    ///
    /// # Errors
    /// See [`Store::open`] and [`default_path`].
    pub fn open_default() -> Result<Self, Error> {
        let path = default_path()?;
        if let Some(folder) = path.parent() {
            make_folder(folder).map_err(|error| no_access(folder, &error))?;
        }
        Self::open(&path)
    }

    /// Opens the store at `path` for reading and writing; creates it if it is missing, but not its
    /// directory: a mistyped path should leave no traces.
    ///
    /// # Errors
    /// If the file cannot be opened for writing, or is no store, damaged, locked or of another
    /// version. It is then left unchanged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        has_store(path)?;
        let is_missing = |folder: &Path| {
            fs::metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        if let Some(folder) = folder.filter(|folder| is_missing(folder)) {
            return Err(Error::NoFolder(folder.to_owned()));
        }
        // If a file cannot be written, the error of the system is clearer than that of SQLite.
        let mut touch = File::options();
        let file = touch.read(true).append(true).create(true).open(path);
        let file = file.map_err(|error| no_access(path, &error))?;
        let open = || {
            let real = real(path)?;
            ensure_room_next_to(&real)?;
            let mut connection = connect(&real)?;
            create(&mut connection)?;
            let remote = Storage::behind(&real).is_ok_and(|storage| storage.is_remote());
            set_journal(&connection, if remote { "truncate" } else { "wal" })?;
            allocate_index(&connection, &real)?;
            Ok(connection)
        };
        let connection = open().map_err(|fault: Fault| fault.at(path))?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            claims: Claims::new(Some(file)),
            _copy: None,
        })
    }

    /// Opens the store at `path` for reading. This needs no files next to it, so it works on a
    /// read-only disk and on a full one, and it leaves none behind.
    ///
    /// # Errors
    /// If the file is missing, cannot be read, or is no store, damaged, locked or of another
    /// version.
    pub fn open_read_only(path: &Path) -> Result<Self, Error> {
        if !has_store(path)? {
            return Err(Error::Missing(path.to_owned()));
        }
        let opened = real(path).and_then(|real| connect_read_only(&real));
        let (connection, copy) = opened.map_err(|fault| fault.at(path))?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            claims: Claims::new(None),
            _copy: copy,
        })
    }

    /// The store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Calls `read` in one transaction, because another process may be recording.
    pub(super) fn reading<T>(
        &self,
        read: impl FnOnce(&Connection) -> OrFault<T>,
    ) -> Result<T, Error> {
        let transaction = self.connection.unchecked_transaction();
        let found = transaction.map_err(Fault::from).and_then(|it| read(&it));
        found.map_err(|fault| fault.at(&self.path))
    }

    /// Changes the store by `write` in one transaction.
    pub(super) fn writing<T>(
        &mut self,
        write: impl FnOnce(&Connection, &mut Claims) -> OrFault<T>,
    ) -> Result<T, Error> {
        let (connection, claims) = (&mut self.connection, &mut self.claims);
        let write = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let written = write(&transaction, claims)?;
            transaction.commit()?;
            Ok(written)
        };
        write().map_err(|fault: Fault| fault.at(&self.path))
    }
}

/// True if the file at `path` has the header of a store, of any version.
pub fn is_store(path: &Path) -> bool {
    has_store(path).unwrap_or(false)
}

/// The file behind the links of `path`, as an absolute path. SQLite takes no such path for the name of a database
/// in memory or for a URI, and keeps its other files next to this one.
fn real(path: &Path) -> OrFault<PathBuf> {
    let real = dunce::canonicalize(path).map_err(|error| no_access(path, &error))?;
    // If one of these is a named pipe, SQLite would wait for its writer.
    for companion in ["-wal", "-shm", "-journal"].map(|suffix| with_suffix(&real, suffix)) {
        if fs::metadata(&companion).is_ok_and(|found| !found.is_file()) {
            return Err(irregular(&companion).into());
        }
    }
    Ok(real)
}

fn irregular(path: &Path) -> Error {
    Error::NoAccess {
        path: path.to_owned(),
        reason: "it is no regular file; name another path".into(),
    }
}

/// True if the file at `path` has the header of a store, false if it is missing or empty; an error for any other file.
/// Reads the header without SQLite, which would modify a database that is not ours: it may roll back its journal or
/// merge its write-ahead log.
fn has_store(path: &Path) -> Result<bool, Error> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    const APPLICATION_ID_AT: usize = 68;

    let found = fs::metadata(path);
    if found.as_ref().is_ok_and(|found| !found.is_file()) {
        return Err(irregular(path));
    }
    let header = match found.and_then(|_| header(path)) {
        Ok(header) if header.is_empty() => return Ok(false),
        Ok(header) => header,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(no_access(path, &error)),
    };
    let application_id = header.get(APPLICATION_ID_AT..APPLICATION_ID_AT + 4);
    if header.starts_with(MAGIC) && application_id == Some(&APPLICATION_ID.to_be_bytes()) {
        Ok(true)
    } else {
        Err(Error::NotAStore(path.to_owned()))
    }
}

/// True if changes of the store at `path` go through a write-ahead log.
fn has_log(path: &Path) -> bool {
    const READ_VERSION_AT: usize = 19;
    const LOGGED: u8 = 2;
    header(path).is_ok_and(|header| header.get(READ_VERSION_AT) == Some(&LOGGED))
}

/// The beginning of a file: the [database
/// header](https://www.sqlite.org/fileformat2.html#the_database_header) if it is one.
fn header(path: &Path) -> io::Result<Vec<u8>> {
    const HEADER_BYTES: u64 = 100;
    let mut header = Vec::new();
    File::open(path)?
        .take(HEADER_BYTES)
        .read_to_end(&mut header)?;
    Ok(header)
}

fn no_access(path: &Path, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
        return Error::ReadOnly(path.to_owned());
    }
    Error::NoAccess {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

fn connect(path: &Path) -> OrFault<Connection> {
    let connection = Connection::open_with_flags(path, EXISTING | OpenFlags::SQLITE_OPEN_CREATE)?;
    prepare(&connection)?;
    Ok(connection)
}

const EXISTING: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Opens the existing store at `path` for writing; changes nothing.
pub(super) fn connect_to_existing(path: &Path) -> OrFault<Connection> {
    let path = real(path)?;
    ensure_room_next_to(&path)?;
    let connection = Connection::open_with_flags(&path, EXISTING)?;
    prepare(&connection)?;
    allocate_index(&connection, &path)?;
    ensure_version(&connection)?;
    Ok(connection)
}

/// Opens the store at `path` for queries. If this process may write to it, SQLite opens it
/// for writing: only then does the last connection that closes remove the log and its index, and
/// merge a log that a killed process left behind.
fn connect_read_only(path: &Path) -> OrFault<(Connection, Option<TempDir>)> {
    let usual = || {
        ensure_room_next_to(path)?;
        let connection = Connection::open_with_flags(path, EXISTING)?;
        let has_index = || with_suffix(path, "-shm").try_exists().unwrap_or(true);
        if connection.is_readonly(MAIN_DB)? && has_log(path) && !has_index() {
            // Without the right to write the store, SQLite would leave an index next to it.
            return Err(Error::ReadOnly(path.to_owned()).into());
        }
        prepare(&connection)?;
        ready_to_read(&connection)?;
        allocate_index(&connection, &real(path)?)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    match usual() {
        // SQLite cannot create the log's index here, or must not. If another process had the store open, the
        // index would exist, so nobody changes the file.
        Err(fault) if needs_room_next_to(&fault) => {
            if log_bytes(path).map_err(|error| no_access(path, &error))? > 0 {
                let (connection, copy) = connect_to_copy(path).map_err(|_| fault)?;
                return Ok((connection, Some(copy)));
            }
            // Without a log, the file itself is complete.
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_URI;
            let connection = Connection::open_with_flags(immutable_uri(path)?, flags)?;
            ready_to_read(&connection)?;
            Ok((connection, None))
        }
        other => Ok((other?, None)),
    }
}

fn ready_to_read(connection: &Connection) -> OrFault<()> {
    // Sorting then needs no disk space.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    ensure_version(connection)
}

/// True if there was no way to make a file next to the store.
fn needs_room_next_to(fault: &Fault) -> bool {
    if matches!(fault, Fault::Other(Error::Full(_) | Error::ReadOnly(_))) {
        return true;
    }
    let Fault::Sqlite(rusqlite::Error::SqliteFailure(failure, _)) = fault else {
        return false;
    };
    matches!(
        failure.code,
        ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
    )
}

/// Opens a copy of the store and of its log, in a place with enough space, and merges the log
/// there.
fn connect_to_copy(path: &Path) -> OrFault<(Connection, TempDir)> {
    let places = [std::env::temp_dir(), "/dev/shm".into()];
    let copied = places.iter().find_map(|place| copy_into(place, path).ok());
    let copy = copied.ok_or_else(|| no_access(path, &io::ErrorKind::StorageFull.into()))?;
    let connection = connect(&copy.path().join(COPY))?;
    ready_to_read(&connection)?;
    Ok((connection, copy))
}

/// The name of a copied store.
const COPY: &str = "oscope.db";

fn copy_into(place: &Path, path: &Path) -> io::Result<TempDir> {
    let folder = tempfile::tempdir_in(place)?;
    for suffix in ["", "-wal"] {
        let from = with_suffix(path, suffix);
        let to = with_suffix(&folder.path().join(COPY), suffix);
        io::copy(&mut File::open(from)?, &mut File::create_new(to)?)?;
    }
    Ok(folder)
}

/// Size of the write-ahead log next to the store, in bytes; 0 if there is none.
fn log_bytes(path: &Path) -> io::Result<u64> {
    match fs::metadata(with_suffix(path, "-wal")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        found => found.map(|metadata| metadata.len()),
    }
}

/// The store as a [URI](https://www.sqlite.org/uri.html) that promises SQLite that nobody changes
/// the file.
fn immutable_uri(path: &Path) -> OrFault<String> {
    let path = std::path::absolute(path).map_err(|error| no_access(path, &error))?;
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let bytes = bytes.map(|byte| format!("%{byte:02X}"));
    Ok(format!("file:{}?immutable=1", bytes.collect::<String>()))
}

fn prepare(connection: &Connection) -> OrFault<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(32);
    // With a write-ahead log, NORMAL keeps every commit when this process dies and never corrupts
    // the file; only a crash of the whole system may lose the commits since the last checkpoint.
    // FULL would wait for the disk after every batch, and so flush the very files and caches under
    // measurement. A batch of 20 samples takes 0.16 ms with NORMAL, and 0.34 ms with FULL on a
    // virtual disk that flushes to its host's memory; a real disk needs milliseconds. `Recorder`
    // makes a checkpoint after each experiment.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(())
}

/// Sets the journal mode. The file keeps it only if it is WAL.
fn set_journal(connection: &Connection, wanted: &str) -> OrFault<()> {
    let current: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if current == wanted {
        return Ok(());
    }
    let started = Instant::now();
    loop {
        let result = connection.pragma_update_and_check(None, "journal_mode", wanted, |_| Ok(()));
        match result {
            // SQLite itself does not wait for this lock.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && started.elapsed() < PATIENCE =>
            {
                sleep(Duration::from_millis(20));
            }
            result => return Ok(result?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_the_log_is_allocated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("oscope.db");
        let store = Store::open(&path).unwrap();
        let index = || fs::metadata(with_suffix(&path, "-shm")).unwrap();
        let allocates = cfg!(target_os = "linux");
        assert_eq!(index().len() == 64 << 10, allocates);
        drop(store);
        let _store = Store::open_read_only(&path).unwrap();
        assert_eq!(index().len() == 64 << 10, allocates);
    }

    #[test]
    fn the_journal_can_be_changed_back_and_forth() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("oscope.db");
        let journal = |store: &Store| {
            let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
            store
                .connection
                .pragma_query_value(None, "journal_mode", read)
                .unwrap()
        };
        let store = Store::open(&path).unwrap();
        assert_eq!(journal(&store), "wal");
        set_journal(&store.connection, "truncate").unwrap();
        assert_eq!(journal(&store), "truncate");
        assert_eq!(journal(&Store::open_read_only(&path).unwrap()), "delete");
        drop(store);
        assert_eq!(journal(&Store::open(&path).unwrap()), "wal");
    }
}
