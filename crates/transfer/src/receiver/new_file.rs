//! A received file on disk: hidden until it is complete and verified, then published under its
//! name.

use super::destination::{Destination, remove_unless_replaced};
use super::{Failure, Options};
use crate::protocol::{FileName, Mode, Part, Times};
use platform::directory::{Directory, mode, set_mode};
use platform::file::{Access, LockedFile, OpenMode, become_like};
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes, Metadata};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{io, thread};
use twox_hash::XxHash3_128;

/// Files up to this size are unnamed until they are complete. That takes fewer system calls, and so
/// few bytes are not worth resuming.
const SMALL: u64 = 256 << 10;

/// Maximum time that a resumed file waits for its previous connection. That one may have ended at
/// the sender while its last bytes are still processed here.
const DRAINING: Duration = Duration::from_secs(10);
/// Interval of checking the lock while waiting.
const TICK: Duration = Duration::from_millis(20);

/// Maximum number of times that the directory of incomplete files may vanish between creation and
/// use. After that, its parent directory must be gone.
const ATTEMPTS: usize = 100;

/// The permission bits of a new file whose sender gives none, before the umask.
const USUAL_BITS: u32 = 0o666;

/// A received file on disk.
pub(super) struct NewFile {
    destination: Arc<Destination>,
    hidden: Hidden,
    /// Name of a hidden file that has one.
    hidden_name: OsString,
    /// The directory that the file gets its name in.
    parent: Arc<Directory>,
    name: OsString,
    /// True if an existing file of this name is replaced.
    replaces: bool,
    mode: Option<Mode>,
    modified: Option<Times>,
    /// Maximum total size of incomplete files, in bytes, including this one.
    most_kept: u64,
    /// False for a stream: its sender has no beginning to compare.
    is_resumable: bool,
    /// Dropped last.
    _partials: Option<Partials>,
}

/// Removes the directory of incomplete files if it is empty: when all that is open in it is closed, since Windows
/// removes no directory that is open.
struct Partials(Arc<Destination>);

impl Drop for Partials {
    fn drop(&mut self) {
        self.0.remove_empty_partials();
    }
}

/// An incomplete file.
enum Hidden {
    /// Stays for resuming when it is given up.
    Named {
        /// A directory that only this user can write to.
        partials: Directory,
        /// Locked, so that no other connection receives under the same name.
        file: LockedFile,
    },
    /// Disappears when it is given up.
    Unnamed(File),
}

impl NewFile {
    /// Creates the hidden file for an announced one.
    pub(super) fn make(
        destination: &Arc<Destination>,
        part: &Part,
        options: &Options,
    ) -> Result<Self, Failure> {
        let (parent, name) = destination.parent(&part.name)?;
        let hidden_name = hidden_name(&part.name);
        let is_small = part.parts == 1 && part.size.is_some_and(|size| size <= SMALL);
        let unnamed = (is_small && !part.resume && !options.force)
            .then(|| {
                let bits = part.mode.map(|mode| mode.bits);
                parent.create_unnamed(OpenMode::Plain, bits)
            })
            .and_then(Result::ok);
        let hidden = if let Some(file) = unnamed {
            Hidden::Unnamed(file)
        } else {
            // Whatever else prevented its creation is detected here too.
            check(&parent, &name, options.force)?;
            hide(destination, &hidden_name, part, options)?
        };
        let is_named = matches!(hidden, Hidden::Named { .. });
        let new_file = Self {
            destination: Arc::clone(destination),
            _partials: is_named.then(|| Partials(Arc::clone(destination))),
            hidden,
            hidden_name,
            parent,
            name,
            replaces: options.force,
            mode: part.mode,
            modified: part.modified,
            most_kept: options.max_partial,
            is_resumable: part.size.is_some(),
        };
        if is_named {
            // An earlier connection may have published the file before it released the lock.
            check(&new_file.parent, &new_file.name, options.force)?;
            if !part.resume {
                new_file.cut(0)?;
            }
        }
        Ok(new_file)
    }

    pub(super) fn file(&self) -> &File {
        match &self.hidden {
            Hidden::Named { file, .. } => file.file(),
            Hidden::Unnamed(file) => file,
        }
    }

    /// True if an earlier attempt left bytes.
    pub(super) fn has_bytes(&self) -> bool {
        self.file()
            .metadata()
            .is_ok_and(|metadata| metadata.len() > 0)
    }

    /// True if the file can stay for a later attempt to resume it.
    pub(super) fn can_be_kept(&self) -> bool {
        match &self.hidden {
            Hidden::Named { partials, .. } if self.is_resumable => {
                let kept = partials.files_bytes();
                !self.is_useless() && kept.is_none_or(|bytes| bytes <= self.most_kept)
            }
            _ => false,
        }
    }

    /// True if a file has this name and is not to be replaced.
    fn is_useless(&self) -> bool {
        let found = self.parent.metadata(&self.name);
        !self.replaces && matches!(found, Ok(Some(found)) if found.is_file())
    }

    /// Sets the file's exact length. Asking for the length costs less than truncating.
    pub(super) fn cut(&self, size: u64) -> Result<(), Failure> {
        let file = self.file();
        let cut = file.metadata().and_then(|metadata| {
            if metadata.len() == size {
                return Ok(());
            }
            file.set_len(size)
        });
        cut.map_err(Failure::from)
    }

    /// Publishes the complete file under its name.
    pub(super) fn publish(&self, options: &Options) -> Result<(), Failure> {
        let file = self.file();
        let prepare = || -> io::Result<()> {
            if let Some(times) = self.modified {
                file.set_times(FileTimes::new().set_modified(moment(times)?))?;
            }
            if options.fsync {
                file.sync_all()
            } else {
                Ok(())
            }
        };
        let publish = || {
            self.set_rights()?;
            let directory = &*self.parent;
            match &self.hidden {
                Hidden::Named { partials, .. } => {
                    let from = &self.hidden_name;
                    partials.move_to(from, directory, &self.name, self.replaces)
                }
                Hidden::Unnamed(file) => directory
                    .give_name(file, &self.name)
                    .inspect(|()| self.destination.sweep(&self.hidden_name)),
            }?;
            if options.fsync {
                directory.sync()
            } else {
                Ok(())
            }
        };
        prepare()?;
        publish().map_err(|error| match error.kind() {
            Some(io::ErrorKind::AlreadyExists) => {
                let found = check(&self.parent, &self.name, self.replaces).err();
                // That file may have been removed since.
                found.unwrap_or_else(taken)
            }
            _ => error.into(),
        })
    }

    /// Gives the file its owner and its permissions: those of the file that it replaces, or those of the
    /// source less the umask. Permissions that the sender wants kept go before both. Set-user-ID and
    /// set-group-ID never arrive.
    fn set_rights(&self) -> platform::Result<()> {
        let file = self.file();
        let kept = self.mode.filter(|mode| mode.is_kept);
        let kept = kept.map(|mode| mode.bits);
        let Some(umask) = self.destination.umask else {
            return kept.map_or(Ok(()), |bits| set_mode(file, bits));
        };
        let replaced = if self.replaces {
            self.parent.metadata(&self.name)?.filter(Metadata::is_file)
        } else {
            None
        };
        if let Some(replaced) = &replaced {
            become_like(file, replaced)?;
        }
        let usual = || match (&replaced, &self.hidden) {
            (Some(replaced), _) => mode(replaced),
            (None, Hidden::Named { .. }) => {
                let bits = self.mode.map_or(USUAL_BITS, |mode| mode.bits);
                Some(bits & !umask)
            }
            // It was made with them.
            (None, Hidden::Unnamed(_)) => None,
        };
        kept.or_else(usual)
            .map_or(Ok(()), |bits| set_mode(file, bits))
    }

    /// Deletes the incomplete file.
    pub(super) fn give_up(&self) {
        if let Hidden::Named { partials, file } = &self.hidden {
            // The file is worthless. If it cannot be removed, the next attempt overwrites it.
            let _ = remove_unless_replaced(partials, &self.hidden_name, file.file());
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Hidden::Named { file, .. } = &self.hidden {
            // A ring may keep the file, and with it the lock, open a moment longer. If unlocking
            // fails, closing the file ends the lock.
            let _ = file.unlock();
            if self.is_useless() {
                self.destination.sweep(&self.hidden_name);
            }
        }
    }
}

/// Checks that the name is free, or belongs to a file that may be replaced.
fn check(parent: &Directory, name: &OsStr, replaces: bool) -> Result<(), Failure> {
    match parent.metadata(name)? {
        Some(found) if !found.is_file() => {
            Err("its name belongs to something that is not a file".into())
        }
        Some(_) if !replaces => Err(taken()),
        _ => Ok(()),
    }
}

pub(super) fn taken() -> Failure {
    "a file of this name is there (--force replaces it)".into()
}

/// The name of an incomplete file. A separate hash finds it again, and is short however long the
/// name is.
pub(super) fn hidden_name(name: &FileName) -> OsString {
    format!("{:032x}", XxHash3_128::oneshot(name.bytes())).into()
}

/// Opens or creates the hidden file of this name, and locks it.
fn hide(
    destination: &Destination,
    name: &OsStr,
    part: &Part,
    options: &Options,
) -> Result<Hidden, Failure> {
    let deadline = Instant::now() + DRAINING;
    let may_wait = || {
        let is_over = options.limits.stop.load(Ordering::Acquire) || Instant::now() >= deadline;
        part.resume && part.parts == 1 && !is_over
    };
    let mut attempts = 0;
    loop {
        let (partials, file) = match destination.open_partial(name) {
            // The last user of the directory has removed it.
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) && attempts < ATTEMPTS => {
                attempts += 1;
                continue;
            }
            opened => opened?,
        };
        attempts = 0;
        let file = match LockedFile::lock(file, Access::Write) {
            Ok(file) => file,
            Err(error) => match error.kind() {
                Some(io::ErrorKind::WouldBlock) if may_wait() => {
                    thread::sleep(TICK);
                    continue;
                }
                Some(io::ErrorKind::WouldBlock) => {
                    return Err("another file of this name is coming in".into());
                }
                _ => return Err(error.into()),
            },
        };
        // The previous owner may have moved or removed the file before it released the lock.
        let is_it = partials.holds(name, file.file());
        if is_it? {
            return Ok(Hidden::Named { partials, file });
        }
    }
}

pub(super) fn moment(times: Times) -> io::Result<SystemTime> {
    let seconds = Duration::from_secs(times.seconds.unsigned_abs());
    let whole = if times.seconds >= 0 {
        UNIX_EPOCH.checked_add(seconds)
    } else {
        UNIX_EPOCH.checked_sub(seconds)
    };
    whole
        .and_then(|whole| whole.checked_add(Duration::from_nanos(times.nanoseconds.into())))
        .ok_or_else(|| io::Error::other("its time is beyond what this system knows"))
}
