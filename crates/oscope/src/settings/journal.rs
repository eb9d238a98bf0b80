//! The journal of a changed setting: with it, oscope restores the setting, even after a kill.
//!
//! It is on disk before the first change. Its owner holds a lock on it for as long as it lives. The
//! next start of oscope as root finds a journal without an owner and puts the setting back, unless
//! another program has changed it meanwhile. After a reboot the kernel has its own values again, and
//! the journal is void.

use super::allowed::Scalar;
use crate::exit::WrongUse;
use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// One journal for the machine, independent of the store and of the user: settings belong to the machine.
const PLACE: &str = "/var/lib/oscope/settings.journal";
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// A changed setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    boot_id: String,
    path: PathBuf,
    /// The value before.
    old: String,
    /// The values that the comparison sets.
    ours: Vec<String>,
}

/// A setting under change. Dropping it puts the old value back.
pub struct Changed {
    scalar: Scalar,
    entry: Entry,
    journal: File,
    is_restored: bool,
}

/// A setting that a killed comparison left behind.
#[derive(Debug)]
pub enum Recovered {
    /// It has its old value again.
    Restored { path: PathBuf, old: String },
    /// Another program has changed it meanwhile; it was left alone.
    Foreign { path: PathBuf, value: String },
    /// It could not be put back.
    Stuck(String),
}

impl Recovered {
    pub fn is_stuck(&self) -> bool {
        matches!(self, Self::Stuck(_))
    }
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restored { path, old } => write!(
                f,
                "{} is {old} again; a comparison that was killed had changed it",
                path.display()
            ),
            Self::Foreign { path, value } => write!(
                f,
                "{} stays {value}: another program set it after a comparison that was killed",
                path.display()
            ),
            Self::Stuck(reason) => write!(
                f,
                "a setting that a killed comparison changed cannot be put back: {reason}"
            ),
        }
    }
}

impl Changed {
    /// Prepares to set `scalar` to `values`.
    pub fn begin(scalar: Scalar, values: &[String]) -> Result<Self> {
        Self::begin_at(Path::new(PLACE), scalar, values)
    }

    fn begin_at(place: &Path, scalar: Scalar, values: &[String]) -> Result<Self> {
        let path = scalar.path().display();
        let old = scalar
            .read()
            .with_context(|| format!("{path} cannot be read"))?;
        let folder = place.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)
            .with_context(|| format!("no journal can be kept in {}", folder.display()))?;
        let mut journal = open(place, true)
            .with_context(|| format!("no journal can be kept in {}", folder.display()))?;
        match journal.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another comparison changes settings now: wait until it ends")
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        if let Some(recovered) = recover_locked(&mut journal, Scalar::new)?
            && recovered.is_stuck()
        {
            bail!("{recovered}");
        }
        let entry = Entry {
            boot_id: boot_id()?,
            path: scalar.path().to_owned(),
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
        let recovered = self.undo()?;
        Ok(match recovered {
            Recovered::Foreign { path, value } => Some(format!(
                "{} was changed to {value} by another program meanwhile, and stays so",
                path.display()
            )),
            Recovered::Restored { .. } => None,
            Recovered::Stuck(reason) => bail!(reason),
        })
    }

    fn undo(&mut self) -> Result<Recovered> {
        let recovered = put_back(&self.entry, &self.scalar);
        if !recovered.is_stuck() {
            clear(&self.journal)?;
            self.is_restored = true;
        }
        Ok(recovered)
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        if !self.is_restored {
            // If this fails, the journal stays and the next start reports it.
            let _ = self.undo();
        }
    }
}

/// Puts back what a killed comparison changed. `None` if there is nothing, or no right to see it.
pub fn recover() -> Option<Recovered> {
    let mut journal = open(Path::new(PLACE), false).ok()?;
    // The owner of a locked journal lives.
    journal.try_lock().ok()?;
    let recovered = recover_locked(&mut journal, Scalar::new);
    recovered.unwrap_or_else(|error| Some(Recovered::Stuck(error.to_string())))
}

/// Puts back what the journal names; `setting_at` finds the setting of a path.
fn recover_locked(
    journal: &mut File,
    setting_at: fn(&str) -> Result<Scalar, WrongUse>,
) -> Result<Option<Recovered>> {
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
    let path = entry
        .path
        .to_str()
        .ok_or_else(|| anyhow!("its path is no text"))?;
    let recovered = put_back(&entry, &setting_at(path)?);
    if !recovered.is_stuck() {
        clear(journal)?;
    }
    Ok(Some(recovered))
}

/// Writes the old value if the value is still one of ours.
fn put_back(entry: &Entry, scalar: &Scalar) -> Recovered {
    let path = entry.path.clone();
    let old = entry.old.clone();
    let stuck = |error: std::io::Error| Recovered::Stuck(format!("{}: {error}", path.display()));
    match scalar.read() {
        Err(error) => stuck(error),
        Ok(value) if value == old => Recovered::Restored { path, old },
        Ok(value) if !entry.ours.contains(&value) => Recovered::Foreign { path, value },
        Ok(_) => match scalar.write(&old) {
            Ok(()) => Recovered::Restored { path, old },
            Err(error) => stuck(error),
        },
    }
}

/// Empties the journal. The file stays: one that was removed could still be locked by another
/// process that has just opened it.
fn clear(journal: &File) -> Result<()> {
    journal.set_len(0)?;
    Ok(journal.sync_all()?)
}

fn open(place: &Path, may_create: bool) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(may_create);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(place)
}

fn boot_id() -> Result<String> {
    let id = fs::read_to_string(BOOT_ID).context("the system tells no boot id")?;
    Ok(id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    struct Place(TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().expect("a directory"));
            fs::write(place.setting(), "60\n").expect("it is ours");
            place
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

        fn begin(&self) -> Result<Changed> {
            let values = ["10".to_owned(), "20".to_owned()];
            Changed::begin_at(&self.journal(), Scalar::of_test(&self.setting()), &values)
        }

        /// The remains of a killed comparison.
        fn abandon(&self, boot_id: &str) {
            let entry = Entry {
                boot_id: boot_id.into(),
                path: self.setting(),
                old: "60".into(),
                ours: vec!["10".into(), "20".into()],
            };
            let text = serde_json::to_vec(&entry).expect("plain data");
            fs::write(self.journal(), text).expect("it is ours");
        }

        fn recover(&self) -> Option<Recovered> {
            let mut journal = open(&self.journal(), false).expect("it is there");
            let setting_at = |path: &str| Ok(Scalar::of_test(Path::new(path)));
            recover_locked(&mut journal, setting_at).expect("it can be read")
        }
    }

    #[test]
    fn the_old_value_comes_back() {
        let place = Place::new();
        let changed = place.begin().expect("nobody else does");
        changed.set("10").expect("it is ours");
        assert_eq!(place.value(), "10");
        assert!(place.begin().is_err(), "one at a time");
        assert_eq!(changed.restore().expect("it is ours"), None);
        assert_eq!(place.value(), "60");
        drop(place.begin().expect("the first has ended"));
        assert_eq!(place.value(), "60");
        assert_eq!(fs::read(place.journal()).expect("it stays"), b"");
    }

    #[test]
    fn a_value_of_another_program_stays() {
        let place = Place::new();
        let changed = place.begin().expect("nobody else does");
        fs::write(place.setting(), "77").expect("it is ours");
        assert!(changed.restore().expect("it is told").is_some());
        assert_eq!(place.value(), "77");
    }

    #[test]
    fn the_next_start_puts_back_what_a_kill_left() {
        let place = Place::new();
        fs::write(place.setting(), "20").expect("it is ours");
        place.abandon(&boot_id().expect("Linux has one"));
        assert!(matches!(place.recover(), Some(Recovered::Restored { .. })));
        assert_eq!(place.value(), "60");
        assert!(place.recover().is_none());
    }

    #[test]
    fn after_a_reboot_or_a_cut_journal_nothing_is_touched() {
        let place = Place::new();
        fs::write(place.setting(), "20").expect("it is ours");
        place.abandon("another boot");
        assert!(place.recover().is_none());
        fs::write(place.journal(), "{\"boot").expect("it is ours");
        assert!(place.recover().is_none());
        assert_eq!(place.value(), "20");
        assert_eq!(fs::read(place.journal()).expect("it stays"), b"");
    }
}
