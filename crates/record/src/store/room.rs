//! Space for the files that SQLite keeps next to a store.

use super::error::Error;
use platform::file::allocate_open_file;
use platform::storage::free_bytes;
use rusqlite::Connection;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// More than the index of a log takes at first.
const INDEX_BYTES: usize = 64 << 10;

/// Reserves space for the index of the log next to the store at `path`. SQLite reserves one byte in each
/// page of it; where a file system has smaller blocks, a write to the rest of the mapped index would then
/// end this process by SIGBUS.
///
/// # Errors
/// [`Error::Full`]. SQLite reports all other problems of the place.
pub(super) fn ensure_room_next_to(path: &Path) -> Result<(), Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if free_bytes(folder).is_ok_and(|free| free > 16 * INDEX_BYTES as u64) {
        return Ok(());
    }
    let tried = tempfile::tempfile_in(folder)
        .and_then(|mut file| file.write_all(&vec![0; INDEX_BYTES]))
        .map_err(|error| error.kind());
    match tried {
        Err(kind) if is_full(kind) => Err(Error::Full(path.to_owned())),
        _ => Ok(()),
    }
}

/// Allocates the index of the log of the store at `path`, which `connection` has open. [`ensure_room_next_to`] found room
/// for it, and other files may take that room before the index does.
///
/// # Errors
/// [`Error::Full`].
pub(super) fn allocate_index(connection: &Connection, path: &Path) -> Result<(), Error> {
    // With the first query SQLite opens the index.
    let opened = connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0));
    let index = with_suffix(path, "-shm");
    match opened.map(|_| allocate_open_file(&index, INDEX_BYTES as u64)) {
        Ok(Err(platform::Error::Os { source, .. })) if is_full(source.kind()) => {
            Err(Error::Full(path.to_owned()))
        }
        // Without it, the store works as well.
        _ => Ok(()),
    }
}

/// The name of a file of SQLite next to a store.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}
