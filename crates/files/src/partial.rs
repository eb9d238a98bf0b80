//! Targets that are whole, or not there at all.

use crate::{Error, Result};
use platform::directory::Directory;
use platform::file::{OpenMode, become_like, create_new, create_new_like, open_write};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};

/// A file that is being written. It gets its name when it is finished; without that, nothing of it
/// stays, and also after a kill where the file system has files without a name.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    /// What becomes of it at the end; `None` where there is nothing to do, as with a device.
    target: Option<Target>,
    /// The name under which it waits, where it needs one.
    waiting: Option<Beside>,
}

/// The name that a file is to get.
#[derive(Debug)]
struct Target {
    directory: Directory,
    name: OsString,
    /// Whether another has it, whose place is taken.
    is_taken: bool,
}

impl Partial {
    /// Begins a file for `target`. One that is there is kept, unless `force` says otherwise; then it
    /// stays until this is finished, which keeps its owner and its permissions. A new file has the
    /// permissions of `model`, if there is one, as far as the umask lets it.
    pub(crate) fn begin(
        target: &Path,
        mode: OpenMode,
        force: bool,
        model: Option<&Metadata>,
    ) -> Result<Self> {
        let refused = Error::on(target);
        match fs::metadata(target) {
            Ok(_) if !force => Err(Error::Exists(target.to_owned())),
            Ok(metadata) if metadata.is_dir() => Err(Error::Directory(target.to_owned())),
            // A device or a pipe takes what it is given; there is nothing to put in its place.
            Ok(metadata) if !metadata.is_file() => Ok(Self {
                file: open_write(target, mode).map_err(refused)?,
                target: None,
                waiting: None,
            }),
            Ok(metadata) => {
                // A link stays one, and leads to the new file.
                let resolved = target.canonicalize();
                let path = resolved.map_err(Error::io(target, "follow a link"))?;
                let begun = Self::make(&path, true, mode, Some(&metadata))?;
                become_like(&begun.file, &metadata).map_err(refused)?;
                Ok(begun)
            }
            Err(_) => {
                // By a link that leads nowhere.
                let is_taken = target.is_symlink();
                if is_taken && !force {
                    return Err(Error::Exists(target.to_owned()));
                }
                Self::make(target, is_taken, mode, model)
            }
        }
    }

    fn make(path: &Path, is_taken: bool, mode: OpenMode, model: Option<&Metadata>) -> Result<Self> {
        let refused = Error::on(path);
        let ends_in_slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let Some(name) = path.file_name().filter(|_| !ends_in_slash) else {
            return Err(Error::Directory(path.to_owned()));
        };
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let directory = Directory::open(parent).map_err(&refused)?;
        let (file, waiting) = match directory.create_unnamed(mode, model) {
            Err(error) if error.is_not_supported() => {
                let (file, waiting) = Beside::make(path, mode, model).map_err(refused)?;
                (file, Some(waiting))
            }
            unnamed => (unnamed.map_err(refused)?, None),
        };
        let target = Some(Target {
            directory,
            name: name.to_owned(),
            is_taken,
        });
        Ok(Self {
            file,
            target,
            waiting,
        })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<()> {
        let Some(target) = self.target else {
            return Ok(());
        };
        let Target {
            directory,
            name,
            is_taken,
        } = &target;
        let path = directory.path().join(name);
        let name_it = || match self.waiting {
            None if !is_taken => directory.give_name(&self.file, name),
            waiting => {
                let waiting = match waiting {
                    Some(waiting) => waiting,
                    // There is no way to put a file without a name in the place of another.
                    None => Beside::name(directory, &self.file, &path)?,
                };
                directory.rename(waiting.name_in_directory(), name, *is_taken)
            }
        };
        name_it().map_err(Error::on(&path))
    }
}

/// A name in the same directory as a target, hidden, of this process alone. What has it is removed
/// with this.
#[derive(Debug)]
pub(crate) struct Beside(PathBuf);

impl Beside {
    /// Puts an empty file there.
    pub(crate) fn new(target: &Path) -> Result<Self> {
        let made = Self::make(target, OpenMode::Plain, None);
        made.map(|(_, beside)| beside).map_err(Error::on(target))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    fn name_in_directory(&self) -> &OsStr {
        self.0.file_name().unwrap_or_default()
    }

    fn make(
        target: &Path,
        mode: OpenMode,
        model: Option<&Metadata>,
    ) -> platform::Result<(File, Self)> {
        let beside = Self::free(target);
        let file = match model {
            Some(model) => create_new_like(&beside.0, mode, model),
            None => create_new(&beside.0, mode),
        }?;
        Ok((file, beside))
    }

    fn name(directory: &Directory, file: &File, target: &Path) -> platform::Result<Self> {
        let beside = Self::free(target);
        directory.give_name(file, beside.name_in_directory())?;
        Ok(beside)
    }

    fn free(target: &Path) -> Self {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let beside = target.with_file_name(format!(".{name}.{}.part", std::process::id()));
        // What a process of the same number left there when it was killed. If it cannot be removed,
        // it cannot be replaced either, and that is told.
        let _ = fs::remove_file(&beside);
        Self(beside)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // The error that led here is the one to tell; after a renaming there is nothing to remove.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::Partial;
    use crate::Error;
    use platform::file::OpenMode;
    use std::fs;
    use std::io::Write;

    #[test]
    fn nothing_has_the_name_before_all_is_written_and_nobody_loses_it_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("file");
        let begun = Partial::begin(&target, OpenMode::Plain, false, None).unwrap();
        begun.file().write_all(b"ours").unwrap();
        assert!(!target.exists());
        fs::write(&target, "theirs").unwrap();
        let error = begun.finish().unwrap_err();
        assert!(matches!(error, Error::Exists(_)), "{error}");
        assert_eq!(fs::read(&target).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

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
