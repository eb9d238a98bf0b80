use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::directory::Kind;
pub(crate) use crate::directory::lacking::*;
use crate::error::{Error, Result};

/// Its path only: it may later lead to another directory.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl methods::Directory for Directory {}

impl Directory {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        fs::read_dir(path)
            .map(|_| Self {
                path: path.to_owned(),
            })
            .map_err(Error::path("open", path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn open_or_create(&self, name: &OsStr) -> Result<File> {
        let path = self.path.join(name);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        options.open(&path).map_err(Error::path("open", &path))
    }

    pub(crate) fn open_own(&self, name: &OsStr) -> Result<File> {
        self.open_or_create(name)
    }

    pub(crate) fn what_is(&self, name: &OsStr) -> Result<Option<Kind>> {
        let found = self.metadata(name)?;
        Ok(found.map(|found| {
            if found.is_file() {
                Kind::File
            } else {
                Kind::Other
            }
        }))
    }

    pub(crate) fn metadata(&self, name: &OsStr) -> Result<Option<Metadata>> {
        let path = self.path.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::path("look for", &path)(error)),
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub(crate) fn holds(&self, name: &OsStr, _file: &File) -> Result<bool> {
        Ok(self.path.join(name).is_file())
    }

    pub(crate) fn move_to(
        &self,
        from: &OsStr,
        target: &Self,
        to: &OsStr,
        replace: bool,
    ) -> Result<()> {
        let (from, to) = (self.path.join(from), target.path.join(to));
        let renamed = if replace {
            fs::rename(&from, &to)
        } else {
            // A second hard link fails if the name is taken.
            fs::hard_link(&from, &to).and_then(|()| fs::remove_file(&from))
        };
        renamed.map_err(Error::path("name", &to))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> Result<()> {
        let path = self.path.join(name);
        fs::remove_file(&path).map_err(Error::path("remove", &path))
    }

    pub(crate) fn remove_directory(&self, name: &OsStr) -> Result<()> {
        let path = self.path.join(name);
        fs::remove_dir(&path).map_err(Error::path("remove", &path))
    }
}

pub(crate) fn spread_subdirectories(path: &Path) -> Result<bool> {
    Directory::open(path).map(|_| false)
}
