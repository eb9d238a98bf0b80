use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_FLAGS_AND_ATTRIBUTES, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_WRITE_DATA, MoveFileExW,
};

use super::file::is_on_disk;
use super::outcome::{check, wide_path};
use super::{private, storage};
use crate::error::{Error, Result, absent, refuse};
use crate::file::OpenMode;

/// An open directory and its path. While it is open, Windows refuses to rename or delete it and the
/// directories above it, so the path keeps leading to it.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    handle: File,
}

impl Directory {
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, 0)
    }

    fn open_with(path: &Path, flags: FILE_FLAGS_AND_ATTRIBUTES) -> Result<Self> {
        let handle = OpenOptions::new()
            .read(true)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags)
            .open(path)
            .map_err(Error::path("open", path))?;
        let found = handle.metadata().map_err(Error::path("open", path))?;
        if !found.is_dir() {
            return Err(Error::path("open", path)(ErrorKind::NotADirectory));
        }
        Ok(Self {
            path: path.to_owned(),
            handle,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `name`, which must be one plain name. A colon would name another stream of a file, and dots and
    /// spaces at the end are dropped.
    fn at(&self, name: &OsStr) -> Result<PathBuf> {
        let mut components = Path::new(name).components();
        let is_plain = matches!(components.next(), Some(Component::Normal(only)) if only == name)
            && components.next().is_none()
            && !name.as_encoded_bytes().contains(&b':')
            && !name.as_encoded_bytes().ends_with(b".")
            && !name.as_encoded_bytes().ends_with(b" ");
        let path = self.path.join(name);
        if is_plain {
            Ok(path)
        } else {
            Err(Error::path("use the name", Path::new(name))(
                ErrorKind::InvalidInput,
            ))
        }
    }

    pub fn open_beneath(&self, path: &Path) -> Result<(File, Metadata)> {
        let refused = || Error::path("open", path);
        let Some(name) = path.file_name() else {
            return Err(Error::path("open", path)(ErrorKind::InvalidInput));
        };
        let parent = path.parent().unwrap_or(Path::new(""));
        // While they are open, none of these directories can become a link.
        let mut directories: Vec<Self> = Vec::new();
        for component in parent.components() {
            let at = directories.last().unwrap_or(self);
            directories.push(at.open_directory(component.as_os_str())?);
        }
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
            .open(directories.last().unwrap_or(self).at(name)?)
            .map_err(refused())?;
        regular(file).map_err(refused())
    }

    pub fn make_directory(&self, name: &OsStr, _: u32) -> Result<()> {
        let path = self.at(name)?;
        fs::create_dir(&path).map_err(Error::path("make", &path))
    }

    pub fn as_file(&self) -> Result<File> {
        self.handle
            .try_clone()
            .map_err(Error::path("open", &self.path))
    }

    /// Opens a directory in this one, which must not be a link.
    pub fn open_directory(&self, name: &OsStr) -> Result<Self> {
        let path = self.at(name)?;
        let directory = Self::open_with(&path, FILE_FLAG_OPEN_REPARSE_POINT)?;
        let found = directory.handle.metadata();
        let found = found.map_err(Error::path("open", &path))?;
        if found.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
            return Err(Error::path("open", &path)(io::Error::other("it is a link")));
        }
        Ok(directory)
    }

    pub fn open_own(&self, name: &OsStr) -> Result<File> {
        let path = self.at(name)?;
        let refused = || Error::path("open", &path);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            // A link is opened itself, and then found to be one.
            .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
            .open(&path)
            .map_err(refused())?;
        let (file, _) = regular(file).map_err(refused())?;
        if private::standard(&file)?.NumberOfLinks > 1 || !private::is_own(&file)? {
            return Err(Error::Planted {
                path,
                what: "the file belongs to another user, or has a second name",
            });
        }
        Ok(file)
    }

    pub fn open_private(&self, name: &OsStr) -> Result<Self> {
        let path = self.at(name)?;
        match private::create_directory(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(Error::path("make", &path)(error));
            }
            _ => {}
        }
        let directory = Self::open_with(&path, FILE_FLAG_OPEN_REPARSE_POINT)?;
        if private::is_own(&directory.handle)? {
            return Ok(directory);
        }
        Err(Error::Planted {
            path,
            what: "the directory belongs to another user",
        })
    }

    pub fn metadata(&self, name: &OsStr) -> Result<Option<Metadata>> {
        let path = self.path.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::path("look for", &path)(error)),
        }
    }

    pub fn holds(&self, name: &OsStr, file: &File) -> Result<bool> {
        let path = self.at(name)?;
        let found = OpenOptions::new()
            .access_mode(0)
            .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS)
            .open(&path);
        match found {
            Ok(found) => private::is_same(&found, file),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::path("look for", &path)(error)),
        }
    }

    /// The standard library replaces atomically. Where that is refused since the file is open, it asks for
    /// POSIX semantics (`FileRenameInfoEx`).
    pub fn move_to(&self, from: &OsStr, target: &Self, to: &OsStr, replace: bool) -> Result<()> {
        let (from, to) = (self.at(from)?, target.at(to)?);
        let renamed = if replace {
            allow_replacing(&to);
            fs::rename(&from, &to)
        } else {
            rename_to_free(&from, &to)
        };
        renamed.map_err(Error::path("name", &to))?;
        if self.path != target.path {
            private::open_to_others(&to);
        }
        Ok(())
    }

    /// The standard library deletes; where that is refused, it asks for POSIX semantics. Whether the name is
    /// free at once while other processes have the file open depends on the system's version.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        let path = self.at(name)?;
        fs::remove_file(&path).map_err(Error::path("remove", &path))
    }

    pub fn remove_directory(&self, name: &OsStr) -> Result<()> {
        let path = self.at(name)?;
        fs::remove_dir(&path).map_err(Error::path("remove", &path))
    }

    pub fn sync(&self) -> Result<()> {
        let refused = || Error::path("synchronise", &self.path);
        // To flush takes the right to write.
        let writable = OpenOptions::new()
            .access_mode(FILE_WRITE_DATA)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(&self.path)
            .map_err(refused())?;
        writable.sync_all().map_err(refused())
    }

    pub fn free_bytes(&self) -> Option<u64> {
        storage::free_bytes(&self.path).ok()
    }

    absent! {
        fn create_unnamed(&self, OpenMode, Option<u32>) -> Result<File> = refuse("a file without a name");
        fn give_name(&self, &File, &OsStr) -> Result<()> = refuse("a file without a name");
        fn make_link(&self, &OsStr, &OsStr) -> Result<()> = refuse("making a link");
        fn read_link(&self, &OsStr) -> Result<OsString> = refuse("reading a link");
        fn files_bytes(&self) -> Option<u64> = None;
    }
}

/// The file and its metadata. Fails for a directory, a link and a device, such as `NUL`, which any directory
/// seems to hold.
fn regular(file: File) -> io::Result<(File, Metadata)> {
    let found = file.metadata()?;
    let is_link = found.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0;
    if is_on_disk(&file) && found.is_file() && !is_link {
        return Ok((file, found));
    }
    Err(io::Error::other("it is not a regular file"))
}

/// Drops the mark that a file is read-only, for the system refuses to replace such a file. If that fails, so does
/// replacing it, with a reason.
#[expect(
    clippy::permissions_set_readonly_false,
    reason = "Windows gives nobody more rights by it"
)]
fn allow_replacing(path: &Path) {
    if let Ok(found) = fs::metadata(path) {
        let mut permissions = found.permissions();
        if permissions.readonly() {
            permissions.set_readonly(false);
            let _ = fs::set_permissions(path, permissions);
        }
    }
}

fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    // SAFETY: both paths end with a zero.
    let outcome = unsafe { MoveFileExW(wide_path(from).as_ptr(), wide_path(to).as_ptr(), 0) };
    check(outcome, "rename a file").map_err(io::Error::from)
}

pub fn spread_subdirectories(path: &Path) -> Result<bool> {
    Directory::open(path).map(|_| false)
}

absent! {
    fn in_memory() -> Option<&'static Path> = None;
    fn mode(&Metadata) -> Option<u32> = None;
    fn umask() -> Option<u32> = None;
    fn set_mode(&File, u32) -> Result<()> = refuse("setting the permissions of a file");
}

pub fn name_from_bytes(bytes: &[u8]) -> Option<OsString> {
    String::from_utf8(bytes.to_vec()).ok().map(OsString::from)
}
