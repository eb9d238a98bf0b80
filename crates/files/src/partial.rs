//! Targets that are whole, or not there at all.

use crate::{Error, Result, Watch};
use platform::block_io::wait_writable;
use platform::directory::Directory;
use platform::file::{
    OpenMode, become_like, create_new, create_new_like, is_stream, open_write,
    open_write_without_waiting,
};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Time between two looks at whether to go on while a pipe is waited for.
const PATIENCE: Duration = Duration::from_millis(50);

/// A file that is being written. It gets its name when it is finished; without that, nothing of it
/// stays, and also after a kill where the file system has files without a name.
#[derive(Debug)]
pub struct Partial {
    file: File,
    path: PathBuf,
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
    /// permissions of `model`, if there is one, as far as the umask lets it. A device or a pipe takes
    /// what it is given, and a pipe is waited for until somebody reads it or `watch` says no more.
    ///
    /// # Errors
    /// If the target is there and not to be replaced, or no file can be made beside it.
    pub fn begin(
        target: &Path,
        mode: OpenMode,
        force: bool,
        model: Option<&Metadata>,
        watch: &Watch<'_>,
    ) -> Result<Self> {
        let refused = Error::on(target);
        match fs::metadata(target) {
            Ok(_) if !force => Err(Error::Exists(target.to_owned())),
            Ok(metadata) if metadata.is_dir() => Err(Error::Directory(target.to_owned())),
            // There is nothing to put in its place.
            Ok(metadata) if !metadata.is_file() => Ok(Self {
                file: if is_stream(&metadata) {
                    open_stream(target, mode, watch)?
                } else {
                    open_write(target, mode).map_err(refused)?
                },
                path: target.to_owned(),
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
        let directory = Directory::open(folder(path)).map_err(&refused)?;
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
            path: path.to_owned(),
            target,
            waiting,
        })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// True for a new file, which has a length and takes blocks at any offset.
    pub(crate) fn is_new_file(&self) -> bool {
        self.target.is_some()
    }

    /// Writes all of `bytes` where the last write ended. A pipe or a device that takes no more is
    /// waited for until it does, or `watch` says no more.
    ///
    /// # Errors
    /// If the system refuses, or `watch` says so.
    pub fn write_all(&self, mut bytes: &[u8], watch: &Watch<'_>) -> Result<()> {
        let refused = Error::io(&self.path, "write a file");
        while !bytes.is_empty() {
            match (&self.file).write(bytes) {
                Ok(0) => return Err(refused(ErrorKind::WriteZero.into())),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait_writable(&self.file, PATIENCE)?;
                    watch.pass(0)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => watch.pass(0)?,
                Err(error) => return Err(refused(error)),
            }
        }
        Ok(())
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// If the name was taken meanwhile and is not to be replaced, or the file system refuses.
    pub fn finish(self) -> Result<()> {
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

/// The directory in which a path lies.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Opens a pipe or a character device for writing.
fn open_stream(path: &Path, mode: OpenMode, watch: &Watch<'_>) -> Result<File> {
    loop {
        let opened = open_write_without_waiting(path, mode).map_err(Error::on(path))?;
        if let Some(file) = opened {
            return Ok(file);
        }
        sleep(PATIENCE);
        watch.pass(0)?;
    }
}

/// A name in the same directory as a target, hidden, that nobody can guess. What has it is removed
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
        let name = target.file_name().unwrap_or_default();
        // A fresh `RandomState` is seeded by the system.
        let random = RandomState::new().hash_one(std::process::id());
        let mut beside = OsString::from(".");
        beside.push(shortened(name));
        beside.push(format!(".{random:016x}.part"));
        Self(target.with_file_name(beside))
    }
}

/// As much of a name as leaves room for what is added to it.
fn shortened(name: &OsStr) -> String {
    const MOST_BYTES: usize = 200;
    let name = name.to_string_lossy();
    name[..name.floor_char_boundary(MOST_BYTES)].to_owned()
}

impl Drop for Beside {
    fn drop(&mut self) {
        // The error that led here is the one to tell; after a renaming there is nothing to remove.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Beside, Partial};
    use crate::{Error, Watch};
    use platform::file::OpenMode;
    use std::fs;
    use std::path::Path;

    fn begin(target: &Path, force: bool) -> Result<Partial, Error> {
        Partial::begin(target, OpenMode::Plain, force, None, &Watch::default())
    }

    fn write(partial: &Partial, bytes: &[u8]) {
        partial.write_all(bytes, &Watch::default()).unwrap();
    }

    #[test]
    fn nothing_has_the_name_before_all_is_written_and_nobody_loses_it_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("file");
        let begun = begin(&target, false).unwrap();
        write(&begun, b"ours");
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
        let start = |force| begin(&target, force);
        drop(start(false).unwrap());
        assert!(!target.exists());
        start(false).unwrap().finish().unwrap();

        let error = start(false).unwrap_err();
        assert!(matches!(error, Error::Exists(_)), "{error}");
        fs::write(&target, "mine").unwrap();
        let begun = start(true).unwrap();
        write(&begun, b"other");
        drop(begun);
        assert_eq!(fs::read(&target).unwrap(), b"mine");
        let begun = start(true).unwrap();
        write(&begun, b"other");
        begun.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"other");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        begin(dir.path(), true).unwrap_err();
    }

    #[test]
    fn a_link_in_place_of_the_name_it_waits_under_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("file");
        let (one, other) = (Beside::free(&target), Beside::free(&target));
        assert_ne!(one.path(), other.path());
        let foreign = dir.path().join("foreign");
        std::os::unix::fs::symlink(&foreign, one.path()).unwrap();
        platform::file::create_new(one.path(), OpenMode::Plain).unwrap_err();
        assert!(!foreign.exists());
        let long = dir.path().join("x".repeat(255));
        drop(Beside::new(&long).unwrap());
    }
}
