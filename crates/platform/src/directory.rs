//! A directory that is held open, and the files directly in it: names given by somebody else lead
//! nowhere but there.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use crate::file::OpenMode;
use crate::{Result, os};

/// A directory that is held open. It stays the same one when its path is given to another.
#[derive(Debug)]
pub struct Directory {
    handle: os::directory::Handle,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory.
    ///
    /// # Errors
    /// If it is not there, is no directory, or may not be opened.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self {
            handle: os::directory::open(path)?,
            path: path.to_owned(),
        })
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the regular file `name` in it for reading and writing, or makes it. Links are not
    /// followed, and the name cannot lead elsewhere: on Linux by
    /// [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html) with `RESOLVE_BENEATH`
    /// where the kernel has it.
    ///
    /// # Errors
    /// If it cannot be opened, or is no regular file.
    pub fn open_or_create(&self, name: &OsStr) -> Result<File> {
        os::directory::open_or_create(&self.handle, &self.path, name)
    }

    /// Makes a file in its file system that has no name yet, and goes away by itself if it gets none
    /// (`O_TMPFILE` on Linux). It has the permissions of `model`, if there is one, less what the
    /// process's umask takes away.
    ///
    /// # Errors
    /// If none can be made; [`crate::Error::NotSupported`] where there are no such files, or none in
    /// this mode.
    pub fn create_unnamed(&self, mode: OpenMode, model: Option<&Metadata>) -> Result<File> {
        os::directory::create_unnamed(&self.handle, &self.path, mode, model)
    }

    /// Gives a file of [`Directory::create_unnamed`] a name.
    ///
    /// # Errors
    /// With [`std::io::ErrorKind::AlreadyExists`] if the name is taken, or if the file system refuses.
    pub fn give_name(&self, file: &File, name: &OsStr) -> Result<()> {
        os::directory::give_name(&self.handle, &self.path, file, name)
    }

    /// What is there under `name`, links not followed; `None` if nothing is.
    ///
    /// # Errors
    /// If the directory cannot be searched.
    pub fn what_is(&self, name: &OsStr) -> Result<Option<Kind>> {
        os::directory::what_is(&self.handle, &self.path, name)
    }

    /// Whether `name` still stands for this open file.
    ///
    /// # Errors
    /// If the directory cannot be searched.
    pub fn holds(&self, name: &OsStr, file: &File) -> Result<bool> {
        os::directory::holds(&self.handle, &self.path, name, file)
    }

    /// Opens the directory `name` in it, or makes it, for this user alone (`0700` on Linux). Links are
    /// not followed.
    ///
    /// # Errors
    /// [`crate::Error::Planted`] if it belongs to another user or others may write to it; another if it
    /// cannot be opened.
    pub fn open_private(&self, name: &OsStr) -> Result<Self> {
        Ok(Self {
            handle: os::directory::open_private(&self.handle, &self.path, name)?,
            path: self.path.join(name),
        })
    }

    /// As [`Directory::open_or_create`], for a file that nobody else has a hand in.
    ///
    /// # Errors
    /// [`crate::Error::Planted`] if it belongs to another user or has a second name; another if it
    /// cannot be opened, or is no regular file.
    pub fn open_own(&self, name: &OsStr) -> Result<File> {
        os::directory::open_own(&self.handle, &self.path, name)
    }

    /// Removes the directory `name`, which must be empty.
    ///
    /// # Errors
    /// If it is not empty, or cannot be removed.
    pub fn remove_directory(&self, name: &OsStr) -> Result<()> {
        os::directory::remove_directory(&self.handle, &self.path, name)
    }

    /// Bytes that the regular files directly in it take on the device; `None` if the system does not
    /// tell.
    pub fn files_bytes(&self) -> Option<u64> {
        os::directory::files_bytes(&self.handle)
    }

    /// Gives the file `from` the name `to` in one step. Without `replace`, what is there under that
    /// name stays and this fails with [`std::io::ErrorKind::AlreadyExists`].
    ///
    /// # Errors
    /// If the name is taken, or the file system refuses.
    pub fn rename(&self, from: &OsStr, to: &OsStr, replace: bool) -> Result<()> {
        self.move_to(from, self, to, replace)
    }

    /// As [`Directory::rename`], into another directory of the same file system.
    ///
    /// # Errors
    /// If the name is taken there, or the file system refuses.
    pub fn move_to(&self, from: &OsStr, target: &Self, to: &OsStr, replace: bool) -> Result<()> {
        os::directory::rename(
            (&self.handle, &self.path, from),
            (&target.handle, &target.path, to),
            replace,
        )
    }

    /// Removes the file `name`.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        os::directory::remove(&self.handle, &self.path, name)
    }

    /// Waits until changes of names are on the device.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn sync(&self) -> Result<()> {
        os::directory::sync(&self.handle, &self.path)
    }

    /// Room in its file system for this user, in bytes; `None` if the system does not tell.
    pub fn free_bytes(&self) -> Option<u64> {
        os::directory::free_bytes(&self.handle)
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory, a link, a device, a pipe or a socket.
    Other,
}

/// The name that these bytes are on this system; `None` where it has no such names.
pub fn name_from_bytes(bytes: &[u8]) -> Option<OsString> {
    os::directory::name_from_bytes(bytes)
}

/// The permission bits of a file (`0o644`); `None` where there are none.
pub fn mode(metadata: &Metadata) -> Option<u32> {
    os::directory::mode(metadata)
}

/// Sets a file's permission bits; of `mode` only `0o777` count, so that nobody is handed a program
/// that runs with another's rights.
///
/// # Errors
/// If the file system refuses.
pub fn set_mode(file: &File, mode: u32) -> Result<()> {
    os::directory::set_mode(file, mode & 0o777)
}
