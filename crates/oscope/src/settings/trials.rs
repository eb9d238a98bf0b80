//! Settings of the kernel that `oscope advise --try` tries, each by the experiment that shows it.

use super::Scalar;
use crate::exit::WrongUse;
use anyhow::{Context, Result};
use experiments::trial::{KERNEL_SETTINGS, Trial};
use platform::placement;
use platform::storage::Storage;
use std::path::Path;

/// The names of the settings that can be tried.
pub fn names() -> Vec<&'static str> {
    KERNEL_SETTINGS
        .iter()
        .map(|candidate| candidate.name)
        .collect()
}

/// A trial of a setting of the kernel, with its commands.
pub struct Tried {
    pub trial: Trial,
    pub set: String,
    pub undo: String,
}

/// The trial of the setting called `name` for files in `directory`; `None` for any other name.
///
/// # Errors
/// If the setting is not there, or no block device is behind `directory`.
pub fn trial(name: &str, directory: &Path) -> Result<Option<Tried>> {
    let Some(candidate) = KERNEL_SETTINGS
        .iter()
        .find(|candidate| candidate.name == name)
    else {
        return Ok(None);
    };
    let path = if let Some(path) = candidate.path_on(None) {
        path
    } else {
        let storage = Storage::behind(directory)
            .with_context(|| format!("cannot tell what stores {}", directory.display()))?;
        let device = storage.block_device.ok_or_else(|| {
            WrongUse(format!(
                "no block device is behind {}: name a directory on one with --dir",
                directory.display()
            ))
        })?;
        candidate.path_on(Some(&device)).unwrap_or_default()
    };
    // A worker has one processor; what it measures needs no other to be changed.
    let cpu = placement::allowed_cpus()?.last().copied().unwrap_or(0);
    let here = path.replace('*', &cpu.to_string());
    let now = Scalar::new(&here)?.read().map_err(|error| {
        WrongUse(format!(
            "'{name}' cannot be tried on this machine: {here}: {error}"
        ))
    })?;
    let new = (candidate.other)(&now);
    let command = |value: &str| format!("echo {value} | sudo tee {path}");
    Ok(Some(Tried {
        set: command(&new),
        undo: command(&now),
        trial: Trial {
            experiment: candidate.experiment,
            vary: format!("sysfs:{here}={now},{new}"),
            at: candidate.at.iter().map(|&at| at.to_owned()).collect(),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::{KERNEL_SETTINGS, Scalar};

    #[test]
    fn each_can_be_set_and_another_value_is_another() {
        for candidate in KERNEL_SETTINGS {
            let path = candidate
                .path
                .replace("{device}", "sda")
                .replace("cpu*", "cpu0");
            assert!(Scalar::new(&path).is_ok(), "{path}");
            for now in ["always", "none", "128", "8192", "performance"] {
                assert_ne!((candidate.other)(now), now, "{}", candidate.name);
            }
        }
    }
}
