use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use crate::directory::Kind;
pub(crate) use crate::directory::lacking::*;
use crate::error::{Error, Result, refuse};
use crate::file::OpenMode;

pub(crate) type Handle = ();

pub(crate) fn open(path: &Path) -> Result<Handle> {
    fs::read_dir(path)
        .map(drop)
        .map_err(Error::path("open", path))
}

pub(crate) fn open_or_create(_handle: &Handle, path: &Path, name: &OsStr) -> Result<File> {
    let path = path.join(name);
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(&path).map_err(Error::path("open", &path))
}

pub(crate) fn create_unnamed(
    _handle: &Handle,
    _path: &Path,
    _mode: OpenMode,
    _model: Option<&Metadata>,
) -> Result<File> {
    refuse("a file without a name")
}

pub(crate) fn give_name(_: &Handle, _: &Path, _: &File, _: &OsStr) -> Result<()> {
    refuse("a file without a name")
}

pub(crate) fn what_is(_handle: &Handle, path: &Path, name: &OsStr) -> Result<Option<Kind>> {
    let path = path.join(name);
    match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_file() => Ok(Some(Kind::File)),
        Ok(_) => Ok(Some(Kind::Other)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::path("look for", &path)(error)),
    }
}

pub(crate) fn holds(_handle: &Handle, path: &Path, name: &OsStr, _file: &File) -> Result<bool> {
    Ok(path.join(name).is_file())
}

pub(crate) fn rename(
    (_, from_path, from): (&Handle, &Path, &OsStr),
    (_, path, to): (&Handle, &Path, &OsStr),
    replace: bool,
) -> Result<()> {
    let (from, to) = (from_path.join(from), path.join(to));
    let renamed = if replace {
        fs::rename(&from, &to)
    } else {
        // A second hard link fails if the name is taken.
        fs::hard_link(&from, &to).and_then(|()| fs::remove_file(&from))
    };
    renamed.map_err(Error::path("name", &to))
}

pub(crate) fn remove(_handle: &Handle, path: &Path, name: &OsStr) -> Result<()> {
    let path = path.join(name);
    fs::remove_file(&path).map_err(Error::path("remove", &path))
}

pub(crate) fn open_private(_: &Handle, _: &Path, _: &OsStr) -> Result<Handle> {
    refuse("a directory of one's own")
}

pub(crate) fn open_own(handle: &Handle, path: &Path, name: &OsStr) -> Result<File> {
    open_or_create(handle, path, name)
}

pub(crate) fn remove_directory(_: &Handle, path: &Path, name: &OsStr) -> Result<()> {
    let path = path.join(name);
    fs::remove_dir(&path).map_err(Error::path("remove", &path))
}

pub(crate) fn files_bytes(_: &Handle) -> Option<u64> {
    None
}

pub(crate) fn sync(_handle: &Handle, _path: &Path) -> Result<()> {
    refuse("synchronising a directory")
}

pub(crate) fn is_in_memory(_handle: &Handle) -> bool {
    false
}

pub(crate) fn free_bytes(_handle: &Handle) -> Option<u64> {
    None
}

pub(crate) fn spread_subdirectories(path: &Path) -> Result<bool> {
    open(path).map(|()| false)
}

pub(crate) fn name_from_bytes(bytes: &[u8]) -> Option<OsString> {
    String::from_utf8(bytes.to_vec()).ok().map(OsString::from)
}

pub(crate) fn set_mode(_file: &File, _mode: u32) -> Result<()> {
    refuse("setting the permissions of a file")
}
