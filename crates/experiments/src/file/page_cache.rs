//! Bringing a file into a known state of the page cache, with evidence of that state.

use super::scratch_file::ScratchFile;
use crate::prelude::Metric;
use files::cache::{self, Eviction};
use instrument::experiment::MeasureError;
use instrument::quantity::{Bytes, Unit};
use instrument::sampler::Sampler;
use platform::file::{OpenMode, ResidencyMethod, evict, open_read, reports_residency, residency};
use platform::machine::hypervisor;
use platform::storage::{Storage, loop_file};
use platform::usage::storage_read_bytes;
use std::cell::RefCell;
use std::fs::File;

/// The least share of a cold file that a pass reads from storage, on a system that does not report what is in memory.
const NEARLY_ALL: f64 = 0.9;

/// The metrics that show where the bytes of a pass came from.
#[derive(Clone, Copy)]
pub(super) struct CacheMetrics {
    /// Share of the file in the page cache before the pass.
    pub resident: Metric,
    /// Share of the file that the process read from storage during the pass.
    pub from_storage: Metric,
}

impl CacheMetrics {
    /// For an experiment with one kind of pass at a point.
    pub(super) const PLAIN: Self = Self::new(
        ["resident", "in the page cache before"],
        ["from_storage", "read from storage"],
    );

    /// Metrics with these names and titles.
    pub(super) const fn new(resident: [&'static str; 2], from_storage: [&'static str; 2]) -> Self {
        Self {
            resident: Metric::fact(resident[0], resident[1], Unit::Share),
            from_storage: Metric::fact(from_storage[0], from_storage[1], Unit::Share),
        }
    }

    /// As [`Sampler::once_as`]. `prepare` returns the share of the file that is resident, if the system reports
    /// it. Records that share, and the share of the `bytes` of a pass that came from storage.
    pub(super) fn of_passes(
        &self,
        sampler: &mut Sampler<'_>,
        metrics: &[(Metric, f64)],
        bytes: f64,
        mut prepare: impl FnMut() -> Result<Option<f64>, MeasureError>,
        body: impl FnMut() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let mut seen = SeenFromStorage::default();
        let observe = |sampler: &mut Sampler<'_>| {
            seen.end_of_pass();
            record_share(sampler, self.resident, prepare()?);
            seen.start_of_pass();
            Ok(())
        };
        sampler.once_as(metrics, observe, body)?;
        record_share(sampler, self.from_storage, seen.share_of(bytes));
        Ok(())
    }

    /// As [`CacheMetrics::of_passes`], each over a file that `chiller` evicts before. `read` begins at its start.
    pub(super) fn of_cold_passes(
        &self,
        sampler: &mut Sampler<'_>,
        (metric, bytes): (Metric, f64),
        (chiller, file): (&mut Chiller, &mut ScratchFile),
        mut read: impl FnMut(&ScratchFile) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let file = RefCell::new(file);
        let prepare = || {
            let mut file = file.borrow_mut();
            let resident = chiller.chill(&mut file)?;
            file.wind_back()?;
            Ok(resident)
        };
        let body = || read(&file.borrow());
        self.of_passes(sampler, &[(metric, bytes)], bytes, prepare, body)
    }

    /// As [`Sampler::repeat_as`], over a file of `bytes` that is in the page cache. Records the share
    /// of the file that was there before, and the share that came from storage.
    pub(super) fn of_legs(
        &self,
        sampler: &mut Sampler<'_>,
        metrics: &[(Metric, f64)],
        file: &ScratchFile,
        body: impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let mut seen = SeenFromStorage::default();
        record_share(sampler, self.resident, warm(file)?);
        seen.start_of_pass();
        sampler.repeat_as(metrics, body)?;
        record_share(sampler, self.from_storage, seen.share_of(file.len as f64));
        Ok(())
    }
}

/// Records `share`, if the system reports it.
pub(super) fn record_share(sampler: &mut Sampler<'_>, metric: Metric, share: Option<f64>) {
    if let Some(share) = share {
        sampler.value(metric, share);
    }
}

/// Counts the bytes that this process reads from storage during passes.
#[derive(Default)]
struct SeenFromStorage {
    before: Option<u64>,
    bytes: u64,
    passes: u64,
}

impl SeenFromStorage {
    fn start_of_pass(&mut self) {
        self.before = storage_read_bytes();
    }

    fn end_of_pass(&mut self) {
        if let (Some(before), Some(now)) = (self.before.take(), storage_read_bytes()) {
            self.bytes += now.saturating_sub(before);
            self.passes += 1;
        }
    }

    /// The share of the `bytes` of a pass that came from storage, after the last one.
    fn share_of(&mut self, bytes: f64) -> Option<f64> {
        self.end_of_pass();
        let all = self.passes as f64 * bytes;
        (all > 0.0).then(|| self.bytes as f64 / all)
    }
}

/// Brings the whole file into the page cache, in large pages as far as the kernel has them. Returns
/// its share there, nearly 1; `None` where the system does not report it, and the file is read once.
///
/// If some of it is missing, all of it is evicted and read in again. Kernels evict pages that nobody
/// used for a while, and a page that is read back by itself stays small. A file in small pages is
/// slower to read, by a factor of about two, and in small blocks it is faster to write.
pub(crate) fn warm(file: &ScratchFile) -> Result<Option<f64>, MeasureError> {
    if !reports_residency() {
        file.read_in()?;
        return Ok(None);
    }
    if !residency(&file.file)?.is_whole() {
        evict(&file.file)?;
    }
    let found = cache::warm(&file.file, || file.read_in())?;
    if cache::is_warm(&found) {
        return Ok(Some(found.share()));
    }
    Err(MeasureError::Disturbed(format!(
        "the file does not stay in the page cache: only {:.3} of {:.3} are there after reading it",
        Bytes(found.resident_bytes),
        Bytes(found.total_bytes)
    )))
}

/// Evicts one file from the page cache before each cold pass, and knows what evidence there is of that.
pub(crate) struct Chiller {
    file_bytes: u64,
    storage: Storage,
    /// The backing file of a loop device that reads it through the page cache.
    below: Option<Below>,
    /// Way and method of the last eviction; no method where the system does not report what is in memory.
    last: Option<(Eviction, Option<ResidencyMethod>)>,
    seen: SeenFromStorage,
    /// The reason why no file can be cold, where the system does not report what is in memory.
    obstacle: Option<String>,
}

/// The backing file of a loop device.
struct Below {
    file: platform::Result<File>,
    is_cold: bool,
}

impl Chiller {
    pub(crate) fn new(file: &ScratchFile) -> Result<Self, MeasureError> {
        let storage = Storage::behind(&file.path)?;
        let device = storage.block_device.as_deref();
        let below = device.and_then(loop_file).filter(|below| !below.is_direct);
        let below = below.map(|below| Below {
            file: open_read(&below.path, OpenMode::Plain),
            is_cold: false,
        });
        Ok(Self {
            file_bytes: file.len,
            storage,
            below,
            last: None,
            seen: SeenFromStorage::default(),
            obstacle: None,
        })
    }

    /// Evicts the file alone, or everything if that does not work, and verifies it. Returns the share
    /// of the file that is still in the page cache, if the system reports it. Else [`Self::remark_on`] verifies, and
    /// the file may be opened again: nothing else should have it open.
    pub(crate) fn chill(&mut self, file: &mut ScratchFile) -> Result<Option<f64>, MeasureError> {
        self.seen.end_of_pass();
        if !reports_residency() && storage_read_bytes().is_none() {
            return Err(MeasureError::Unsupported(
                "no file can be shown to be cold here: the system reports neither which part of a file \
                 is in memory nor how much is read from storage"
                    .into(),
            ));
        }
        let cache::Evicted { way, left } = match cache::chill(&file.file, Some(&self.storage)) {
            Err(error) if error.is_unavailable() && !reports_residency() => {
                file.while_closed(|path| Ok(cache::chill_closed(path)?))?
            }
            outcome => outcome?,
        };
        if let Some(left) = left.as_ref().filter(|left| !cache::is_cold(left)) {
            let reason = format!(
                "a file cannot be made cold here: {:.3} of {:.3} stay in the page cache of {}",
                Bytes(left.resident_bytes),
                Bytes(left.total_bytes),
                self.storage.file_system
            );
            return Err(if self.storage.is_memory() {
                MeasureError::Unsupported(reason)
            } else {
                MeasureError::Disturbed(reason)
            });
        }
        self.last = Some((way, left.as_ref().map(|left| left.method)));
        if let Some(below) = &mut self.below {
            below.is_cold = below.file.as_ref().is_ok_and(|file| {
                evict(file).is_ok() && residency(file).is_ok_and(|found| cache::is_cold(&found))
            });
        }
        self.seen.start_of_pass();
        Ok(left.map(|left| left.share()))
    }

    /// False where the system does not report what is in memory and the file cannot be made cold in another way, which
    /// the remark then says.
    pub(crate) fn can_chill(&mut self, file: &mut ScratchFile) -> Result<bool, MeasureError> {
        if reports_residency() {
            return Ok(true);
        }
        match self.chill(file) {
            Ok(_) => {
                // The reads until here were no pass.
                self.seen = SeenFromStorage::default();
                Ok(true)
            }
            Err(error) if error.is_unavailable() => {
                self.obstacle = Some(error.to_string());
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Records a remark: in which way the file was evicted, the evidence, and the caches that may
    /// still hold it. None if it never was evicted.
    ///
    /// # Errors
    /// If the system does not report what is in memory, and passes read too little from storage.
    pub(crate) fn remark_on(&mut self, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        if let Some(reason) = &self.obstacle {
            sampler.remark(format!("not read cold: {reason}"));
        }
        let Some((way, method)) = self.last else {
            return Ok(());
        };
        let share = self.seen.share_of(self.file_bytes as f64);
        let share = share.unwrap_or(0.0);
        if method.is_none() && share < NEARLY_ALL {
            return Err(MeasureError::Disturbed(format!(
                "the file was not cold: only {:.0} % of it was read from storage",
                100.0 * share
            )));
        }
        let (storage, hypervisor) = (&self.storage, hypervisor());
        let below = self.below.as_ref().map(|below| below.is_cold);
        sampler.remark(remark(way, method, storage, below, hypervisor.as_deref()));
        Ok(())
    }
}

/// `below`: a loop device's backing file was evicted too; `None` without a loop device.
fn remark(
    way: Eviction,
    method: Option<ResidencyMethod>,
    storage: &Storage,
    below: Option<bool>,
    hypervisor: Option<&str>,
) -> String {
    let way = match way {
        Eviction::Advice => "by advice on this file alone",
        Eviction::DropCaches => "by dropping the caches of the whole machine",
        Eviction::Reopening => "by opening it past the page cache while nothing else had it open",
    };
    let method = match method {
        Some(ResidencyMethod::Cachestat) => "cachestat",
        Some(ResidencyMethod::Mincore) => "mincore",
        None => "the count of pages read (a way that is untried on Windows itself)",
    };
    let device = match &storage.block_device {
        Some(device) => device,
        None if storage.file_system == "overlay" => {
            "directories in layers, whose devices it does not name"
        }
        None => "no device of this machine",
    };
    let below = match below {
        None => "",
        Some(true) => ", a loop device, whose file below was evicted too",
        Some(false) => {
            ", a loop device, whose file below could not be evicted and may have answered from the \
             page cache"
        }
    };
    let place = match hypervisor {
        _ if storage.is_remote() => {
            ", a file system of another machine, whose own cache was not emptied".to_owned()
        }
        Some(hypervisor) => format!(
            ", a disk of a virtual machine ({hypervisor}), whose host may have read out of its own \
             memory"
        ),
        None => ", whose own cache was not emptied".to_owned(),
    };
    format!(
        "evicted {way}, as {method} confirmed; {} on {device}{below}{place}",
        storage.file_system
    )
}

#[cfg(test)]
mod tests {
    use super::remark;
    use files::cache::Eviction;
    use platform::file::ResidencyMethod;
    use platform::storage::Storage;

    fn storage(file_system: &str, device: impl Into<Option<&'static str>>) -> Storage {
        Storage {
            file_system: file_system.into(),
            mount_point: "/".into(),
            mount_options: Vec::new(),
            source: None,
            block_device: device.into().map(str::to_owned),
            rotational: None,
            scheduler: None,
            read_ahead_bytes: None,
            logical_block_bytes: None,
            physical_block_bytes: None,
            total_bytes: 0,
            free_bytes: 0,
        }
    }

    #[test]
    fn the_remark_says_what_is_not_known() {
        let said = |way, storage: &Storage, below, hypervisor| {
            remark(
                way,
                Some(ResidencyMethod::Cachestat),
                storage,
                below,
                hypervisor,
            )
        };
        let disk = storage("ext4", "sda");
        assert_eq!(
            said(Eviction::Advice, &disk, None, None),
            "evicted by advice on this file alone, as cachestat confirmed; ext4 on sda, whose own \
             cache was not emptied"
        );
        let guest = said(Eviction::DropCaches, &disk, None, Some("KVM"));
        assert!(
            guest.contains("whole machine") && guest.contains("host may"),
            "{guest}"
        );
        let remote = said(Eviction::Advice, &storage("nfs4", "sda"), None, Some("KVM"));
        assert!(remote.contains("another machine"), "{remote}");
        let overlay = said(Eviction::Advice, &storage("overlay", None), None, None);
        assert!(
            overlay.contains("overlay on directories in layers"),
            "{overlay}"
        );
        let image = storage("xfs", "loop0");
        let kept = said(Eviction::Advice, &image, Some(false), None);
        assert!(kept.contains("could not be evicted"), "{kept}");
        let evicted = said(Eviction::Advice, &image, Some(true), None);
        assert!(evicted.contains("was evicted too"), "{evicted}");
    }
}
