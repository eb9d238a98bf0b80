//! Targets that are complete or absent.

use crate::{Error, Result, Watch};
use platform::block_io::wait_writable;
use platform::directory::Directory;
use platform::file::{
    OpenMode, become_like, create_new, create_new_like, is_at, is_on_disk, is_stream, null_device,
    open_write, open_write_without_waiting, standard_output,
};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;
use tempfile::{NamedTempFile, TempPath};

/// Time between two checks of the stop flag while waiting for a pipe.
const PATIENCE: Duration = Duration::from_millis(50);

/// A file during its creation. It gets its name when it is complete. Otherwise nothing of it
/// remains; where the file system supports unnamed files, not even after a kill.
#[derive(Debug)]
pub struct Partial {
    file: File,
    path: PathBuf,
    /// The final target; `None` for targets that need no rename, such as a device.
    target: Option<Target>,
    /// True if bytes can be written at any offset.
    takes_offsets: bool,
    /// The temporary name, if the file needs one.
    waiting: Option<TempPath>,
}

/// The final name of the file.
#[derive(Debug)]
struct Target {
    directory: Directory,
    name: OsString,
    /// True if the name exists and is replaced.
    is_taken: bool,
}

impl Partial {
    /// Starts a file for `target`. An existing file is kept, unless `force` is set. Then it stays
    /// until the new file is complete, and the new file gets its owner and permissions. Otherwise a
    /// new file gets the permissions of `model`, if given, less the umask. A device or a pipe is
    /// written directly; this waits until a pipe has a reader or `watch` stops the work. Standard output,
    /// by any of its names, is written from its position on, and replaces nothing.
    ///
    /// # Errors
    /// If the target exists and may not be replaced, or no file can be created next to it.
    pub fn begin(
        target: &Path,
        mode: OpenMode,
        force: bool,
        model: Option<&Metadata>,
        watch: &Watch<'_>,
    ) -> Result<Self> {
        if names_standard_output(target) {
            let begun = Self::directly_to(standard_output()?, Path::new("standard output"));
            // It is written from its position on, so that earlier output stays.
            return Ok(Self {
                takes_offsets: false,
                ..begun
            });
        }
        let refused = Error::on(target);
        match fs::metadata(target) {
            Ok(metadata) if metadata.is_dir() => Err(Error::Directory(target.to_owned())),
            Ok(_) if !force => Err(Error::Exists(target.to_owned())),
            // A device or a pipe cannot be replaced by a file.
            Ok(metadata) if !metadata.is_file() => {
                let file = if is_stream(&metadata) {
                    open_stream(target, mode, watch)?
                } else {
                    open_write(target, mode).map_err(refused)?
                };
                Ok(Self::directly_to(file, target))
            }
            Ok(metadata) => {
                // A symbolic link is kept and points to the new file.
                let resolved = target.canonicalize();
                let path = resolved.map_err(Error::io(target, "follow a link"))?;
                let begun = Self::make(&path, true, mode, Some(&metadata))?;
                become_like(&begun.file, &metadata).map_err(refused)?;
                Ok(begun)
            }
            Err(_) => {
                // Windows reports nothing about a device before it is open.
                let device = device(target, mode);
                // True for a dangling symbolic link.
                let is_taken = target.is_symlink();
                if !force && (is_taken || device.is_some()) {
                    return Err(Error::Exists(target.to_owned()));
                }
                if let Some(device) = device {
                    return Ok(Self::directly_to(device, target));
                }
                Self::make(target, is_taken, mode, model)
            }
        }
    }

    /// Writes into what is there, which gets no other name.
    fn directly_to(file: File, target: &Path) -> Self {
        Self {
            // Pipes and terminals have no position.
            takes_offsets: (&file).stream_position().is_ok(),
            file,
            path: target.to_owned(),
            target: None,
            waiting: None,
        }
    }

    fn make(path: &Path, is_taken: bool, mode: OpenMode, model: Option<&Metadata>) -> Result<Self> {
        let refused = Error::on(path);
        let ends_in_slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let Some(name) = path.file_name().filter(|_| !ends_in_slash) else {
            return Err(Error::NoDirectory(path.to_owned()));
        };
        let directory = Directory::open(folder(path)).map_err(&refused)?;
        let (file, waiting) =
            match directory.create_unnamed(mode, model.and_then(platform::directory::mode)) {
                Err(error) if error.is_not_supported() => {
                    let make = |path: &Path| match model {
                        Some(model) => create_new_like(path, mode, model),
                        None => create_new(path, mode),
                    };
                    let (file, waiting) = part_file(path, make).map_err(refused)?.into_parts();
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
            takes_offsets: true,
            waiting,
        })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// True for a new file: it has a length, and any offset can be written.
    pub(crate) fn is_new_file(&self) -> bool {
        self.target.is_some()
    }

    /// True if bytes can be written at any offset.
    pub(crate) fn takes_offsets(&self) -> bool {
        self.takes_offsets
    }

    /// Appends all of `bytes`. If a pipe or a device is full, this waits for room until `watch`
    /// stops the work.
    ///
    /// # Errors
    /// If the system refuses, or `watch` stops the work.
    pub fn write_all(&self, mut bytes: &[u8], watch: &Watch<'_>) -> Result<()> {
        let refused = Error::io(&self.path, "write a file");
        while !bytes.is_empty() {
            match (&self.file).write(bytes) {
                Ok(0) => return Err(refused(ErrorKind::WriteZero.into())),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait_writable(&self.file, PATIENCE).map_err(Error::on(&self.path))?;
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
    /// If the name was taken in the meantime and may not be replaced, or the file system refuses.
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
                    // No system call replaces a named file by an unnamed one in one step.
                    None => part_file(&path, |part| {
                        directory.give_name(&self.file, part.file_name().unwrap_or_default())
                    })?
                    .into_temp_path(),
                };
                directory.rename(waiting.file_name().unwrap_or_default(), name, *is_taken)
            }
        };
        name_it().map_err(Error::on(&path))
    }
}

/// True for `-` and the paths of standard output. Where it is a regular file, opening such a path
/// would write from the start of the file, and replacing the file would leave the caller with the old
/// one.
pub fn names_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// True if what is written to `path` goes where standard output goes. That is no matter for the device
/// that keeps nothing.
pub fn is_standard_output(path: &Path) -> bool {
    let is_kept = |output: &File| !null_device().is_ok_and(|null| is_at(output, null));
    let is_same = || standard_output().is_ok_and(|output| is_at(&output, path) && is_kept(&output));
    names_standard_output(path) || is_same()
}

/// The device at a path, open; `None` if there is none.
fn device(path: &Path, mode: OpenMode) -> Option<File> {
    let opened = open_write(path, mode).ok()?;
    (!is_on_disk(&opened)).then_some(opened)
}

/// The directory that contains a path.
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

/// What `make` makes at a hidden, unpredictable path next to a target. Dropping it removes the file
/// of that name.
pub(crate) fn part_file<T>(
    target: &Path,
    mut make: impl FnMut(&Path) -> platform::Result<T>,
) -> platform::Result<NamedTempFile<T>> {
    let prefix = format!(".{}.", shortened(target.file_name().unwrap_or_default()));
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part").rand_bytes(16);
    let mut refusal = None;
    let part = builder.make_in(folder(target), |path| {
        make(path).map_err(|error| {
            let kind = error.kind().unwrap_or(ErrorKind::Other);
            refusal = Some(error);
            kind.into()
        })
    });
    part.map_err(|source| match refusal {
        // Nobody asked for the hidden name.
        Some(platform::Error::Path { source, .. }) => platform::Error::Path {
            action: "make",
            path: target.to_owned(),
            source,
        },
        Some(other) => other,
        None => platform::Error::Os {
            action: "make a file",
            source,
        },
    })
}

/// Shortens a name to leave room for the added suffix.
fn shortened(name: &OsStr) -> String {
    const MOST_BYTES: usize = 200;
    let name = name.to_string_lossy();
    name[..name.floor_char_boundary(MOST_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Partial, part_file};
    use crate::{Error, Watch};
    use platform::file::{OpenMode, null_device};
    use std::fs;
    use std::path::Path;

    fn begin(target: &Path, force: bool) -> Result<Partial, Error> {
        Partial::begin(target, OpenMode::Plain, force, None, &Watch::default())
    }

    fn write(partial: &Partial, bytes: &[u8]) {
        partial.write_all(bytes, &Watch::default()).unwrap();
    }

    #[test]
    fn a_device_is_written_as_it_is() {
        let device = null_device().unwrap();
        assert!(matches!(begin(device, false), Err(Error::Exists(_))));
        let begun = begin(device, true).unwrap();
        write(&begun, b"ours");
        begun.finish().unwrap();
    }

    #[test]
    fn a_read_only_file_is_replaced_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("file");
        fs::write(&target, "theirs").unwrap();
        let mut permissions = fs::metadata(&target).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&target, permissions).unwrap();
        let begun = begin(&target, true).unwrap();
        write(&begun, b"ours");
        begun.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"ours");
    }

    #[test]
    fn nothing_has_the_name_before_all_is_written_and_nobody_loses_it() {
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
    fn a_target_stays_as_it_was_until_its_replacement_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("file");
        fs::write(&target, "mine").unwrap();
        for (is_finished, expected) in [(false, "mine"), (true, "other")] {
            let begun = begin(&target, true).unwrap();
            write(&begun, b"other");
            if is_finished {
                begun.finish().unwrap();
            } else {
                drop(begun);
            }
            assert_eq!(fs::read_to_string(&target).unwrap(), expected);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        begin(dir.path(), true).unwrap_err();
    }

    #[test]
    fn the_temporary_name_of_a_long_name_fits() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("x".repeat(255));
        let make = |path: &Path| platform::file::create_new(path, OpenMode::Plain);
        let (one, other) = (
            part_file(&long, make).unwrap(),
            part_file(&long, make).unwrap(),
        );
        assert_ne!(one.path(), other.path());
        drop((one, other));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    // Windows lets ordinary users make no links.
    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_a_new_file_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (link, foreign) = (dir.path().join("link"), dir.path().join("foreign"));
        std::os::unix::fs::symlink(&foreign, &link).unwrap();
        platform::file::create_new(&link, OpenMode::Plain).unwrap_err();
        assert!(!foreign.exists());
    }
}
