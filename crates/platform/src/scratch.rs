//! A directory for measuring that is always removed, even after its owner was killed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::directory::name_from_bytes;
use crate::os;

const PREFIX: &str = "oscope-scratch-";
const LOCK: &str = "lock";
/// The lock file's name until it is locked.
const UNLOCKED: &str = "lock.new";
/// Holds the path of another directory in which the owner has a scratch directory too.
const ELSEWHERE: &str = "elsewhere";

/// A directory without a lock file is taken for abandoned when nothing in it changed for so long.
/// Its owner would have no lock to show that it lives: another program removed the file, or the owner was
/// killed as it made it.
const LONG_AGO: Duration = Duration::from_hours(24);

/// A directory `oscope-scratch-<16 hexadecimal digits>` that only its owner can enter, removed with
/// all it holds when this is dropped.
///
/// In it lies a file `lock`, under an advisory lock for as long as its owner lives. The kernel frees
/// that lock when the owner ends in whatever way, and then [`Scratch::sweep`] removes the directory.
/// The lock file gets its name only once it is locked, so there is no moment at which a directory in
/// the making looks abandoned. The lock is not inherited by programs that the owner starts.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Holds the lock.
    lock: Option<File>,
}

/// What a sweep did with the directories whose owner is gone.
#[derive(Debug, Default)]
pub struct Sweep {
    /// Those that are gone too now.
    pub removed: Vec<PathBuf>,
    /// Those that could not be removed, or what was made for them not undone, and why.
    pub left: Vec<(PathBuf, io::Error)>,
}

/// Why there can be no scratch directory, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The directory that should hold it is not there.
    #[error("{} does not exist: make it, or name another directory", .0.display())]
    Missing(PathBuf),
    /// There is something, but no directory.
    #[error("{} is not a directory: name a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The file system is mounted read-only.
    #[error("{} is on a read-only file system: name a directory on another", .0.display())]
    ReadOnly(PathBuf),
    /// The file system or the quota is full.
    #[error("no space left in {}: free some, or name a directory on another file system", .0.display())]
    Full(PathBuf),
    /// No right to write there.
    #[error("no right to write in {}: name a directory of your own", .0.display())]
    NotPermitted(PathBuf),
    /// The file system has no locks.
    #[error("the file system of {} has no file locks: name a directory on another", .0.display())]
    NoLocks(PathBuf),
    /// Anything else.
    #[error("cannot make a scratch directory in {}: {source}", path.display())]
    Io {
        /// The directory that should hold it.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl ScratchError {
    fn new(in_dir: &Path, source: io::Error) -> Self {
        let path = in_dir.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            io::ErrorKind::NotADirectory => Self::NotADirectory(path),
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            io::ErrorKind::PermissionDenied => Self::NotPermitted(path),
            io::ErrorKind::Unsupported => Self::NoLocks(path),
            _ => Self::Io { path, source },
        }
    }
}

impl Scratch {
    /// Makes a scratch directory in `in_dir`, which must exist.
    ///
    /// # Errors
    /// See [`ScratchError`]; nothing is left behind.
    pub fn create(in_dir: &Path) -> Result<Self, ScratchError> {
        // A fresh `RandomState` is seeded by the system.
        let random = RandomState::new().hash_one(std::process::id());
        let path = in_dir.join(format!("{PREFIX}{random:016x}"));
        os::scratch::create_private_dir(&path).map_err(|error| ScratchError::new(in_dir, error))?;
        match make_lock(&path) {
            Ok(lock) => Ok(Self {
                path,
                lock: Some(lock),
            }),
            Err(error) => {
                // The first error is the one to tell. Without descriptors nobody can look into a directory.
                let _ = fs::remove_file(path.join(UNLOCKED));
                let _ = fs::remove_dir(&path);
                Err(ScratchError::new(in_dir, error))
            }
        }
    }

    /// Makes another scratch directory in `in_dir`, and remembers `in_dir` in this one: whoever sweeps
    /// this one sweeps there as well.
    ///
    /// # Errors
    /// As [`Scratch::create`].
    pub fn create_elsewhere(&self, in_dir: &Path) -> Result<Self, ScratchError> {
        let there = in_dir
            .canonicalize()
            .map_err(|error| ScratchError::new(in_dir, error))?;
        fs::write(self.file(ELSEWHERE), there.as_os_str().as_encoded_bytes())
            .map_err(|error| ScratchError::new(&self.path, error))?;
        Self::create(in_dir)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file of this name lies in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Removes the scratch directories in `in_dir` whose owner is gone, with the control groups and
    /// the swap that were made for them; and those in the directories that they remember.
    ///
    /// Only a directory of this user with a name of ours and a lock file of ours that nobody holds
    /// is removed; one without a lock file only if all it holds looks like ours and nothing in it
    /// changed for a day. Links are never followed. What cannot be removed is left for the next time. On a network
    /// file system whose locks do not reach other hosts (NFS mounted with `local_lock`), the owner
    /// must be on this host to be seen.
    pub fn sweep(in_dir: &Path) -> Sweep {
        let mut sweep = Sweep::default();
        let Ok(entries) = fs::read_dir(in_dir) else {
            return sweep;
        };
        let is_ours = |name: &OsStr| name.to_str().is_some_and(is_our_name);
        for entry in entries
            .flatten()
            .filter(|entry| is_ours(&entry.file_name()))
        {
            let path = entry.path();
            let lock = match lock_abandoned(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => lock_forgotten(&path),
                lock => lock,
            };
            let Ok(Some(lock)) = lock else {
                continue;
            };
            // Its lock is held, so that two that remember each other are not swept for ever.
            if let Some(there) = elsewhere(&path) {
                let there = Self::sweep(&there);
                sweep.removed.extend(there.removed);
                sweep.left.extend(there.left);
            }
            match remove(&path, Some(lock)) {
                Ok(()) => sweep.removed.push(path),
                Err(error) => sweep.left.push((path, error)),
            }
        }
        sweep
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whatever is left is swept at the next start.
        let _ = remove(&self.path, self.lock.take());
    }
}

fn is_our_name(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|random| {
        random.len() == 16
            && random
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

fn make_lock(dir: &Path) -> io::Result<File> {
    let unlocked = dir.join(UNLOCKED);
    let lock = File::create_new(&unlocked)?;
    lock.try_lock()?;
    fs::rename(unlocked, dir.join(LOCK))?;
    Ok(lock)
}

/// The lock of a directory of ours that nobody held any more.
fn lock_abandoned(dir: &Path) -> io::Result<Option<File>> {
    let metadata = fs::symlink_metadata(dir)?;
    if !metadata.is_dir() || !os::scratch::is_own(&metadata) {
        return Ok(None);
    }
    let lock = os::scratch::open_existing(&dir.join(LOCK))?;
    if !lock.metadata()?.is_file() || lock.try_lock().is_err() {
        return Ok(None);
    }
    Ok(Some(lock))
}

/// A new lock of a directory of ours that has none and in which nothing has happened for long.
fn lock_forgotten(dir: &Path) -> io::Result<Option<File>> {
    let metadata = fs::symlink_metadata(dir)?;
    if !metadata.is_dir() || !os::scratch::is_own(&metadata) || !is_old(&metadata) {
        return Ok(None);
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let is_plain = metadata.is_file() || metadata.is_dir();
        let is_ours = is_plain && os::scratch::is_own(&metadata) && is_made_here(&entry);
        if !is_ours || !is_old(&metadata) {
            return Ok(None);
        }
    }
    let unlocked = dir.join(UNLOCKED);
    let lock = match File::create_new(&unlocked) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            os::scratch::open_existing(&unlocked)?
        }
        made => made?,
    };
    if lock.try_lock().is_err() {
        return Ok(None);
    }
    fs::rename(unlocked, dir.join(LOCK))?;
    Ok(Some(lock))
}

/// What the files below a directory take on the device, in bytes. What cannot be looked at, or is gone by
/// then, counts nothing.
pub fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some(if metadata.is_dir() {
                bytes_below(&entry.path())
            } else {
                os::scratch::allocated_bytes(&metadata)
            })
        })
        .sum()
}

fn is_old(metadata: &fs::Metadata) -> bool {
    let changed = metadata.modified().ok();
    let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
    age.is_some_and(|age| age >= LONG_AGO)
}

/// True if an entry of a scratch directory has a name that runs give: one of this module or of
/// confinement, or one that begins with the name of an experiment, such as `file.block_size 4096`.
fn is_made_here(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_str().unwrap_or_default();
    let is_word = |word: &str| {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        !word.is_empty() && word.bytes().all(is_letter)
    };
    let first = name.split(' ').next().unwrap_or_default();
    let is_of_experiment = first
        .split_once('.')
        .is_some_and(|(group, rest)| is_word(group) && rest.split('.').all(is_word));
    is_of_experiment || name == UNLOCKED || name == ELSEWHERE || os::confinement::is_record(name)
}

/// The directory that a scratch directory remembers.
fn elsewhere(dir: &Path) -> Option<PathBuf> {
    let mut path = Vec::new();
    let mut file = os::scratch::open_existing(&dir.join(ELSEWHERE)).ok()?;
    file.read_to_end(&mut path).ok()?;
    name_from_bytes(&path).map(PathBuf::from)
}

/// Removes a scratch directory and undoes what was made for it, its lock file last: if this is cut
/// short, the rest can be swept. The lock is held until nothing else is left: where files that are
/// open cannot go, as on NFS and FUSE, the directory would stay with a hidden file in it.
fn remove(dir: &Path, lock: Option<File>) -> io::Result<()> {
    os::confinement::undo(dir).map_err(io::Error::other)?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    drop(lock);
    match fs::remove_file(dir.join(LOCK)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::remove_dir(dir)
}
