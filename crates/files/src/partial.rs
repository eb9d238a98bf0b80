//! Targets that are whole, or not there at all.

use crate::{Error, Result};
use platform::file::{OpenMode, create, create_new, open_write};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A file that is being written. Unless it is finished, it is removed with this.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    /// What is removed or renamed; `None` where there is nothing to clear up, as with a device.
    at: Option<PathBuf>,
    target: PathBuf,
}

impl Partial {
    /// Begins a file at `target`. One that is there is kept, unless `force` says otherwise; then it
    /// stays until this is finished.
    pub(crate) fn begin(target: &Path, mode: OpenMode, force: bool) -> Result<Self> {
        let refused = Error::on(target);
        let (file, at) = match fs::metadata(target) {
            Ok(_) if !force => return Err(Error::Exists(target.to_owned())),
            Ok(metadata) if metadata.is_dir() => return Err(Error::Directory(target.to_owned())),
            // A device or a pipe takes what it is given; there is nothing to put in its place.
            Ok(metadata) if !metadata.is_file() => {
                (open_write(target, mode).map_err(refused)?, None)
            }
            Ok(_) => {
                let beside = beside(target);
                (create(&beside, mode).map_err(refused)?, Some(beside))
            }
            Err(_) => (
                create_new(target, mode).map_err(refused)?,
                Some(target.to_owned()),
            ),
        };
        Ok(Self {
            file,
            at,
            target: target.to_owned(),
        })
    }

    /// An empty file beside `target` that is removed with this.
    pub(crate) fn beside(target: &Path) -> Result<Self> {
        Self::begin(&beside(target), OpenMode::Plain, false)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.target
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Keeps the file, under its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        match self.at.take() {
            Some(at) if at != self.target => fs::rename(&at, &self.target)
                .inspect_err(|_| drop(fs::remove_file(&at)))
                .map_err(Error::io(&self.target, "name a file")),
            _ => Ok(()),
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Some(at) = &self.at {
            // The error that led here is the one to tell.
            let _ = fs::remove_file(at);
        }
    }
}

/// A name in the same directory.
fn beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::Partial;
    use crate::Error;
    use platform::file::OpenMode;
    use std::fs;
    use std::io::Write;

    #[test]
    fn a_target_is_there_whole_or_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("file");
        let start = |force| Partial::begin(&target, OpenMode::Plain, force);
        drop(start(false).unwrap());
        assert!(!target.exists());
        start(false).unwrap().finish().unwrap();

        let error = start(false).unwrap_err();
        assert!(matches!(error, Error::Exists(_)), "{error}");
        fs::write(&target, "mine").unwrap();
        let begun = start(true).unwrap();
        begun.file().write_all(b"other").unwrap();
        drop(begun);
        assert_eq!(fs::read(&target).unwrap(), b"mine");
        let begun = start(true).unwrap();
        begun.file().write_all(b"other").unwrap();
        begun.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"other");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        Partial::begin(dir.path(), OpenMode::Plain, true).unwrap_err();
    }
}
