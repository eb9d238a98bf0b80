//! Opens files in the modes that matter for measurements, and reports which part of a file is in
//! the page cache.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::startup::{had_standard_input, had_standard_output};
use crate::{Error, Result, os};

pub use crate::os::file::{
    allocate_open_file, allocate_range, allocated_bytes, allow_holes, become_like, believable_size,
    create_secret, drop_page_cache, evict, finds_room_by_page, is_at, is_on_disk, is_same_file,
    is_socket, next_data, null_device, open_without_waiting, open_write_without_waiting,
    overlapped, reports_residency, reserve, residency, try_lock_byte, zero_device,
};

/// The event for which reads and writes of a file wait
/// ([open(2)](https://man7.org/linux/man-pages/man2/open.2.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenMode {
    /// The page cache (no flag).
    Plain,
    /// The device, bypassing the page cache (`O_DIRECT`). Buffer, offset and length must be
    /// multiples of the device's logical block; the buffer of a [`crate::memory::Mapping`] is.
    Direct,
    /// Writes wait until data and metadata are on the device (`O_SYNC`).
    Synchronous,
    /// Writes wait until the data, and the metadata needed to read it, are on the device
    /// (`O_DSYNC`).
    DataSynchronous,
}

/// Opens an existing file for reading.
///
/// # Errors
/// If it cannot be opened; [`Error::NotSupported`] if its file system does not support the mode.
pub fn open_read(path: &Path, mode: OpenMode) -> Result<File> {
    open(OpenOptions::new().read(true), path, mode)
}

/// Opens an existing file for overwriting in place.
pub fn open_write(path: &Path, mode: OpenMode) -> Result<File> {
    open(OpenOptions::new().write(true), path, mode)
}

/// Opens an existing file for reading and writing.
pub fn open_read_write(path: &Path, mode: OpenMode) -> Result<File> {
    open(OpenOptions::new().read(true).write(true), path, mode)
}

/// Creates a new file for reading and writing; never opens an existing one.
///
/// # Errors
/// As [`open_read`], and if the file exists.
pub fn create_new(path: &Path, mode: OpenMode) -> Result<File> {
    let mut options = OpenOptions::new();
    open(options.read(true).write(true).create_new(true), path, mode)
}

/// As [`create_new`], with the permissions of `model`, less the process's umask.
pub fn create_new_like(path: &Path, mode: OpenMode, model: &Metadata) -> Result<File> {
    let mut options = OpenOptions::new();
    os::file::set_permissions(&mut options, model);
    open(options.read(true).write(true).create_new(true), path, mode)
}

/// Creates a file for reading and writing, or truncates an existing one.
pub fn create(path: &Path, mode: OpenMode) -> Result<File> {
    let mut options = OpenOptions::new();
    open(
        options.read(true).write(true).create(true).truncate(true),
        path,
        mode,
    )
}

fn open(options: &mut OpenOptions, path: &Path, mode: OpenMode) -> Result<File> {
    os::file::set_mode(options, mode)?;
    options.open(path).map_err(|error| {
        // open(2) reports a file system without direct mode this way.
        if mode == OpenMode::Direct && error.kind() == io::ErrorKind::InvalidInput {
            Error::NotSupported("direct input and output")
        } else {
            Error::path("open", path)(error)
        }
    })
}

/// Opens the file behind `file` again for reading, with its own position and mode, even if its path
/// now leads elsewhere. `path` is for error messages.
pub fn reopen_read(file: &File, path: &Path, mode: OpenMode) -> Result<File> {
    let own = os::file::path_of_descriptor(file);
    open_read(own.as_deref().unwrap_or(path), mode).map_err(|error| match error {
        Error::Path { action, source, .. } => Error::path(action, path)(source),
        other => other,
    })
}

/// Opens a file, a device or a pipe whose contents are to be read to the end. It waits for no writer of a named
/// pipe: without one the pipe is empty.
///
/// # Errors
/// If it cannot be opened, or is a directory.
pub fn open_input(path: &Path) -> io::Result<File> {
    let (file, metadata) = open_without_waiting(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    os::file::let_reads_wait(&file)?;
    Ok(file)
}

/// True for the metadata of a named pipe, a terminal or another device that accepts a byte stream.
pub fn is_stream(metadata: &Metadata) -> bool {
    os::file::is_named_pipe(metadata) || os::file::is_character_device(metadata)
}

/// Standard input as a file. It shares its position with all other processes that have it open.
///
/// # Errors
/// If it was not open for reading when this process started.
pub fn standard_input() -> Result<File> {
    let file = if had_standard_input() {
        os::file::duplicate(io::stdin())
    } else {
        Err(io::Error::other("it is not open for reading"))
    };
    file.map_err(Error::os("read standard input"))
}

/// Standard output as a file. It shares its position with all other processes that have it open.
///
/// # Errors
/// If it was not open for writing when this process started.
pub fn standard_output() -> Result<File> {
    let file = if had_standard_output() {
        os::file::duplicate(io::stdout())
    } else {
        Err(io::Error::other("it is not open for writing"))
    };
    file.map_err(Error::os("write to standard output"))
}

/// The part of a file that is in the page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Bytes in the page cache: whole pages, and of the last page only the part within the file.
    pub resident_bytes: u64,
    /// Size of the file, in bytes.
    pub total_bytes: u64,
    /// Method that reported it.
    pub method: ResidencyMethod,
}

impl Residency {
    /// The share of the file that is in the page cache, from 0 to 1; 0 of an empty file.
    pub fn share(&self) -> f64 {
        self.resident_bytes as f64 / self.total_bytes.max(1) as f64
    }

    /// True if the whole file is in the page cache.
    pub fn is_whole(&self) -> bool {
        self.resident_bytes >= self.total_bytes
    }
}

/// Method that reports the resident part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResidencyMethod {
    /// `cachestat`, system call 451, since Linux 6.5 (`mm/filemap.c`).
    Cachestat,
    /// [mincore(2)](https://man7.org/linux/man-pages/man2/mincore.2.html).
    Mincore,
}

/// Access for which a file is opened and locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading; other processes may read too.
    Read,
    /// Reading and writing; no other process may do either.
    Write,
}

/// An open file under an advisory lock ([`File::try_lock`]), for [`crate::memory::FileMapping`].
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    pub(crate) access: Access,
}

impl LockedFile {
    /// Locks a file until this value is dropped.
    ///
    /// # Errors
    /// [`Error::Os`] with [`io::ErrorKind::WouldBlock`] if it is locked already, in this process or
    /// another.
    pub fn lock(file: File, access: Access) -> Result<Self> {
        os::file::try_lock(&file, access).map_err(Error::os("lock a file"))?;
        Ok(Self { file, access })
    }

    /// Unlocks it before it is dropped, for other handles of the same opening would keep the lock.
    pub fn unlock(&self) -> io::Result<()> {
        os::file::unlock(&self.file)
    }

    /// As [`Self::lock`], through another handle of an opening by which this process may have locked the file
    /// already.
    pub fn lock_again(file: File, access: Access) -> Result<Self> {
        // On Windows a lock excludes other handles of its own opening as well. The system refuses to truncate a mapped
        // file, which is all that a mapping needs of the lock.
        if cfg!(windows) {
            return Ok(Self { file, access });
        }
        Self::lock(file, access)
    }

    /// The file, e.g. to set its length while it is not mapped.
    pub fn file(&self) -> &File {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::block_io::{read_exact_at, write_at};
    use crate::error::available;

    #[test]
    fn a_file_is_at_its_path_and_at_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other, link) = (
            dir.path().join("file"),
            dir.path().join("other"),
            dir.path().join("link"),
        );
        let file = create_new(&path, OpenMode::Plain).unwrap();
        fs::write(&other, b"").unwrap();
        fs::hard_link(&path, &link).unwrap();
        assert!(is_at(&file, &path));
        assert!(is_at(&file, &link));
        assert!(!is_at(&file, &other));
        assert!(!is_at(&file, &dir.path().join("none")));
    }

    #[test]
    fn a_reservation_keeps_the_size_and_an_allocation_does_not() {
        let file = tempfile::tempfile().unwrap();
        let Some(()) = available(reserve(&file, 0, 8192)) else {
            return;
        };
        assert_eq!(file.metadata().unwrap().len(), 0);
        write_at(&file, b"x", 0).unwrap();
        allocate_range(&file, 0, 8192).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 8192);
        let mut bytes = [1; 2];
        read_exact_at(&file, &mut bytes, 0).unwrap();
        assert_eq!(bytes, [b'x', 0]);
        allocate_range(&file, u64::MAX, 1).unwrap_err();
        assert_eq!(file.metadata().unwrap().len(), 8192);
    }

    #[test]
    fn data_is_found_where_it_was_written() {
        let file = tempfile::tempfile().unwrap();
        write_at(&file, &[1; 100], 0).unwrap();
        assert_eq!(next_data(&file, 0, 100).unwrap(), Some((0, 100)));
        assert_eq!(next_data(&file, 100, 100).unwrap(), None);
    }

    #[test]
    fn what_is_never_written_reads_as_zeros() {
        let file = tempfile::tempfile().unwrap();
        allow_holes(&file).unwrap();
        write_at(&file, b"x", 1 << 20).unwrap();
        let mut bytes = [1; 3];
        read_exact_at(&file, &mut bytes, (1 << 20) - 2).unwrap();
        assert_eq!(bytes, [0, 0, b'x']);
    }

    #[test]
    fn an_overlapped_handle_is_of_the_same_file_with_the_same_rights() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"abc").unwrap();
        let read_only = open_read(&path, OpenMode::Plain).unwrap();
        let overlapped = overlapped(read_only).unwrap();
        assert!(is_at(&overlapped, &path));
        overlapped.set_len(0).unwrap_err();
    }

    #[test]
    fn a_lock_keeps_out_who_locks_and_nobody_who_reads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"abc").unwrap();
        let locked = |access| LockedFile::lock(open_read_write(&path, OpenMode::Plain)?, access);
        let alone = locked(Access::Write).unwrap();
        for access in [Access::Read, Access::Write] {
            let error = locked(access).unwrap_err();
            assert_eq!(error.kind(), Some(io::ErrorKind::WouldBlock), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"abc");
        fs::write(&path, b"def").unwrap();
        alone.unlock().unwrap();
        let (_one, _other) = (locked(Access::Read).unwrap(), locked(Access::Read).unwrap());
        locked(Access::Write).unwrap_err();
    }

    #[test]
    fn a_file_is_opened_again_under_its_new_name() {
        let dir = tempfile::tempdir().unwrap();
        let [before, after] = ["before", "after"].map(|name| dir.path().join(name));
        fs::write(&before, b"abc").unwrap();
        let file = open_read(&before, OpenMode::Plain).unwrap();
        fs::rename(&before, &after).unwrap();
        fs::write(&before, b"another").unwrap();
        if os::file::path_of_descriptor(&file).is_none() {
            return println!("skipped: this system does not report the name of an open file");
        }
        let again = reopen_read(&file, &before, OpenMode::Plain).unwrap();
        assert!(is_at(&again, &after));
    }

    #[test]
    fn synchronous_writes_change_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"abc").unwrap();
        let file = open_read_write(&path, OpenMode::Synchronous).unwrap();
        write_at(&file, b"x", 0).unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"xbc");
    }

    #[test]
    fn a_new_file_never_replaces_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let file = create_secret(&path).unwrap();
        write_at(&file, b"x", 0).unwrap();
        drop(file);
        let error = create_secret(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        let error = create_new(&path, OpenMode::Plain).unwrap_err();
        assert!(error.to_string().contains("secret"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"x");
        create(&path, OpenMode::Plain).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        open_read(&dir.path().join("none"), OpenMode::Plain).unwrap_err();
    }
}
