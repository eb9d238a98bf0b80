//! Space for the files that SQLite keeps beside a store.

use super::error::Error;
use platform::storage::free_bytes;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// More than the index of a log takes at first.
const INDEX_BYTES: usize = 64 << 10;

/// Reserves space for the index of the log beside the store at `path`. SQLite reserves one byte in each
/// page of it; where a file system has smaller blocks, a write to the rest of the mapped index would then
/// end this process by SIGBUS.
///
/// # Errors
/// [`Error::Full`]. SQLite reports all other problems of the place.
pub(super) fn ensure_room_beside(path: &Path) -> Result<(), Error> {
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
        Err(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => Err(Error::Full(path.to_owned())),
        _ => Ok(()),
    }
}
