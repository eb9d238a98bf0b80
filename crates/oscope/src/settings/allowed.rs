//! The settings of the kernel that a comparison may change.

use crate::exit::WrongUse;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The paths; `*` stands for one name. Each is a scalar that takes effect at once, is put back by
/// writing the old value, and cannot make the machine unusable.
const ALLOWED: &[&str] = &[
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
    "/sys/block/*/queue/read_ahead_kb",
    "/sys/block/*/queue/scheduler",
    "/sys/block/*/queue/nr_requests",
    "/sys/devices/system/cpu/*/cpufreq/scaling_governor",
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/dirty_ratio",
    "/proc/sys/vm/dirty_background_ratio",
    "/proc/sys/vm/vfs_cache_pressure",
];

/// A setting that may be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar(PathBuf);

impl Scalar {
    /// The setting at `path`.
    ///
    /// # Errors
    /// If it is not on the list of allowed settings.
    pub fn new(path: &str) -> Result<Self, WrongUse> {
        if ALLOWED.iter().any(|allowed| is_like(path, allowed)) {
            return Ok(Self(path.into()));
        }
        Err(WrongUse(format!(
            "{path} is not among the settings that oscope changes:\n  {}",
            ALLOWED.join("\n  ")
        )))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The value: of a list of choices, the one in brackets.
    pub fn read(&self) -> io::Result<String> {
        let text = fs::read_to_string(&self.0)?;
        let chosen = text
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'));
        Ok(chosen.map_or(text.trim(), |(chosen, _)| chosen).to_owned())
    }

    /// True unless the kernel lists the values, and this one is not among them.
    pub fn offers(&self, value: &str) -> bool {
        let list = match self.0.file_name().and_then(|name| name.to_str()) {
            Some("scaling_governor") => self.0.with_file_name("scaling_available_governors"),
            Some("enabled" | "defrag" | "shmem_enabled" | "scheduler") => self.0.clone(),
            _ => return true,
        };
        let is_meant = |word: &str| word.trim_matches(['[', ']']) == value;
        fs::read_to_string(list).is_ok_and(|text| text.split_whitespace().any(is_meant))
    }

    pub fn write(&self, value: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&self.0)?;
        file.write_all(format!("{value}\n").as_bytes())
    }

    /// Any file as a setting.
    #[cfg(test)]
    pub fn of_test(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

fn is_like(path: &str, allowed: &str) -> bool {
    let (names, patterns) = (path.split('/'), allowed.split('/'));
    names.clone().count() == patterns.clone().count()
        && names.zip(patterns).all(|(name, pattern)| match pattern {
            "*" => !["", ".", ".."].contains(&name),
            pattern => name == pattern,
        })
}

#[cfg(test)]
mod tests {
    use super::Scalar;
    use std::fs;

    #[test]
    fn only_what_is_listed_may_be_changed() {
        for allowed in ["/proc/sys/vm/swappiness", "/sys/block/sda/queue/scheduler"] {
            assert!(Scalar::new(allowed).is_ok(), "{allowed}");
        }
        for wrong in [
            "/proc/sys/vm/overcommit_memory",
            "/sys/block/../queue/scheduler",
            "/sys/block/a/b/queue/scheduler",
            "/proc/sys/vm/../vm/swappiness",
            "/etc/passwd",
        ] {
            assert!(Scalar::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn of_choices_the_one_in_brackets_is_the_value() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("enabled");
        fs::write(&path, "always [madvise] never\n").expect("it is ours");
        let scalar = Scalar::of_test(&path);
        assert_eq!(scalar.read().expect("it is there"), "madvise");
        assert!(scalar.offers("madvise") && scalar.offers("never") && !scalar.offers("none"));
        let governor = directory.path().join("scaling_governor");
        let governor = Scalar::of_test(&governor);
        assert!(!governor.offers("powersave"));
        let list = directory.path().join("scaling_available_governors");
        fs::write(list, "performance powersave\n").expect("it is ours");
        assert!(governor.offers("powersave") && !governor.offers("power"));
        scalar.write("60").expect("it is ours");
        assert_eq!(scalar.read().expect("it is there"), "60");
    }
}
