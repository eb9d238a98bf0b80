//! Settings of the kernel that `oscope advise --try` tries, each by the experiment that shows it.

use super::Scalar;
use crate::exit::WrongUse;
use anyhow::{Context, Result};
use experiments::trial::{KERNEL_SETTINGS, KernelSetting, Trial};
use platform::placement;
use platform::storage::Storage;
use std::path::Path;

/// The names of the settings that this machine has, and that can be tried for files in `directory`.
pub fn names(directory: &Path) -> Vec<&'static str> {
    KERNEL_SETTINGS
        .iter()
        .filter(|candidate| tried(candidate, directory).is_ok())
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
/// If the setting or its other value is not there, or no block device is behind `directory`.
pub fn trial(name: &str, directory: &Path) -> Result<Option<Tried>> {
    let mut all = KERNEL_SETTINGS.iter();
    let candidate = all.find(|candidate| candidate.name == name);
    candidate.map(|it| tried(it, directory)).transpose()
}

fn tried(candidate: &KernelSetting, directory: &Path) -> Result<Tried> {
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
    let refused = |reason: String| {
        let name = candidate.name;
        WrongUse(format!(
            "'{name}' cannot be tried on this machine: {here}: {reason}"
        ))
    };
    let scalar = Scalar::new(&here)?;
    let now = scalar.read().map_err(|error| refused(error.to_string()))?;
    let new = (candidate.other)(&now);
    if !scalar.offers(&new) {
        return Err(refused(format!("there is no '{new}'")).into());
    }
    let command = |value: &str| format!("echo {value} | sudo tee {path}");
    Ok(Tried {
        set: command(&new),
        undo: command(&now),
        trial: Trial {
            experiment: candidate.experiment,
            vary: format!("sysfs:{here}={now},{new}"),
            at: candidate.at.iter().map(|&at| at.to_owned()).collect(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{KERNEL_SETTINGS, Scalar, names, trial};
    use std::path::Path;

    #[test]
    fn what_is_offered_can_be_tried_and_nothing_else() {
        let here = Path::new(".");
        let offered = names(here);
        for candidate in KERNEL_SETTINGS {
            let found = trial(candidate.name, here);
            assert_eq!(
                found.is_ok_and(|found| found.is_some()),
                offered.contains(&candidate.name),
                "{}",
                candidate.name
            );
        }
        assert!(trial("nonsense", here).is_ok_and(|found| found.is_none()));
    }

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
