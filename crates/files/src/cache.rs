//! Puts a file into a known state of the page cache.

use crate::read::read_stream;
use crate::{Error, Result, Source, Watch};
use instrument::quantity::Bytes;
use platform::file::{
    OpenMode, Residency, drop_page_cache, evict, open_read, reports_residency, residency,
};
use platform::storage::Storage;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// A file is cold if less than this share is resident, and warm if less than this share is missing.
/// It is not 0, since the kernel may evict or load a page at any time.
const NEXT_TO_NOTHING: f64 = 0.001;
/// Time in ms to let a read-ahead finish.
const PATIENCE_MS: u32 = 100;
/// Attempts to warm a file before it counts as not staying in the page cache.
const WARMING_ATTEMPTS: u32 = 4;
/// Block size for warming a file.
const CHUNK_BYTES: usize = 1 << 20;

/// Method of an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Advice to the kernel that the file is not needed.
    Advice,
    /// A drop of the whole machine's page cache.
    DropCaches,
    /// An opening past the page cache while nothing else had the file open, as Windows evicts a single file.
    Reopening,
}

static SPARES_CACHES: AtomicBool = AtomicBool::new(false);

/// Keeps this process from dropping the whole machine's page cache from now on: [`chill`] affects
/// only its file.
pub fn spare_caches() {
    SPARES_CACHES.store(true, Ordering::Relaxed);
}

/// Outcome of evicting a file.
#[derive(Clone, Debug)]
pub struct Evicted {
    /// The last method used.
    pub way: Eviction,
    /// The part of the file that is still in the page cache; `None` if the system does not report it.
    pub left: Option<Residency>,
}

impl Evicted {
    /// True if reads of the file will surely go to its device.
    pub fn is_cold(&self) -> bool {
        self.left.as_ref().is_some_and(is_cold)
    }
}

/// True if almost nothing of the file is in the page cache.
pub fn is_cold(residency: &Residency) -> bool {
    residency.share() < NEXT_TO_NOTHING
}

/// True if almost all of the file is in the page cache.
pub fn is_warm(residency: &Residency) -> bool {
    residency.is_whole() || 1.0 - residency.share() < NEXT_TO_NOTHING
}

/// Writes a file's dirty pages to its device and evicts the file from the page cache: first this
/// file alone, and if that fails, the page cache of the whole machine. `storage`, if known, shows
/// if a retry after a pause may help.
///
/// On a system that does not report what is in the page cache, only the latter leaves no doubt.
///
/// # Errors
/// If the file cannot be synchronised, or the page cache cannot be dropped where that is needed.
pub fn chill(file: &File, storage: Option<&Storage>) -> platform::Result<Evicted> {
    if !reports_residency() {
        return chill_unseen(file);
    }
    let evicted = |way| {
        let left = Some(residency(file)?);
        Ok(Evicted { way, left })
    };
    let advised = || evict(file).and_then(|()| evicted(Eviction::Advice));
    let mut outcome = advised()?;
    // Pages under read-ahead cannot be evicted yet. Pages of a file system in memory can never be
    // evicted, so waiting does not help there.
    if !storage.is_some_and(Storage::is_memory) {
        for _ in 0..PATIENCE_MS {
            if outcome.is_cold() {
                break;
            }
            sleep(Duration::from_millis(1));
            outcome = advised()?;
        }
    }
    if outcome.is_cold() || SPARES_CACHES.load(Ordering::Relaxed) {
        return Ok(outcome);
    }
    match drop_page_cache() {
        Ok(()) => evicted(Eviction::DropCaches),
        Err(platform::Error::NotPermitted { .. }) => Ok(outcome),
        Err(error) => Err(error),
    }
}

fn chill_unseen(file: &File) -> platform::Result<Evicted> {
    if SPARES_CACHES.load(Ordering::Relaxed) {
        return Err(platform::Error::NotSupported(
            "making a file cold without dropping the caches of the machine",
        ));
    }
    file.sync_all().map_err(|source| platform::Error::Os {
        action: "synchronise a file",
        source,
    })?;
    drop_page_cache()?;
    Ok(Evicted {
        way: Eviction::DropCaches,
        left: None,
    })
}

/// Evicts a file that is on its device and that nobody has open, on a system that does so when it is opened past
/// the page cache: on Windows, file systems then drop what they kept of it.
pub fn chill_closed(path: &Path) -> platform::Result<Evicted> {
    drop(open_read(path, OpenMode::Direct)?);
    Ok(Evicted {
        way: Eviction::Reopening,
        left: None,
    })
}

/// Reads a file with `read_in`, repeatedly if needed, until all of it is in the page cache. Returns
/// the final residency.
///
/// # Errors
/// Those of `read_in`, and if the system does not report the resident pages.
pub fn warm<E: From<platform::Error>>(
    file: &File,
    mut read_in: impl FnMut() -> std::result::Result<(), E>,
) -> std::result::Result<Residency, E> {
    let mut found = residency(file)?;
    // Another process may drop the machine's caches at the same time.
    for _ in 0..WARMING_ATTEMPTS {
        if found.is_whole() {
            break;
        }
        read_in()?;
        found = residency(file)?;
    }
    Ok(found)
}

/// Evicts a file from the page cache.
///
/// # Errors
/// [`Error::StaysWarm`] if it remains there.
pub fn make_cold(source: &Source) -> Result<Residency> {
    source.required_size()?;
    // Nothing is evicted if the outcome cannot be known.
    residency(source.file()).map_err(Error::on(source.path()))?;
    // Standard input has no path.
    let storage = Storage::behind(source.path()).ok();
    let outcome = chill(source.file(), storage.as_ref()).map_err(Error::on(source.path()))?;
    outcome
        .left
        .filter(is_cold)
        .ok_or_else(|| Error::StaysWarm {
            path: source.path().to_owned(),
            file_system: storage
                .map_or_else(|| "this system".into(), |storage| storage.file_system),
        })
}

/// Reads a whole file into the page cache.
///
/// # Errors
/// [`Error::StaysCold`] if the kernel does not keep it there.
pub fn make_warm(source: &Source, watch: &Watch<'_>) -> Result<Residency> {
    source.required_size()?;
    let rewind = || {
        let start = source.file().seek(SeekFrom::Start(0)).map(drop);
        start.map_err(Error::io(source.path(), "wind back a file"))
    };
    let found = warm(source.file(), || {
        rewind()?;
        read_stream(source, CHUNK_BYTES, watch, |_, _| Ok(()))?;
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

/// The share of a file that is in the page cache, from 0 to 1; `None` if the system does not report it.
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
