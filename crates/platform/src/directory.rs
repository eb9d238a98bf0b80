//! An open directory and the files directly in it. A file name from an untrusted source can never
//! lead outside the directory.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::path::Path;

use crate::file::OpenMode;
use crate::{Result, os};

/// An open directory. It stays the same directory even if its path later leads to another one.
#[derive(Debug)]
pub struct Directory(os::directory::Directory);

impl Directory {
    /// Opens the directory `name` in it, or creates it, with access for this user only (`0700` on
    /// Linux). Links are not followed.
    ///
    /// # Errors
    /// [`crate::Error::Planted`] if it belongs to another user or others may write to it; another
    /// error if it cannot be opened.
    pub fn open_private(&self, name: &OsStr) -> Result<Self> {
        self.0.open_private(name).map(Self)
    }

    /// Opens the directory `name` in it. Links are not followed.
    ///
    /// # Errors
    /// If it does not exist, or is not a directory.
    pub fn open_directory(&self, name: &OsStr) -> Result<Self> {
        self.0.open_directory(name).map(Self)
    }

    /// Renames `from` to `to` atomically. Without `replace`, an existing `to` stays and this call
    /// fails with [`std::io::ErrorKind::AlreadyExists`].
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
        self.0.move_to(from, &target.0, to, replace)
    }
}

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory, a link, a device, a pipe or a socket.
    Other,
}

/// Sets a file's permission bits. Only `0o777` of `mode` count, so that no program ever gains the
/// rights of another user.
///
/// # Errors
/// If the file system refuses.
pub fn set_mode(file: &File, mode: u32) -> Result<()> {
    os::directory::set_mode(file, mode & 0o777)
}

face! {
    os::directory;

    /// Asks the file system to place each directory that is made in this one far from its siblings
    /// (`FS_TOPDIR_FL`, [ioctl_iflags(2)](https://man7.org/linux/man-pages/man2/ioctl_iflags.2.html)).
    /// ext4 then gives each a block group with few directories, and the files in it get the inodes of
    /// that group. False if the file system has no such attribute, and then nothing changed.
    ///
    /// # Errors
    /// If the directory cannot be opened.
    pub fn spread_subdirectories(path: &Path) -> Result<bool>;

    /// The directory at which systems keep files in memory (`/dev/shm` on Linux). It may be missing:
    /// [`Directory::is_in_memory`] tells.
    pub fn in_memory() -> Option<&'static Path> = None;

    /// The file name with these bytes; `None` if this system's names are not bytes.
    pub fn name_from_bytes(bytes: &[u8]) -> Option<OsString>
        = String::from_utf8(bytes.to_vec()).ok().map(OsString::from);

    /// The permission bits of a file (`0o644`); `None` if the system has none.
    pub fn mode(metadata: &Metadata) -> Option<u32> = None;

    /// The permission bits that this process gives to no new file
    /// ([umask(2)](https://man7.org/linux/man-pages/man2/umask.2.html)); `None` if the system has none.
    pub fn umask() -> Option<u32> = None;

    fn set_mode(file: &File, mode: u32) -> Result<()>
        = refuse("setting the permissions of a file");

    impl Directory {
        /// Opens a directory.
        ///
        /// # Errors
        /// If it does not exist, is not a directory, or may not be opened.
        pub fn open(path: &Path) -> Result<Self> = refuse("opening a directory");

        /// The path given to [`Directory::open`].
        pub fn path(&self) -> &Path;

        /// Opens the regular file `name` in it for reading and writing, or creates it. Links are not
        /// followed, and the name cannot lead outside: Linux uses
        /// [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html) with `RESOLVE_BENEATH` if
        /// the kernel supports it.
        ///
        /// # Errors
        /// If it cannot be opened, or is not a regular file.
        pub fn open_or_create(&self, name: &OsStr) -> Result<File>;

        /// Opens the regular file at `path` below it for reading, and returns its metadata. No
        /// component may be a link or lead outside: Linux uses [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html) if
        /// the kernel supports it, and else opens one component after the other.
        ///
        /// # Errors
        /// If it cannot be opened, or is not a regular file.
        pub fn open_beneath(&self, path: &Path) -> Result<(File, Metadata)>
            = refuse("opening a file below a directory");

        /// Creates an unnamed file in its file system, which vanishes if it never gets a name
        /// (`O_TMPFILE` on Linux). It has these permission bits (`0o666` if none are given) less the
        /// process's umask; only `0o777` of them count.
        ///
        /// # Errors
        /// If none can be created; [`crate::Error::NotSupported`] if the file system has no unnamed
        /// files, or not in this mode.
        pub fn create_unnamed(&self, mode: OpenMode, permissions: Option<u32>) -> Result<File>
            = refuse("a file without a name");

        /// Gives a file from [`Directory::create_unnamed`] a name.
        ///
        /// # Errors
        /// With [`std::io::ErrorKind::AlreadyExists`] if the name is taken, or if the file system refuses.
        pub fn give_name(&self, file: &File, name: &OsStr) -> Result<()>
            = refuse("a file without a name");

        /// The type of `name`, without following links; `None` if it does not exist.
        ///
        /// # Errors
        /// If the directory cannot be searched.
        pub fn what_is(&self, name: &OsStr) -> Result<Option<Kind>>;

        /// The metadata of `name`, without following links; `None` if it does not exist.
        ///
        /// # Errors
        /// If the directory cannot be searched.
        pub fn metadata(&self, name: &OsStr) -> Result<Option<Metadata>>;

        /// True if `name` still names this open file.
        ///
        /// # Errors
        /// If the directory cannot be searched.
        pub fn holds(&self, name: &OsStr, file: &File) -> Result<bool>;

        /// As [`Directory::open_or_create`], for a file that no other user can read or change (`0600` on
        /// Linux). An existing file to which others had rights is removed, and made anew: they may still
        /// have it open.
        ///
        /// # Errors
        /// [`crate::Error::Planted`] if it belongs to another user or has a second name; another error
        /// if it cannot be opened, or is not a regular file.
        pub fn open_own(&self, name: &OsStr) -> Result<File>;

        /// Creates the directory `name` in it with these permission bits, less the process's umask.
        ///
        /// # Errors
        /// With [`std::io::ErrorKind::AlreadyExists`] if the name is taken, or if the file system refuses.
        pub fn make_directory(&self, name: &OsStr, mode: u32) -> Result<()>
            = refuse("making a directory");

        /// Creates the symbolic link `name` in it.
        ///
        /// # Errors
        /// As [`Directory::make_directory`].
        pub fn make_link(&self, name: &OsStr, target: &OsStr) -> Result<()>
            = refuse("making a link");

        /// The target of the symbolic link `name` in it.
        ///
        /// # Errors
        /// If it is not a link.
        pub fn read_link(&self, name: &OsStr) -> Result<OsString> = refuse("reading a link");

        /// The directory itself, for its permissions and times.
        ///
        /// # Errors
        /// If no more files can be opened.
        pub fn as_file(&self) -> Result<File> = refuse("a directory as a file");

        /// Removes the directory `name`, which must be empty.
        ///
        /// # Errors
        /// If it is not empty, or cannot be removed.
        pub fn remove_directory(&self, name: &OsStr) -> Result<()>;

        /// Device space of the regular files directly in it, in bytes; `None` if the system does not
        /// report it.
        pub fn files_bytes(&self) -> Option<u64> = None;

        /// Removes the file `name`.
        ///
        /// # Errors
        /// If it cannot be removed.
        pub fn remove(&self, name: &OsStr) -> Result<()>;

        /// Waits until all renames are on the device.
        ///
        /// # Errors
        /// If the device refuses.
        pub fn sync(&self) -> Result<()> = refuse("synchronising a directory");

        /// True if its files are known to lie in memory (tmpfs, ramfs).
        pub fn is_in_memory(&self) -> bool = false;

        /// Space in its file system available to this user, in bytes; `None` if the system does not
        /// report it.
        pub fn free_bytes(&self) -> Option<u64> = None;

        fn open_directory(&self, name: &OsStr) -> Result<Self>
            = refuse("opening a directory in another");

        fn open_private(&self, name: &OsStr) -> Result<Self>
            = refuse("a directory of one's own");

        fn move_to(&self, from: &OsStr, target: &Self, to: &OsStr, replace: bool) -> Result<()>;
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io};

    use super::*;
    use crate::block_io::write_at;

    #[test]
    fn a_taken_name_is_replaced_only_on_request() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let (new, old) = (OsStr::new("new"), OsStr::new("old"));
        fs::write(place.path().join(new), "new").unwrap();
        fs::write(place.path().join(old), "old").unwrap();
        let error = directory.rename(new, old, false).unwrap_err();
        let kind = error.io_error().map(io::Error::kind);
        assert_eq!(kind, Some(io::ErrorKind::AlreadyExists));
        assert_eq!(fs::read(place.path().join(old)).unwrap(), b"old");
        directory.rename(new, old, true).unwrap();
        assert_eq!(fs::read(place.path().join(old)).unwrap(), b"new");
        assert_eq!(directory.what_is(new).unwrap(), None);
        assert!(directory.free_bytes().is_some());
    }

    #[test]
    fn a_name_holds_only_its_own_file() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let (one, other) = (OsStr::new("one"), OsStr::new("other"));
        let file = directory.open_or_create(one).unwrap();
        directory.open_or_create(other).unwrap();
        assert_eq!(directory.what_is(one).unwrap(), Some(Kind::File));
        assert!(directory.holds(one, &file).unwrap());
        assert!(!directory.holds(other, &file).unwrap());
        drop(file);
        directory.remove(one).unwrap();
        assert_eq!(directory.what_is(one).unwrap(), None);
        directory.sync().unwrap();
    }

    #[test]
    fn names_lead_nowhere_but_into_the_directory() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(place.path().join("secret"), "x").unwrap();
        let directory = Directory::open(&inside).unwrap();
        let absolute = place.path().join("secret");
        for name in [
            OsStr::new("../secret"),
            OsStr::new(".."),
            absolute.as_os_str(),
        ] {
            directory.open_or_create(name).unwrap_err();
        }
        fs::create_dir(inside.join("folder")).unwrap();
        directory.open_or_create(OsStr::new("folder")).unwrap_err();
        assert_eq!(fs::read(&absolute).unwrap(), b"x");
    }

    #[test]
    fn a_private_directory_opens_again_and_gives_its_files_away() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let (name, file) = (OsStr::new("private"), OsStr::new("file"));
        drop(directory.open_private(name).unwrap());
        let private = directory.open_private(name).unwrap();
        write_at(&private.open_own(file).unwrap(), b"x", 0).unwrap();
        fs::hard_link(private.path().join(file), place.path().join("second")).unwrap();
        let error = private.open_own(file).unwrap_err();
        assert!(matches!(error, crate::Error::Planted { .. }), "{error}");
        private
            .move_to(file, &directory, "published".as_ref(), false)
            .unwrap();
        assert_eq!(fs::read(place.path().join("published")).unwrap(), b"x");
        drop(private);
        directory.remove_directory(name).unwrap();
    }
}
