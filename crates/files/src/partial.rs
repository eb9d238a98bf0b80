//! Targets that are whole, or not there at all.

use crate::{Error, Result};
use platform::file::{OpenMode, become_like, create_new, create_new_like, open_write};
use std::fs::{self, File, Metadata};
use std::io;
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
    /// stays until this is finished, which keeps its owner and its permissions. A new file has the
    /// permissions of `model`, if there is one, as far as the umask lets it.
    pub(crate) fn begin(
        target: &Path,
        mode: OpenMode,
        force: bool,
        model: Option<&Metadata>,
    ) -> Result<Self> {
        let refused = Error::on(target);
        let plain = |at: PathBuf, file| Self {
            file,
            at: Some(at.clone()),
            target: at,
        };
        match fs::metadata(target) {
            Ok(_) if !force => Err(Error::Exists(target.to_owned())),
            Ok(metadata) if metadata.is_dir() => Err(Error::Directory(target.to_owned())),
            // A device or a pipe takes what it is given; there is nothing to put in its place.
            Ok(metadata) if !metadata.is_file() => Ok(Self {
                file: open_write(target, mode).map_err(refused)?,
                at: None,
                target: target.to_owned(),
            }),
            Ok(metadata) => {
                // A link stays one, and leads to the new file.
                let resolved = target.canonicalize();
                let target = resolved.map_err(Error::io(target, "follow a link"))?;
                let at = beside(&target);
                let begun = Self {
                    file: create_over_leftover(&at, mode, &metadata).map_err(&refused)?,
                    at: Some(at),
                    target,
                };
                become_like(&begun.file, &metadata).map_err(refused)?;
                Ok(begun)
            }
            Err(_) => match model {
                Some(model) => create_new_like(target, mode, model),
                None => create_new(target, mode),
            }
            .map(|file| plain(target.to_owned(), file))
            .map_err(refused),
        }
    }

    /// An empty file beside `target` that is removed with this.
    pub(crate) fn beside(target: &Path) -> Result<Self> {
        Self::begin(&beside(target), OpenMode::Plain, false, None)
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

/// A new file, also where a process of the same number left one behind when it was killed.
fn create_over_leftover(at: &Path, mode: OpenMode, model: &Metadata) -> platform::Result<File> {
    let create = || create_new_like(at, mode, model);
    match create() {
        Err(error)
            if error.io_error().map(io::Error::kind) == Some(io::ErrorKind::AlreadyExists) =>
        {
            // If that fails, so does the next line, with the reason.
            let _ = fs::remove_file(at);
            create()
        }
        outcome => outcome,
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
        let start = |force| Partial::begin(&target, OpenMode::Plain, force, None);
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
        Partial::begin(dir.path(), OpenMode::Plain, true, None).unwrap_err();
    }
}
