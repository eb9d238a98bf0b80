//! Bringing a file into a known state of the page cache.

use crate::read::read_stream;
use crate::{Error, Result, Source, Watch};
use instrument::quantity::Bytes;
use platform::file::{Reach, Residency, evict, residency};
use platform::storage::Storage;
use std::io::{Seek, SeekFrom};

/// A file of which less than this share is resident is cold.
const COLD: f64 = 0.001;
/// What is read at once to warm a file.
const CHUNK_BYTES: usize = 1 << 20;

/// Puts a file on its device and takes it out of the page cache: alone, or, where that does not
/// work, with all others.
///
/// # Errors
/// [`Error::StaysWarm`] if it stays there all the same.
pub fn make_cold(source: &Source) -> Result<Residency> {
    let refused = Error::on(source.path());
    source.required_size()?;
    for reach in [Reach::File, Reach::Machine] {
        evict(source.file(), reach).map_err(&refused)?;
        let found = residency(source.file()).map_err(&refused)?;
        if share(&found) < COLD {
            return Ok(found);
        }
    }
    Err(Error::StaysWarm {
        path: source.path().to_owned(),
        file_system: Storage::behind(source.path())?.file_system,
    })
}

/// Reads a whole file into the page cache.
///
/// # Errors
/// [`Error::StaysCold`] if it does not stay there.
pub fn make_warm(source: &Source, watch: &Watch<'_>) -> Result<Residency> {
    let refused = Error::on(source.path());
    source.required_size()?;
    let mut found = residency(source.file()).map_err(&refused)?;
    if found.resident_bytes < found.total_bytes {
        let rewind = |source: &Source| source.file().seek(SeekFrom::Start(0)).map(drop);
        read_stream(source, CHUNK_BYTES, watch, |_, _| ())?;
        rewind(source).map_err(Error::io(source.path(), "wind back a file"))?;
        found = residency(source.file()).map_err(&refused)?;
    }
    if found.resident_bytes < found.total_bytes {
        return Err(Error::StaysCold {
            path: source.path().to_owned(),
            resident: Bytes(found.resident_bytes),
            total: Bytes(found.total_bytes),
        });
    }
    Ok(found)
}

/// The share of a file that is in the page cache, from 0 to 1; `None` where nobody tells.
pub fn resident_share(source: &Source) -> Option<f64> {
    source.size()?;
    residency(source.file()).ok().map(|found| share(&found))
}

fn share(residency: &Residency) -> f64 {
    residency.resident_bytes as f64 / residency.total_bytes.max(1) as f64
}
