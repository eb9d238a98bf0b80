//! Bringing a file into a known state of the page cache.

use crate::read::read_stream;
use crate::{Error, Result, Source, Watch};
use instrument::quantity::Bytes;
use platform::file::{Eviction, Reach, Residency, evict, residency};
use platform::storage::Storage;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::thread::sleep;
use std::time::Duration;

/// A file of which less than this share is resident is cold, and one of which less is missing warm: the
/// kernel may take a page or bring one in at any time.
const NEXT_TO_NOTHING: f64 = 0.001;
/// How long reading ahead is given to come to its end.
const PATIENCE_MS: u32 = 100;
/// How often a file is read in before it is said not to stay.
const WARMING_ATTEMPTS: u32 = 4;
/// What is read at once to warm a file.
const CHUNK_BYTES: usize = 1 << 20;

/// What came of evicting a file.
#[derive(Clone, Debug)]
pub struct Evicted {
    /// The way that was taken last.
    pub way: Eviction,
    /// What of it is still there.
    pub left: Residency,
}

impl Evicted {
    /// Whether reading the file will read its device.
    pub fn is_cold(&self) -> bool {
        is_cold(&self.left)
    }
}

/// Whether next to nothing of a file is in the page cache.
pub fn is_cold(residency: &Residency) -> bool {
    residency.share() < NEXT_TO_NOTHING
}

/// Whether next to nothing of a file is missing in the page cache.
pub fn is_warm(residency: &Residency) -> bool {
    residency.is_whole() || 1.0 - residency.share() < NEXT_TO_NOTHING
}

/// Puts a file on its device and takes it out of the page cache: alone, or, where that does not
/// work, with all others. `storage`, if it is known, tells whether waiting may help.
///
/// # Errors
/// If the file cannot be put on its device, or nobody tells what of it is in the page cache.
pub fn chill(file: &File, storage: Option<&Storage>) -> platform::Result<Evicted> {
    let evicted = |reach| {
        let way = evict(file, reach)?;
        let left = residency(file)?;
        Ok(Evicted { way, left })
    };
    let mut outcome = evicted(Reach::File)?;
    // Pages that are still being read ahead cannot be evicted yet; those of a file in memory never.
    if !storage.is_some_and(Storage::is_memory) {
        for _ in 0..PATIENCE_MS {
            if outcome.is_cold() {
                break;
            }
            sleep(Duration::from_millis(1));
            outcome = evicted(Reach::File)?;
        }
    }
    if outcome.is_cold() {
        Ok(outcome)
    } else {
        evicted(Reach::Machine)
    }
}

/// Has a file read in by `read_in` until all of it is in the page cache, and tells what is there in
/// the end.
///
/// # Errors
/// Those of `read_in`, and if nobody tells what is there.
pub fn warm<E: From<platform::Error>>(
    file: &File,
    mut read_in: impl FnMut() -> std::result::Result<(), E>,
) -> std::result::Result<Residency, E> {
    let mut found = residency(file)?;
    // Somebody else may drop the caches of the machine just then.
    for _ in 0..WARMING_ATTEMPTS {
        if found.is_whole() {
            break;
        }
        read_in()?;
        found = residency(file)?;
    }
    Ok(found)
}

/// Takes a file out of the page cache.
///
/// # Errors
/// [`Error::StaysWarm`] if it stays there all the same.
pub fn make_cold(source: &Source) -> Result<Residency> {
    source.required_size()?;
    // Standard input has no path.
    let storage = Storage::behind(source.path()).ok();
    let outcome = chill(source.file(), storage.as_ref()).map_err(Error::on(source.path()))?;
    if outcome.is_cold() {
        return Ok(outcome.left);
    }
    Err(Error::StaysWarm {
        path: source.path().to_owned(),
        file_system: storage.map_or_else(|| "this system".into(), |storage| storage.file_system),
    })
}

/// Reads a whole file into the page cache.
///
/// # Errors
/// [`Error::StaysCold`] if it does not stay there.
pub fn make_warm(source: &Source, watch: &Watch<'_>) -> Result<Residency> {
    source.required_size()?;
    let rewind = || {
        let start = source.file().seek(SeekFrom::Start(0)).map(drop);
        start.map_err(Error::io(source.path(), "wind back a file"))
    };
    let found = warm(source.file(), || {
        rewind()?;
        read_stream(source, CHUNK_BYTES, watch, |_, _| ())?;
        rewind()
    })?;
    if is_warm(&found) {
        return Ok(found);
    }
    Err(Error::StaysCold {
        path: source.path().to_owned(),
        resident: Bytes(found.resident_bytes),
        total: Bytes(found.total_bytes),
    })
}

/// The share of a file that is in the page cache, from 0 to 1; `None` where nobody tells.
pub fn resident_share(source: &Source) -> Option<f64> {
    source.size()?;
    residency(source.file()).ok().map(|found| found.share())
}

#[cfg(test)]
mod tests {
    use super::{is_cold, is_warm};
    use platform::file::{Residency, ResidencyMethod};

    fn with_pages(resident: u64, total: u64) -> Residency {
        Residency {
            resident_bytes: resident * 4096,
            dirty_bytes: None,
            total_bytes: total * 4096,
            method: ResidencyMethod::Cachestat,
        }
    }

    #[test]
    fn a_page_more_or_less_of_many_changes_nothing() {
        assert!(is_cold(&with_pages(1, 16384)) && !is_warm(&with_pages(1, 16384)));
        assert!(is_warm(&with_pages(16383, 16384)) && !is_cold(&with_pages(16383, 16384)));
        assert!(!is_warm(&with_pages(16300, 16384)) && !is_cold(&with_pages(84, 16384)));
        assert!(!is_warm(&with_pages(3, 4)) && is_warm(&with_pages(0, 0)));
    }
}
