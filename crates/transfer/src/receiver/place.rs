//! Where a file lies: out of sight until it is complete and verified, then under its name.

use super::Options;
use crate::protocol::{PARTIAL_NAME, Part, Times};
use platform::directory::{Directory, Kind, name_from_bytes, set_mode};
use platform::file::{Access, LockedFile, OpenMode};
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use twox_hash::XxHash3_128;

/// Files of up to this size have no name at all before they are complete: that takes fewer calls, and
/// of so few bytes none need be kept to go on with.
const SMALL: u64 = 256 << 10;

/// Whoever goes on with a file waits so long for the connection before, which may be over at the sender
/// but not here, where what it sent last is still taken in.
const DRAINING: Duration = Duration::from_secs(10);
/// How often it is looked whether that is so.
const TICK: Duration = Duration::from_millis(20);

/// The directory for incomplete files may be removed so often between making and using it. If it is
/// still not there then, the directory that it is made in is gone.
const ATTEMPTS: usize = 100;

/// Why a file is not kept.
pub(super) type Failure = String;

/// Where a file lies.
pub(super) struct Place {
    directory: Arc<Directory>,
    hidden: Hidden,
    name: OsString,
    mode: Option<u32>,
    modified: Option<Times>,
    /// The most bytes that files which are not complete may take together, when they are left.
    most_kept: u64,
}

/// A file that is not complete.
enum Hidden {
    /// It stays when it is given up, to be gone on with.
    Named {
        /// A directory that only this user can write to.
        partials: Directory,
        name: OsString,
        /// Locked, so that nobody else receives under the same name.
        file: LockedFile,
    },
    /// It goes away when it is given up.
    Unnamed(File),
}

impl Place {
    /// Makes one for what the sender announced.
    pub(super) fn make(
        directory: &Arc<Directory>,
        part: &Part<'_>,
        options: &Options,
    ) -> Result<Self, Failure> {
        let bytes = part.name.bytes();
        let name = name_from_bytes(bytes).ok_or("this system has no such names")?;
        let is_small = part.parts == 1 && part.size.is_some_and(|size| size <= SMALL);
        let unnamed = (is_small && !part.resume && !options.force)
            .then(|| directory.create_unnamed(OpenMode::Plain, None))
            .and_then(Result::ok);
        let hidden = if let Some(file) = unnamed {
            Hidden::Unnamed(file)
        } else {
            // What else kept it from being made is found here, too.
            check(directory, &name, options)?;
            hide(directory, part, options)?
        };
        Ok(Self {
            directory: Arc::clone(directory),
            hidden,
            name,
            mode: part.mode,
            modified: part.modified,
            most_kept: options.max_partial,
        })
    }

    /// The file.
    pub(super) fn file(&self) -> &File {
        match &self.hidden {
            Hidden::Named { file, .. } => file.file(),
            Hidden::Unnamed(file) => file,
        }
    }

    /// Whether it can be gone on with another time.
    pub(super) fn can_be_kept(&self) -> bool {
        match &self.hidden {
            Hidden::Named { partials, .. } => partials
                .files_bytes()
                .is_none_or(|bytes| bytes <= self.most_kept),
            Hidden::Unnamed(_) => false,
        }
    }

    /// Makes the file exactly so long.
    pub(super) fn cut(&self, size: u64) -> Result<(), Failure> {
        let file = self.file();
        let cut = file.metadata().and_then(|metadata| {
            if metadata.len() == size {
                return Ok(());
            }
            file.set_len(size)
        });
        cut.map_err(|error| error.to_string())
    }

    /// Puts the file, which is complete, under its name.
    pub(super) fn publish(&self, options: &Options) -> Result<(), Failure> {
        let file = self.file();
        let prepare = || {
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
            if let Some(mode) = self.mode {
                set_mode(file, mode)?;
            }
            match &self.hidden {
                Hidden::Named { partials, name, .. } => {
                    partials.move_to(name, &self.directory, &self.name, options.force)
                }
                Hidden::Unnamed(file) => self.directory.give_name(file, &self.name),
            }?;
            if options.fsync {
                self.directory.sync()
            } else {
                Ok(())
            }
        };
        prepare().map_err(|error: io::Error| error.to_string())?;
        publish().map_err(|error| match error.io_error().map(io::Error::kind) {
            Some(io::ErrorKind::AlreadyExists) => {
                let found = check(&self.directory, &self.name, options).err();
                // It may be gone again.
                found.unwrap_or_else(taken)
            }
            _ => error.to_string(),
        })
    }

    /// Removes it, incomplete as it is.
    pub(super) fn give_up(&self) {
        if let Hidden::Named { partials, name, .. } = &self.hidden {
            // It is worthless; if it cannot be removed, it is overwritten next time.
            let _ = partials.remove(name);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Hidden::Named { file, .. } = &self.hidden {
            // A ring may hold on to the file for a moment longer, and with it to the lock. Where it
            // cannot be given back, it ends with the file.
            let _ = file.file().unlock();
            // It stays while there are others in it.
            let _ = self.directory.remove_directory(PARTIAL_NAME.as_ref());
        }
    }
}

/// Makes sure that the name is free, or may be taken from a file.
fn check(directory: &Directory, name: &OsString, options: &Options) -> Result<(), Failure> {
    match directory.what_is(name).map_err(|error| error.to_string())? {
        Some(Kind::Other) => Err("something of this name is there that is no file".into()),
        Some(Kind::File) if !options.force => Err(taken()),
        _ => Ok(()),
    }
}

fn taken() -> Failure {
    "a file of this name is there (--force replaces it)".into()
}

/// Opens or makes the hidden file of a name.
fn hide(directory: &Directory, part: &Part<'_>, options: &Options) -> Result<Hidden, Failure> {
    let deadline = Instant::now() + DRAINING;
    let may_wait = || {
        let is_over = options.limits.stop.load(Ordering::Acquire) || Instant::now() >= deadline;
        part.resume && part.parts == 1 && !is_over
    };
    // Of the name, so that it is found again, and short, however long that is.
    let name = XxHash3_128::oneshot(part.name.bytes());
    let name = OsString::from(format!("{name:032x}"));
    let mut attempts = 0;
    loop {
        let (partials, file) = match open(directory, &name) {
            // Whoever left it last has removed the directory.
            Err(error) if is_gone(&error) && attempts < ATTEMPTS => {
                attempts += 1;
                continue;
            }
            opened => opened.map_err(|error| error.to_string())?,
        };
        attempts = 0;
        let file = match LockedFile::lock(file, Access::Write) {
            Ok(file) => file,
            Err(error) => match error.io_error().map(io::Error::kind) {
                Some(io::ErrorKind::WouldBlock) if may_wait() => {
                    thread::sleep(TICK);
                    continue;
                }
                Some(io::ErrorKind::WouldBlock) => {
                    return Err("another file of this name is coming in".into());
                }
                _ => return Err(error.to_string()),
            },
        };
        // Its owner may have given it its own name before the lock was free.
        let is_it = partials.holds(&name, file.file());
        if !is_it.map_err(|error| error.to_string())? {
            continue;
        }
        if !part.resume {
            empty(file.file()).map_err(|error| error.to_string())?;
        }
        return Ok(Hidden::Named {
            partials,
            name,
            file,
        });
    }
}

/// Opens or makes the directory for files that are not complete, and one file in it. Where others may
/// write as well, they may have put something there; it is not touched.
fn open(directory: &Directory, name: &OsStr) -> platform::Result<(Directory, File)> {
    let partials = directory.open_private(PARTIAL_NAME.as_ref())?;
    let file = partials.open_own(name)?;
    Ok((partials, file))
}

fn is_gone(error: &platform::Error) -> bool {
    error.io_error().map(io::Error::kind) == Some(io::ErrorKind::NotFound)
}

/// Removes what an earlier attempt left, if one did: asking costs less than cutting.
fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.len() > 0 {
        file.set_len(0)?;
    }
    Ok(())
}

fn moment(times: Times) -> io::Result<SystemTime> {
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
