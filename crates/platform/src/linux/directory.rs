use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, IFlags, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

use super::file::{allocated_bytes, flags, is_own};
use super::parse::colon_field;
use crate::error::{Error, Result};
use crate::file::OpenMode;

/// What keeps a path below the directory.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// An open directory. It stays the same directory even if its path later leads to another one.
#[derive(Debug)]
pub struct Directory {
    handle: File,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory.
    pub fn open(path: &Path) -> Result<Self> {
        let open = |access| {
            let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::openat(CWD, path, flags, Mode::empty())
        };
        match open(OFlags::RDONLY) {
            // A user may have the right to create files in a directory but not to list it. Then it
            // cannot be synchronised.
            Err(Errno::ACCESS) => open(OFlags::PATH),
            opened => opened,
        }
        .map(|handle| Self {
            handle: handle.into(),
            path: path.to_owned(),
        })
        .map_err(Error::path("open", path))
    }

    /// The path of `name`, for error messages.
    fn at(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// The path given to [`Directory::open`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the regular file `name` for reading and writing, or creates it as `creation` allows.
    fn open_regular(
        &self,
        name: &OsStr,
        creation: OFlags,
        mode: Mode,
    ) -> io::Result<(File, Metadata)> {
        // If the name is a pipe, opening it does not wait.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | creation;
        let file = match rustix::fs::openat2(&self.handle, name, flags, mode, BENEATH) {
            // Before Linux 5.6, or in a sandbox that does not know the call. The name is a single
            // component and is not followed if it is a link, so it cannot lead outside either.
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(&self.handle, name, flags, mode),
            opened => opened,
        }?;
        let file = File::from(file);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(Errno::EXIST.into());
        }
        Ok((file, metadata))
    }

    /// Opens the regular file at `path` below it for reading, and returns its metadata. No
    /// component may be a link or lead outside: Linux uses [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html) if
    /// the kernel supports it, and else opens one component after the other.
    pub fn open_beneath(&self, path: &Path) -> Result<(File, Metadata)> {
        let failed = |error: io::Error| Error::path("open", &self.path.join(path))(error);
        // If the path leads to a pipe, opening it does not wait.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let open = |flags| rustix::fs::openat2(&self.handle, path, flags, Mode::empty(), BENEATH);
        let opened = match open(flags) {
            // Another program has a lease on the file and gets time to release it.
            Err(Errno::AGAIN) => open(flags & !OFlags::NONBLOCK),
            opened => opened,
        };
        let file = match opened {
            Err(Errno::NOSYS | Errno::PERM) => self.open_by_steps(path, flags),
            opened => opened,
        }
        .map_err(|errno| failed(errno.into()))?;
        let file = File::from(file);
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(failed(Errno::INVAL.into()));
        }
        Ok((file, metadata))
    }

    /// [`Directory::open_beneath`] before Linux 5.6, or in a sandbox that does not know the call.
    fn open_by_steps(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let mut components = path.components().peekable();
        let mut directory: Option<OwnedFd> = None;
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else {
                return Err(Errno::XDEV);
            };
            let at = directory.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
            if components.peek().is_none() {
                return rustix::fs::openat(at, name, flags, Mode::empty());
            }
            let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            directory = Some(rustix::fs::openat(at, name, step, Mode::empty())?);
        }
        Err(Errno::NOENT)
    }

    /// Opens the directory `name` in it. Links are not followed.
    pub fn open_directory(&self, name: &OsStr) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = self.at(name);
        match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Self {
                handle: handle.into(),
                path,
            }),
            Err(errno) => Err(Error::path("open", &path)(errno)),
        }
    }

    /// Creates the directory `name` in it with these permission bits, less the process's umask.
    ///
    /// # Errors
    /// With [`std::io::ErrorKind::AlreadyExists`] if the name is taken, or if the file system refuses.
    pub fn make_directory(&self, name: &OsStr, mode: u32) -> Result<()> {
        rustix::fs::mkdirat(&self.handle, name, Mode::from_raw_mode(mode & 0o777))
            .map_err(Error::path("make", &self.at(name)))
    }

    /// Creates the symbolic link `name` in it.
    pub fn make_link(&self, name: &OsStr, target: &OsStr) -> Result<()> {
        rustix::fs::symlinkat(target, &self.handle, name)
            .map_err(Error::path("make", &self.at(name)))
    }

    /// The target of the symbolic link `name` in it.
    pub fn read_link(&self, name: &OsStr) -> Result<OsString> {
        rustix::fs::readlinkat(&self.handle, name, Vec::new())
            .map(|target| OsString::from_vec(target.into_bytes()))
            .map_err(Error::path("read", &self.at(name)))
    }

    /// The directory itself, for its permissions and times.
    pub fn as_file(&self) -> Result<File> {
        self.handle
            .try_clone()
            .map_err(Error::path("open", &self.path))
    }

    /// Opens the directory `name` in it, or creates it, with access for this user only (`0700` on
    /// Linux). Links are not followed.
    ///
    /// # Errors
    /// [`crate::Error::Planted`] if it belongs to another user or others may write to it; another
    /// error if it cannot be opened.
    pub fn open_private(&self, name: &OsStr) -> Result<Self> {
        match rustix::fs::mkdirat(&self.handle, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(Error::path("make", &self.at(name))(errno)),
        }
        let directory = self.open_directory(name)?;
        let found = directory.handle.metadata();
        let found = found.map_err(Error::path("open", &directory.path))?;
        let others_may_write = found.mode() & 0o022 != 0;
        if !is_own(&directory.path, &found) || others_may_write {
            return Err(Error::Planted {
                path: self.at(name),
                what: "the directory belongs to another user, or others may write to it",
            });
        }
        Ok(directory)
    }

    /// Opens the regular file `name` in it for reading and writing, or creates it, closed to other
    /// users (`0600` on Linux). Links are not followed, and the name cannot lead outside: Linux uses
    /// [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html) with `RESOLVE_BENEATH` if
    /// the kernel supports it. An existing file to which others had rights is removed, and made anew:
    /// they may still have it open.
    ///
    /// # Errors
    /// [`crate::Error::Planted`] if it belongs to another user or has a second name; another error
    /// if it cannot be opened, or is not a regular file.
    pub fn open_own(&self, name: &OsStr) -> Result<File> {
        /// Others may make and remove the file at the same time.
        const ATTEMPTS: usize = 100;
        let own = Mode::RUSR | Mode::WUSR;
        let failed = |error: io::Error| Error::path("open", &self.at(name))(error);
        for _ in 0..ATTEMPTS {
            match self.open_regular(name, OFlags::CREATE | OFlags::EXCL, own) {
                Ok((file, _)) => {
                    // The umask may have taken away rights of the owner.
                    set_mode(&file, own.as_raw_mode())?;
                    return Ok(file);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            let (file, found) = match self.open_regular(name, OFlags::empty(), Mode::empty()) {
                Ok((file, found)) => (Some(file), found),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                // Nor may the owner open a file whose mode allows nobody to read or to write it.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    match self.metadata(name)? {
                        Some(found) if found.is_file() => (None, found),
                        Some(_) => return Err(failed(error)),
                        None => continue,
                    }
                }
                Err(error) => return Err(failed(error)),
            };
            if !is_own(&self.at(name), &found) || found.nlink() > 1 {
                return Err(Error::Planted {
                    path: self.at(name),
                    what: "the file belongs to another user, or has a second name",
                });
            }
            if let Some(file) = file
                && found.mode() & 0o7777 == own.as_raw_mode()
            {
                return Ok(file);
            }
            match self.remove(name) {
                Err(error) if error.kind() != Some(ErrorKind::NotFound) => return Err(error),
                _ => {}
            }
        }
        Err(failed(Errno::AGAIN.into()))
    }

    /// Removes the directory `name`, which must be empty.
    pub fn remove_directory(&self, name: &OsStr) -> Result<()> {
        rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)
            .map_err(Error::path("remove", &self.at(name)))
    }

    /// Device space of the regular files directly in it, in bytes; `None` if the system does not
    /// report it.
    pub fn files_bytes(&self) -> Option<u64> {
        let entries = rustix::fs::Dir::read_from(&self.handle).ok()?;
        let sizes = entries.flatten().filter_map(|entry| {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let found = self.metadata(name).ok()??;
            allocated_bytes(&found).filter(|_| found.is_file())
        });
        Some(sizes.sum())
    }

    /// Creates an unnamed file in its file system, which vanishes if it never gets a name
    /// (`O_TMPFILE` on Linux). It has these permission bits (`0o666` if none are given) less the
    /// process's umask; only `0o777` of them count.
    ///
    /// # Errors
    /// If none can be created; [`crate::Error::NotSupported`] if the file system has no unnamed
    /// files, or not in this mode.
    pub fn create_unnamed(&self, mode: OpenMode, permissions: Option<u32>) -> Result<File> {
        let of_mode = OFlags::from_bits_retain(flags(mode).cast_unsigned());
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC | of_mode;
        let permissions = Mode::from_raw_mode(permissions.unwrap_or(0o666) & 0o777);
        match rustix::fs::openat(&self.handle, c".", flags, permissions) {
            Ok(file) => Ok(file.into()),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                Err(Error::NotSupported("a file without a name"))
            }
            Err(errno) => Err(Error::path("make a file in", &self.path)(errno)),
        }
    }

    /// Gives a file from [`Directory::create_unnamed`] a name.
    ///
    /// # Errors
    /// With [`std::io::ErrorKind::AlreadyExists`] if the name is taken, or if the file system refuses.
    pub fn give_name(&self, file: &File, name: &OsStr) -> Result<()> {
        // Before Linux 6.10, linking by descriptor needs a right that few processes have.
        let named = rustix::fs::linkat(file, c"", &self.handle, name, AtFlags::EMPTY_PATH).or_else(
            |errno| {
                if errno == Errno::EXIST {
                    return Err(errno);
                }
                let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
                rustix::fs::linkat(CWD, itself, &self.handle, name, AtFlags::SYMLINK_FOLLOW)
            },
        );
        named.map_err(Error::path("name", &self.at(name)))
    }

    /// The metadata of `name`, without following links; `None` if it does not exist.
    pub fn metadata(&self, name: &OsStr) -> Result<Option<Metadata>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            found => found.map_err(io::Error::from),
        };
        found
            .and_then(|found| File::from(found).metadata())
            .map(Some)
            .map_err(Error::path("look for", &self.at(name)))
    }

    /// True if `name` still names this open file.
    pub fn holds(&self, name: &OsStr, file: &File) -> Result<bool> {
        let identity = |found: Metadata| (found.dev(), found.ino());
        let open = file.metadata();
        let open = open.map_err(Error::path("look for", &self.at(name)))?;
        Ok(self.metadata(name)?.map(identity) == Some(identity(open)))
    }

    /// As [`Directory::rename`], into another directory of the same file system.
    ///
    /// # Errors
    /// If the name is taken there, or the file system refuses.
    pub fn move_to(&self, from: &OsStr, target: &Self, to: &OsStr, replace: bool) -> Result<()> {
        let (from_handle, to_handle) = (&self.handle, &target.handle);
        let renamed = if replace {
            rustix::fs::renameat(from_handle, from, to_handle, to)
        } else {
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(from_handle, from, to_handle, to, flags) {
                // The file system does not have that flag. A second hard link also fails if the name is taken.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::linkat(from_handle, from, to_handle, to, AtFlags::empty())
                        .and_then(|()| rustix::fs::unlinkat(from_handle, from, AtFlags::empty()))
                }
                renamed => renamed,
            }
        };
        renamed.map_err(Error::path("name", &target.at(to)))
    }

    /// Removes the file `name`.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())
            .map_err(Error::path("remove", &self.at(name)))
    }

    /// Waits until all renames are on the device.
    pub fn sync(&self) -> Result<()> {
        self.handle
            .sync_all()
            .map_err(Error::path("synchronise", &self.path))
    }

    /// Space in its file system available to this user, in bytes; `None` if the system does not
    /// report it.
    pub fn free_bytes(&self) -> Option<u64> {
        let room = rustix::fs::fstatvfs(&self.handle).ok()?;
        Some(room.f_bavail.saturating_mul(room.f_frsize))
    }
}

/// Asks the file system to place each directory that is made in this one far from its siblings
/// (`FS_TOPDIR_FL`, [ioctl_iflags(2)](https://man7.org/linux/man-pages/man2/ioctl_iflags.2.html)).
/// ext4 then gives each a block group with few directories, and the files in it get the inodes of
/// that group. False if the file system has no such attribute, and then nothing changed.
pub fn spread_subdirectories(path: &Path) -> Result<bool> {
    let Directory { handle, .. } = Directory::open(path)?;
    let spread = rustix::fs::ioctl_getflags(&handle)
        .and_then(|flags| rustix::fs::ioctl_setflags(&handle, flags | IFlags::TOPDIR));
    Ok(spread.is_ok())
}

/// The directory at which systems keep files in memory (`/dev/shm` on Linux). It may be missing.
pub fn in_memory() -> Option<&'static Path> {
    Some(Path::new("/dev/shm"))
}

/// The file name with these bytes; `None` if this system's names are not bytes.
pub fn name_from_bytes(bytes: &[u8]) -> Option<OsString> {
    Some(OsString::from_vec(bytes.to_vec()))
}

/// The permission bits of a file (`0o644`); `None` if the system has none.
pub fn mode(metadata: &Metadata) -> Option<u32> {
    Some(metadata.mode() & 0o7777)
}

/// The permission bits that this process gives to no new file
/// ([umask(2)](https://man7.org/linux/man-pages/man2/umask.2.html)); `None` if the system has none.
// Before Linux 4.7, or without /proc, the only way to read it is to set it for a moment: to one that
// gives others nothing.
pub fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let known = colon_field(&status, "Umask").and_then(|mask| u32::from_str_radix(mask, 8).ok());
    Some(known.unwrap_or_else(|| {
        let mask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
        rustix::process::umask(mask);
        mask.as_raw_mode()
    }))
}

pub(crate) fn set_mode(file: &File, mode: u32) -> Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
        .map_err(Error::os("set the permissions of a file"))
}

#[cfg(test)]
mod tests;
