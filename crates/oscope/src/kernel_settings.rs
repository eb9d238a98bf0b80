//! Settings of the kernel that a comparison changes, and restores however it ends.
//!
//! The journal of a changed setting is on disk before the first change. Its owner holds a lock on it for as
//! long as it lives. The next start of oscope as root finds a journal without an owner and puts the setting
//! back, unless another program has changed it since. After a reboot the kernel has its own values again,
//! and the journal is void.

use crate::exit::{Choice, WrongUse, words};
use crate::leftovers::Leftover;
use anyhow::{Context, Result, bail};
use experiments::trial::{KERNEL_SETTINGS, KernelSetting};
use platform::placement;
use platform::storage::Storage;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// One journal for the machine, independent of the store and of the user: settings belong to the machine.
const JOURNAL: &str = "/var/lib/oscope/settings.journal";
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// A changed setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    boot_id: String,
    path: String,
    /// The value before.
    old: String,
    /// The values that the comparison sets.
    ours: Vec<String>,
}

/// A setting under change. Dropping it puts the old value back.
pub struct ChangedSetting {
    scalar: Scalar,
    entry: Entry,
    journal: File,
    is_restored: bool,
}

impl ChangedSetting {
    /// Prepares to set `scalar` to `values`.
    pub fn begin(scalar: Scalar, values: &[String]) -> Result<Self> {
        Self::begin_at(Path::new(JOURNAL), scalar, values)
    }

    fn begin_at(path: &Path, scalar: Scalar, values: &[String]) -> Result<Self> {
        let setting = scalar.path().display();
        let old = scalar
            .read()
            .with_context(|| format!("{setting} cannot be read"))?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)
            .with_context(|| format!("no journal can be kept in {}", folder.display()))?;
        let mut journal = open(path, true)
            .with_context(|| format!("no journal can be kept in {}", folder.display()))?;
        match journal.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another comparison changes settings now: wait until it ends")
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        recover_locked(&mut journal, Scalar::new).context(STUCK)?;
        let entry = Entry {
            boot_id: boot_id()?,
            path: setting.to_string(),
            old,
            ours: values.to_vec(),
        };
        journal.rewind()?;
        journal.write_all(&serde_json::to_vec(&entry)?)?;
        journal.sync_all()?;
        let changed = Self {
            scalar,
            entry,
            journal,
            is_restored: false,
        };
        // Reports a value that the kernel rejects before anything is measured.
        for value in values {
            changed.set(value)?;
        }
        Ok(changed)
    }

    /// Sets one of the values.
    pub fn set(&self, value: &str) -> Result<()> {
        let path = self.scalar.path().display();
        self.scalar
            .write(value)
            .with_context(|| format!("{path} does not take '{value}'"))?;
        let found = self.scalar.read()?;
        if found != value {
            // The journal does not name this value, so nobody else would put it back.
            self.scalar.write(&self.entry.old)?;
            bail!("{path} became '{found}' instead of '{value}': name a value that it keeps");
        }
        Ok(())
    }

    /// Puts the old value back, and returns a remark if another program has changed the setting.
    pub fn restore(mut self) -> Result<Option<String>> {
        let foreign = self.undo()?;
        let path = &self.entry.path;
        Ok(foreign
            .map(|value| format!("{path} was changed to {value} by another program, and stays so")))
    }

    fn undo(&mut self) -> Result<Option<String>> {
        let foreign = put_back(&self.entry, &self.scalar, &self.journal)?;
        self.is_restored = true;
        Ok(foreign)
    }
}

impl Drop for ChangedSetting {
    fn drop(&mut self) {
        if !self.is_restored {
            // If this fails, the journal stays and the next start reports it.
            let _ = self.undo();
        }
    }
}

const STUCK: &str = "a setting that a killed comparison changed cannot be put back";

/// Puts back what a killed comparison changed. `None` if there is nothing, or no right to see it.
pub fn recover() -> Option<Leftover> {
    let mut journal = open(Path::new(JOURNAL), false).ok()?;
    // The owner of a locked journal lives.
    journal.try_lock().ok()?;
    match recover_locked(&mut journal, Scalar::new) {
        Ok(recovered) => recovered.map(Leftover::undone),
        Err(error) => Some(Leftover::stuck(format!("{STUCK}: {}", words(&error)))),
    }
}

/// Puts back what the journal names, and says so; `setting_at` finds the setting of a path.
fn recover_locked(
    journal: &mut File,
    setting_at: fn(&str) -> Result<Scalar, Choice>,
) -> Result<Option<String>> {
    let mut text = String::new();
    journal.read_to_string(&mut text)?;
    if text.is_empty() {
        return Ok(None);
    }
    // A journal that was cut off is from before the first change.
    let entry: Option<Entry> = serde_json::from_str(&text).ok();
    let entry = entry.filter(|entry| boot_id().is_ok_and(|now| entry.boot_id == now));
    let Some(entry) = entry else {
        clear(journal)?;
        return Ok(None);
    };
    let foreign = put_back(&entry, &setting_at(&entry.path)?, journal)?;
    let Entry { path, old, .. } = entry;
    Ok(Some(match foreign {
        None => format!("{path} is {old} again; a comparison that was killed had changed it"),
        Some(value) => format!(
            "{path} stays {value}: another program set it after a comparison that was killed"
        ),
    }))
}

/// Writes the old value if the value is still one of ours, and clears the journal. Returns the value that another
/// program has set since, which stays.
fn put_back(entry: &Entry, scalar: &Scalar, journal: &File) -> Result<Option<String>> {
    let written = scalar.read().and_then(|value| {
        if entry.ours.contains(&value) {
            scalar.write(&entry.old)?;
            return Ok(None);
        }
        Ok(Some(value).filter(|value| *value != entry.old))
    });
    let foreign = written.with_context(|| entry.path.clone())?;
    clear(journal)?;
    Ok(foreign)
}

/// Empties the journal. The file stays: one that was removed could still be locked by another
/// process that has just opened it.
fn clear(journal: &File) -> Result<()> {
    journal.set_len(0)?;
    Ok(journal.sync_all()?)
}

fn open(path: &Path, may_create: bool) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(may_create);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn boot_id() -> Result<String> {
    let id = fs::read_to_string(BOOT_ID).context("the system has no boot id")?;
    Ok(id.trim().to_owned())
}

/// The paths; `*` means one name. Each is a scalar that takes effect at once, is put back by
/// writing the old value, and cannot make the machine unusable.
const ALLOWED: [&str; 11] = [
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
    pub fn new(path: &str) -> Result<Self, Choice> {
        if ALLOWED.iter().any(|allowed| is_like(path, allowed)) {
            return Ok(Self(path.into()));
        }
        Err(Choice {
            sentence: format!("{path} is not among the settings that oscope changes:"),
            offered: ALLOWED.map(str::to_owned).into(),
        })
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
    pub experiment: &'static str,
    /// The argument of `oscope ab --vary`: `AXIS=NOW,NEW`.
    pub vary: String,
    /// `AXIS=LEVEL` for all that stays.
    pub at: &'static [&'static str],
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
            .with_context(|| format!("cannot find out what stores {}", directory.display()))?;
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
        experiment: candidate.experiment,
        vary: format!("sysfs:{here}={now},{new}"),
        at: candidate.at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    struct MadeUp(TempDir);

    impl MadeUp {
        fn new() -> Self {
            let made_up = Self(tempfile::tempdir().expect("a directory"));
            fs::write(made_up.setting(), "60\n").expect("it is ours");
            made_up
        }

        fn setting(&self) -> PathBuf {
            self.0.path().join("setting")
        }

        fn journal(&self) -> PathBuf {
            self.0.path().join("journal")
        }

        fn value(&self) -> String {
            Scalar::of_test(&self.setting())
                .read()
                .expect("it is there")
        }

        fn begin(&self) -> Result<ChangedSetting> {
            let values = ["10".to_owned(), "20".to_owned()];
            ChangedSetting::begin_at(&self.journal(), Scalar::of_test(&self.setting()), &values)
        }

        /// The remains of a killed comparison.
        fn abandon(&self, boot_id: &str) {
            let entry = Entry {
                boot_id: boot_id.into(),
                path: self.setting().display().to_string(),
                old: "60".into(),
                ours: vec!["10".into(), "20".into()],
            };
            let text = serde_json::to_vec(&entry).expect("plain data");
            fs::write(self.journal(), text).expect("it is ours");
        }

        fn recover(&self) -> Option<String> {
            let mut journal = open(&self.journal(), false).expect("it is there");
            let setting_at = |path: &str| Ok(Scalar::of_test(Path::new(path)));
            recover_locked(&mut journal, setting_at).expect("it can be read")
        }
    }

    #[test]
    fn the_old_value_comes_back() {
        let made_up = MadeUp::new();
        let changed = made_up.begin().expect("nobody else does");
        changed.set("10").expect("it is ours");
        assert_eq!(made_up.value(), "10");
        assert!(made_up.begin().is_err(), "one at a time");
        assert_eq!(changed.restore().expect("it is ours"), None);
        assert_eq!(made_up.value(), "60");
        drop(made_up.begin().expect("the first has ended"));
        assert_eq!(made_up.value(), "60");
        assert_eq!(fs::read(made_up.journal()).expect("it stays"), b"");
    }

    #[test]
    fn a_value_of_another_program_stays() {
        let made_up = MadeUp::new();
        let changed = made_up.begin().expect("nobody else does");
        fs::write(made_up.setting(), "77").expect("it is ours");
        assert!(changed.restore().expect("nothing is stuck").is_some());
        assert_eq!(made_up.value(), "77");
    }

    #[test]
    fn the_next_start_puts_back_what_a_kill_left() {
        let made_up = MadeUp::new();
        fs::write(made_up.setting(), "20").expect("it is ours");
        made_up.abandon(&boot_id().expect("Linux has one"));
        let said = made_up.recover().expect("there is something");
        assert!(said.contains(" is 60 again; "), "{said}");
        assert_eq!(made_up.value(), "60");
        assert!(made_up.recover().is_none());
    }

    #[test]
    fn after_a_reboot_or_a_cut_journal_nothing_is_touched() {
        let made_up = MadeUp::new();
        fs::write(made_up.setting(), "20").expect("it is ours");
        made_up.abandon("another boot");
        assert!(made_up.recover().is_none());
        fs::write(made_up.journal(), "{\"boot").expect("it is ours");
        assert!(made_up.recover().is_none());
        assert_eq!(made_up.value(), "20");
        assert_eq!(fs::read(made_up.journal()).expect("it stays"), b"");
    }

    #[test]
    fn only_what_is_listed_may_be_changed() {
        for candidate in KERNEL_SETTINGS {
            let path = candidate.path.replace("{device}", "sda");
            let path = path.replace("cpu*", "cpu0");
            assert!(Scalar::new(&path).is_ok(), "{path}");
            for now in ["always", "none", "128", "8192", "performance"] {
                assert_ne!((candidate.other)(now), now, "{}", candidate.name);
            }
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
}
