//! The three ways through the file, and the state of the page cache that each starts from.

use super::scratch_file::ScratchFile;
use instrument::experiment::MeasureError;
use instrument::quantity::Bytes;
use platform::file::{Eviction, Reach, Residency, ResidencyMethod, evict, residency};
use platform::machine::Machine;
use platform::storage::Storage;

/// A way through the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Write,
    ReadWarm,
    ReadCold,
}

/// What was found before a sample.
pub(super) struct State {
    /// Share of the file in the page cache, 1 being all of it.
    pub resident: f64,
    /// How it was evicted and how that is known, if it was.
    evicted: Option<(Eviction, ResidencyMethod)>,
}

impl State {
    /// What a reader of the numbers should know about how the state came about.
    pub(super) fn remark(&self, file: &ScratchFile) -> Result<Option<String>, MeasureError> {
        let Some((way, method)) = self.evicted else {
            return Ok(None);
        };
        let storage = Storage::behind(&file.path)?;
        let hypervisor = Machine::read().hypervisor;
        Ok(Some(remark(way, method, &storage, hypervisor.as_deref())))
    }
}

/// A file of which less than this share is resident is cold.
const COLD: f64 = 0.001;

impl Pass {
    pub(super) const ALL: [Self; 3] = [Self::Write, Self::ReadWarm, Self::ReadCold];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::ReadWarm => "read warm",
            Self::ReadCold => "read cold",
        }
    }

    pub(super) fn named(name: &str) -> Result<Self, MeasureError> {
        let known = Self::ALL.into_iter().find(|pass| pass.name() == name);
        known.ok_or_else(|| MeasureError::Unsupported(format!("there is no pass '{name}'")))
    }

    /// Brings the page cache into the state that the pass starts from, and makes sure of it.
    pub(super) fn prepare(self, file: &ScratchFile) -> Result<State, MeasureError> {
        match self {
            Self::Write | Self::ReadWarm => warm(file),
            Self::ReadCold => cold(file),
        }
    }
}

fn share(residency: &Residency) -> f64 {
    residency.resident_bytes as f64 / residency.total_bytes.max(1) as f64
}

fn warm(file: &ScratchFile) -> Result<State, MeasureError> {
    let mut found = residency(&file.file)?;
    if found.resident_bytes < found.total_bytes {
        file.read_in()?;
        found = residency(&file.file)?;
    }
    if found.resident_bytes < found.total_bytes {
        return Err(MeasureError::Unsupported(format!(
            "the file does not stay in the page cache: only {:.3} of {:.3} are there after \
             reading it",
            Bytes(found.resident_bytes),
            Bytes(found.total_bytes)
        )));
    }
    Ok(State {
        resident: share(&found),
        evicted: None,
    })
}

/// Evicts the one file, and only if that does not work, everything.
fn cold(file: &ScratchFile) -> Result<State, MeasureError> {
    let mut way = evict(&file.file, Reach::File)?;
    let mut found = residency(&file.file)?;
    if share(&found) >= COLD {
        way = evict(&file.file, Reach::Machine)?;
        found = residency(&file.file)?;
    }
    if share(&found) >= COLD {
        let storage = Storage::behind(&file.path)?;
        return Err(MeasureError::Unsupported(format!(
            "a file cannot be made cold here: {:.3} of {:.3} stay in the page cache of {}",
            Bytes(found.resident_bytes),
            Bytes(found.total_bytes),
            storage.file_system
        )));
    }
    Ok(State {
        resident: share(&found),
        evicted: Some((way, found.method)),
    })
}

/// How the file was made cold, how that is known, and what it does not tell.
fn remark(
    way: Eviction,
    method: ResidencyMethod,
    storage: &Storage,
    hypervisor: Option<&str>,
) -> String {
    let way = match way {
        Eviction::Advice => "by advice on this file alone",
        Eviction::DropCaches => "by dropping the caches of the whole machine",
    };
    let method = match method {
        ResidencyMethod::Cachestat => "cachestat",
        ResidencyMethod::Mincore => "mincore",
    };
    let device = storage
        .block_device
        .as_deref()
        .unwrap_or("no device of this machine");
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
        "evicted {way}, as {method} confirmed; {} on {device}{place}",
        storage.file_system
    )
}

#[cfg(test)]
mod tests {
    use super::{Pass, remark};
    use platform::file::{Eviction, ResidencyMethod};
    use platform::storage::Storage;

    fn storage(file_system: &str) -> Storage {
        Storage {
            file_system: file_system.into(),
            mount_point: "/".into(),
            mount_options: Vec::new(),
            source: None,
            block_device: Some("sda".into()),
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
    fn a_pass_is_found_by_its_name() {
        for pass in Pass::ALL {
            assert_eq!(Pass::named(pass.name()).ok(), Some(pass));
        }
    }

    #[test]
    fn the_remark_says_what_is_not_known() {
        let cachestat = ResidencyMethod::Cachestat;
        let real = remark(Eviction::Advice, cachestat, &storage("ext4"), None);
        assert_eq!(
            real,
            "evicted by advice on this file alone, as cachestat confirmed; ext4 on sda, whose own \
             cache was not emptied"
        );
        let guest = remark(
            Eviction::DropCaches,
            cachestat,
            &storage("ext4"),
            Some("KVM"),
        );
        assert!(
            guest.contains("whole machine") && guest.contains("host may"),
            "{guest}"
        );
        let remote = remark(Eviction::Advice, cachestat, &storage("nfs4"), Some("KVM"));
        assert!(remote.contains("another machine"), "{remote}");
    }
}
