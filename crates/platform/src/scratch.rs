//! A temporary directory for measurements that is always removed, even if its owner is killed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::directory::name_from_bytes;
use crate::file::allocated_bytes;
use crate::os;

const PREFIX: &str = "oscope-scratch-";
const LOCK: &str = "lock";
/// The lock file's name until it is locked.
const UNLOCKED: &str = "lock.new";
/// Holds the paths of other directories in which the owner also has a scratch directory, with a zero
/// byte between two.
const ELSEWHERE: &str = "elsewhere";

/// Rules for the removal of scratch directories. The program that uses them sets them.
#[derive(Clone, Copy, Debug)]
pub struct Removal {
    /// Longest wait until killed processes have left a control group.
    pub exit_wait: Duration,
    /// Age of a directory without a lock file, in which nothing changed for this time, that counts as
    /// abandoned. The owner of a younger one may still run: another program may have removed the
    /// lock file, or the owner is just creating the directory.
    pub unchanged_for: Duration,
    /// True for a name that the program gives to a file in a scratch directory. A directory without
    /// a lock file is removed only if no other names are in it.
    pub is_own_name: fn(&str) -> bool,
}

/// A directory `oscope-scratch-<16 hexadecimal digits>` that only its owner can enter. Dropping it
/// removes it with its contents.
///
/// Its file `lock` is under an advisory lock for as long as its owner lives. The kernel releases
/// that lock however the owner ends, and then [`Scratch::sweep`] removes the directory. The lock
/// file gets its name only after it is locked, so a new directory never looks abandoned. Programs
/// that the owner starts do not inherit the lock.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    removal: Removal,
    /// Holds the lock.
    lock: Option<File>,
}

/// Result of a sweep over the abandoned directories.
#[derive(Debug, Default)]
pub struct Sweep {
    /// Directories that were removed.
    pub removed: Vec<PathBuf>,
    /// Directories that could not be removed, or whose groups and swap could not be undone, and the
    /// reason.
    pub left: Vec<(PathBuf, io::Error)>,
}

/// The reason for a failed creation of a scratch directory, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ScratchError(String);

impl ScratchError {
    fn new(in_dir: &Path, source: &io::Error) -> Self {
        let dir = in_dir.display();
        Self(match source.kind() {
            io::ErrorKind::NotFound => {
                format!("{dir} does not exist: make it, or name another directory")
            }
            io::ErrorKind::NotADirectory => format!("{dir} is not a directory: name a directory"),
            io::ErrorKind::ReadOnlyFilesystem => {
                format!("{dir} is on a read-only file system: name a directory on another")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!(
                    "no space left in {dir}: free some, or name a directory on another file system"
                )
            }
            io::ErrorKind::PermissionDenied => {
                format!("no right to write in {dir}: name a directory of your own")
            }
            io::ErrorKind::Unsupported => {
                format!("the file system of {dir} has no file locks: name a directory on another")
            }
            _ => format!("cannot make a scratch directory in {dir}: {source}"),
        })
    }
}

impl Scratch {
    /// Creates a scratch directory in `in_dir`, which must exist.
    ///
    /// # Errors
    /// See [`ScratchError`]; nothing remains after an error.
    pub fn create(in_dir: &Path, removal: &Removal) -> Result<Self, ScratchError> {
        // The system seeds a new `RandomState`.
        let random = RandomState::new().hash_one(std::process::id());
        let path = in_dir.join(format!("{PREFIX}{random:016x}"));
        os::file::create_private_dir(&path).map_err(|error| ScratchError::new(in_dir, &error))?;
        match make_lock(&path) {
            Ok(lock) => Ok(Self {
                path,
                removal: *removal,
                lock: Some(lock),
            }),
            Err(error) => {
                // The first error is the one to report. Without descriptors no directory can be listed.
                let _ = fs::remove_file(path.join(UNLOCKED));
                let _ = fs::remove_dir(&path);
                Err(ScratchError::new(in_dir, &error))
            }
        }
    }

    /// Creates another scratch directory in `in_dir`, and records `in_dir` in this one: a sweep of
    /// this one also sweeps there.
    pub fn create_elsewhere(&self, in_dir: &Path) -> Result<Self, ScratchError> {
        let there = in_dir
            .canonicalize()
            .map_err(|error| ScratchError::new(in_dir, &error))?;
        let known = self.file(ELSEWHERE);
        let mut memory = match fs::read(&known) {
            Ok(memory) => [memory, vec![0]].concat(),
            Err(_) => Vec::new(),
        };
        memory.extend(there.as_os_str().as_encoded_bytes());
        fs::write(known, memory).map_err(|error| ScratchError::new(&self.path, &error))?;
        Self::create(in_dir, &self.removal)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of file `name` in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The other scratch directories next to this one. Those that a sweep leaves are of programs that
    /// still run, or cannot be removed.
    pub fn others(&self) -> Vec<PathBuf> {
        let parent = self.path.parent().unwrap_or(Path::new("."));
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let is_other = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            name.to_str().is_some_and(is_our_name) && Some(&*name) != self.path.file_name()
        };
        entries.filter(is_other).map(|entry| entry.path()).collect()
    }

    /// Removes the abandoned scratch directories in `in_dir`, and the control groups and swap files
    /// created for them; then those in the directories that they record.
    ///
    /// A directory is removed only if it belongs to this user, has a name that this program gives,
    /// and contains a lock file that no process has locked. Without a lock file it is removed only
    /// if all of its contents look like this program's and are old enough ([`Removal`]). Links are
    /// never followed. A directory that cannot be removed stays until the next sweep. On a
    /// network file system whose locks do not reach other hosts (NFS mounted with `local_lock`),
    /// only owners on this host are seen.
    pub fn sweep(in_dir: &Path, removal: &Removal) -> Sweep {
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
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    lock_forgotten(&path, removal)
                }
                lock => lock,
            };
            let Ok(Some(lock)) = lock else {
                continue;
            };
            // Its lock is held, so two directories that record each other are not swept forever.
            for there in elsewhere(&path) {
                let there = Self::sweep(&there, removal);
                sweep.removed.extend(there.removed);
                sweep.left.extend(there.left);
            }
            match remove(&path, Some(lock), removal.exit_wait) {
                Ok(()) => sweep.removed.push(path),
                Err(error) => sweep.left.push((path, error)),
            }
        }
        sweep
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next start sweeps the rest.
        let _ = remove(&self.path, self.lock.take(), self.removal.exit_wait);
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

/// Locks a directory of this program that no process has locked.
fn lock_abandoned(dir: &Path) -> io::Result<Option<File>> {
    let metadata = fs::symlink_metadata(dir)?;
    if !metadata.is_dir() || !os::file::is_own(dir, &metadata) {
        return Ok(None);
    }
    let lock = os::file::open_existing(&dir.join(LOCK))?;
    if !lock.metadata()?.is_file() || lock.try_lock().is_err() {
        return Ok(None);
    }
    Ok(Some(lock))
}

/// Creates a new lock in a directory of this program that has none and has not changed for long.
fn lock_forgotten(dir: &Path, removal: &Removal) -> io::Result<Option<File>> {
    let is_old = |metadata: &fs::Metadata| {
        let changed = metadata.modified().ok();
        let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
        age.is_some_and(|age| age >= removal.unchanged_for)
    };
    let metadata = fs::symlink_metadata(dir)?;
    if !metadata.is_dir() || !os::file::is_own(dir, &metadata) || !is_old(&metadata) {
        return Ok(None);
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let is_plain = metadata.is_file() || metadata.is_dir();
        let is_own = os::file::is_own(&entry.path(), &metadata);
        let is_ours = is_plain && is_own && is_made(&entry, removal);
        if !is_ours || !is_old(&metadata) {
            return Ok(None);
        }
    }
    let unlocked = dir.join(UNLOCKED);
    let lock = match File::create_new(&unlocked) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            os::file::open_existing(&unlocked)?
        }
        made => made?,
    };
    if lock.try_lock().is_err() {
        return Ok(None);
    }
    fs::rename(unlocked, dir.join(LOCK))?;
    Ok(Some(lock))
}

/// Device space of the files below a directory, in bytes. Files that cannot be accessed, or are
/// gone by then, count as 0.
pub fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some(if metadata.is_dir() {
                bytes_below(&entry.path())
            } else {
                allocated_bytes(&metadata).unwrap_or(metadata.len())
            })
        })
        .sum()
}

/// True if this program gives such a name to an entry of a scratch directory: a name of this module
/// or of confinement, or one of [`Removal::is_own_name`].
fn is_made(entry: &fs::DirEntry, removal: &Removal) -> bool {
    let name = entry.file_name();
    let name = name.to_str().unwrap_or_default();
    [UNLOCKED, ELSEWHERE].contains(&name)
        || os::confinement::is_record(name)
        || (removal.is_own_name)(name)
}

/// The other directories recorded in a scratch directory.
fn elsewhere(dir: &Path) -> Vec<PathBuf> {
    let mut memory = Vec::new();
    let file = os::file::open_existing(&dir.join(ELSEWHERE));
    let read = file.and_then(|mut file| file.read_to_end(&mut memory));
    if read.is_err() {
        return Vec::new();
    }
    let paths = memory.split(|byte| *byte == 0);
    paths
        .filter_map(|path| name_from_bytes(path).map(PathBuf::from))
        .collect()
}

/// Removes a scratch directory and undoes everything created for it. The lock file goes last: if
/// this is interrupted, a sweep can remove the rest. The lock is held until only the lock file is
/// left. It is released before that is removed: NFS and FUSE rename an open file to a hidden one
/// instead, and the directory could not be removed.
fn remove(dir: &Path, lock: Option<File>, exit_wait: Duration) -> io::Result<()> {
    os::confinement::undo(dir, exit_wait).map_err(io::Error::other)?;
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
