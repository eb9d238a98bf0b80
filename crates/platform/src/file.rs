//! Opens files in the modes that matter for measurements, and reports which part of a file is in
//! the page cache.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::startup::{had_standard_input, had_standard_output};
use crate::{Error, Result, os};

/// The event for which reads and writes of a file wait
/// ([open(2)](https://man7.org/linux/man-pages/man2/open.2.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
///
/// # Errors
/// As [`open_read`].
pub fn open_write(path: &Path, mode: OpenMode) -> Result<File> {
    open(OpenOptions::new().write(true), path, mode)
}

/// Opens an existing file for reading and writing.
///
/// # Errors
/// As [`open_read`].
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
///
/// # Errors
/// As [`create_new`].
pub fn create_new_like(path: &Path, mode: OpenMode, model: &Metadata) -> Result<File> {
    let mut options = OpenOptions::new();
    os::file::set_permissions(&mut options, model);
    open(options.read(true).write(true).create_new(true), path, mode)
}

/// Creates a file for reading and writing, or truncates an existing one.
///
/// # Errors
/// As [`open_read`].
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
            Error::NotSupported {
                what: "direct input and output",
            }
        } else {
            Error::path("open", path)(error)
        }
    })
}

/// Opens the file behind `file` again for reading, with its own position and mode, even if its path
/// now leads elsewhere. `path` is for error messages.
///
/// # Errors
/// As [`open_read`].
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
    const ACTION: &str = "read standard input";
    if !had_standard_input() {
        return Err(Error::os(ACTION)(io::Error::other(
            "it is not open for reading",
        )));
    }
    os::file::duplicate_input().map_err(Error::os(ACTION))
}

/// Standard output as a file. It shares its position with all other processes that have it open.
///
/// # Errors
/// If it was not open for writing when this process started.
pub fn standard_output() -> Result<File> {
    const ACTION: &str = "write to standard output";
    if !had_standard_output() {
        return Err(Error::os(ACTION)(io::Error::other(
            "it is not open for writing",
        )));
    }
    os::file::duplicate_output().map_err(Error::os(ACTION))
}

/// The part of a file that is in the page cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Residency {
    /// Bytes in the page cache: whole pages, and of the last page only the part within the file.
    pub resident_bytes: u64,
    /// Dirty bytes among them, not yet on the device; `None` if the method does not report them.
    pub dirty_bytes: Option<u64>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
    access: Access,
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
    ///
    /// # Errors
    /// If the system refuses.
    pub fn unlock(&self) -> io::Result<()> {
        os::file::unlock(&self.file)
    }

    /// As [`Self::lock`], through another handle of an opening by which this process may have locked the file
    /// already.
    ///
    /// # Errors
    /// As for [`Self::lock`].
    pub fn lock_again(file: File, access: Access) -> Result<Self> {
        if os::file::relocks() {
            return Self::lock(file, access);
        }
        Ok(Self { file, access })
    }

    /// The file, e.g. to set its length while it is not mapped.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The locked access.
    pub fn access(&self) -> Access {
        self.access
    }
}

face! {
    os::file;

    /// Opens any file at a path for reading, and returns its metadata. A named pipe opens without
    /// waiting for a writer. Reads of it fail with [`io::ErrorKind::WouldBlock`] while it is empty
    /// ([`crate::block_io::wait_readable`] waits for data).
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_without_waiting(path: &Path) -> io::Result<(File, Metadata)>;

    /// Opens a named pipe or a character device for writing without waiting for a reader; `None` while
    /// a pipe has no reader. Writes to it fail with [`io::ErrorKind::WouldBlock`] while it is full
    /// ([`crate::block_io::wait_writable`] waits for room).
    ///
    /// # Errors
    /// As [`open_read`].
    pub fn open_write_without_waiting(path: &Path, mode: OpenMode) -> Result<Option<File>>
        = refuse("opening a pipe without waiting");

    /// Gives a file the owner, group and permissions of another.
    ///
    /// # Errors
    /// [`Error::NotPermitted`] if the other file belongs to another user, and this process may not
    /// change owners.
    pub fn become_like(file: &File, model: &Metadata) -> Result<()>;

    /// Creates a file that only this user can read (`0600` on Linux). An existing file is not replaced.
    ///
    /// # Errors
    /// If the path exists, or no file can be created.
    pub fn create_secret(path: &Path) -> io::Result<File> = Err(io::ErrorKind::Unsupported.into());

    /// True if a file that looks regular is one: on Windows a pipe looks so.
    pub fn is_on_disk(file: &File) -> bool = true;

    /// True for the metadata of a socket, which cannot be opened.
    pub fn is_socket(metadata: &Metadata) -> bool = false;

    /// Device space of a file, in bytes: less than its size if it is sparse, 0 if all of it is holes or the
    /// kernel generates it on read.
    pub fn allocated_bytes(metadata: &Metadata) -> Option<u64> = None;

    /// The size of a file that is open for reading, where reads up to that size succeed. `None` for
    /// pipes and devices, and for files whose contents appear when they are read: those of /proc and
    /// /sys have a length of 0 or one page, whatever their contents, and so have some of FUSE and 9p.
    pub fn believable_size(file: &File, metadata: &Metadata) -> Option<u64>
        = metadata.is_file().then_some(metadata.len());

    /// True if both are the same file, opened twice.
    pub fn is_same_file(one: &File, other: &File) -> bool = false;

    /// True if the path leads to this open file.
    pub fn is_at(file: &File, path: &Path) -> bool = false;

    /// The device that takes all bytes and keeps none.
    ///
    /// # Errors
    /// Only if the system has no such device.
    pub fn null_device() -> Result<&'static Path> = refuse("a device that takes all bytes");

    /// The device from which any number of zeros can be read.
    ///
    /// # Errors
    /// Only if the system has no such device.
    pub fn zero_device() -> Result<&'static Path> = refuse("a device that gives zeros");

    /// Allocates `len` bytes of a file from `offset` on the device, so that later writes need no
    /// allocation ([fallocate(2)](https://man7.org/linux/man-pages/man2/fallocate.2.html)). Its size
    /// becomes at least `offset + len`; new bytes read as zeros.
    ///
    /// # Errors
    /// If the device is full; [`Error::NotSupported`] if the file system does not support it.
    pub fn allocate_range(file: &File, offset: u64, len: u64) -> Result<()>
        = refuse("allocating room for a file");

    /// As [`allocate_range`], but the file's size does not change: the space after its end is a
    /// reservation, which [`File::set_len`] releases.
    ///
    /// # Errors
    /// As [`allocate_range`].
    pub fn reserve(file: &File, offset: u64, len: u64) -> Result<()>
        = refuse("allocating room for a file");

    /// True if the file's file system allocates each page when it is written, unless it was reserved
    /// before. On Linux that is ext4 ("delayed allocation",
    /// [Documentation/filesystems/ext4](https://docs.kernel.org/admin-guide/ext4.html)).
    pub fn finds_room_by_page(file: &File) -> bool = false;

    /// The next data range of a file from `offset` on, as start and end; `None` if only a hole follows.
    /// If the file system does not report holes, the whole file is data.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn next_data(file: &File, offset: u64, len: u64) -> io::Result<Option<(u64, u64)>>
        = Ok((offset < len).then_some((offset, len)));

    /// Writes a file's dirty pages to the device, then advises the kernel to evict its pages from the
    /// page cache (`POSIX_FADV_DONTNEED`).
    ///
    /// It is not certain: pages that a process has mapped or is writing stay. Check [`residency`]
    /// before relying on a cold read. Caches of the host or the disk are not affected.
    ///
    /// # Errors
    /// If the file cannot be synchronised.
    pub fn evict(file: &File) -> Result<()> = refuse("evicting a file from the page cache");

    /// Drops the clean pages of the whole machine's page cache
    /// ([proc_sys_vm(5)](https://man7.org/linux/man-pages/man5/proc_sys_vm.5.html), `drop_caches`).
    /// Dirty pages stay: synchronise first.
    ///
    /// # Errors
    /// [`Error::NotPermitted`] without the right.
    pub fn drop_page_cache() -> Result<()> = refuse("dropping caches");

    /// True if the system tells which part of a file is in the page cache.
    pub fn tells_residency() -> bool = false;

    /// Reports the part of a file that is in the page cache.
    ///
    /// Uses `cachestat`, which needs no mapping. If that is missing or refused, it uses `mincore`, but
    /// only for a file that this process owns or may write: for any other file, Linux since 5.2 reports
    /// every page as resident, to hide other users' reads (CVE-2019-5489).
    ///
    /// # Errors
    /// [`Error::NotPermitted`] if the result could not be trusted.
    pub fn residency(file: &File) -> Result<Residency>
        = refuse("asking for the residency of a file");

    /// Lets what is never written of a file be holes, which take no room. On Linux that is so for every file of a
    /// file system that has holes. On Windows it is asked for, before the file is written.
    ///
    /// # Errors
    /// If the system call fails; not if the file system has no holes.
    pub fn allow_holes(file: &File) -> Result<()> = Ok(());

    /// The same file for transfers that the kernel answers later. On Windows it is opened again for overlapped
    /// transfers: positioned reads and writes of the standard library and of [`crate::block_io`] do not work
    /// with it, and its position is its own. On Linux all files are like that, and `file` comes back.
    ///
    /// # Errors
    /// If it cannot be opened again.
    pub fn overlapped(file: File) -> Result<File> = Ok(file);

    /// Locks one byte of a file that is open for writing, until this opening of the file is closed. Returns false if
    /// another opening has locked the byte. The byte may be beyond the end of the file, and locks of other bytes
    /// do not matter.
    ///
    /// # Errors
    /// If the file system has no locks.
    pub fn try_lock_byte(file: &File, at: u64) -> io::Result<bool>
        = Err(io::ErrorKind::Unsupported.into());

    fn duplicate_input() -> io::Result<File> = refuse_io();
    fn duplicate_output() -> io::Result<File> = refuse_io();
    // Lets reads wait for data again, after the file was opened without waiting.
    fn let_reads_wait(file: &File) -> io::Result<()> = Ok(());
    // Locks a file for others that lock it, without any effect on who reads or writes.
    fn try_lock(file: &File, access: Access) -> io::Result<()> = Ok(match access {
        Access::Read => file.try_lock_shared(),
        Access::Write => file.try_lock(),
    }?);
    fn unlock(file: &File) -> io::Result<()> = file.unlock();
    // False if a lock excludes other handles of its own opening as well. Such a system must refuse to truncate a
    // mapped file, which is all that a mapping needs of the lock.
    fn relocks() -> bool = true;
    fn set_mode(options: &mut OpenOptions, mode: OpenMode) -> Result<()>;
    fn set_permissions(options: &mut OpenOptions, model: &Metadata) = ();
    fn is_named_pipe(metadata: &Metadata) -> bool = false;
    fn is_character_device(metadata: &Metadata) -> bool = false;
    fn path_of_descriptor(file: &File) -> Option<PathBuf> = None;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::block_io::{read_exact_at, write_at};

    #[test]
    fn a_file_is_at_its_path_and_at_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other, link) = (
            dir.path().join("file"),
            dir.path().join("other"),
            dir.path().join("link"),
        );
        let file = create_new(&path, OpenMode::Plain).unwrap();
        create_new(&path, OpenMode::Plain).unwrap_err();
        fs::write(&other, b"").unwrap();
        fs::hard_link(&path, &link).unwrap();
        assert!(is_at(&file, &path));
        assert!(is_at(&file, &link));
        assert!(!is_at(&file, &other));
        assert!(!is_at(&file, &dir.path().join("none")));
    }

    #[test]
    fn a_reservation_keeps_the_size_and_an_allocation_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = create_new(&dir.path().join("file"), OpenMode::Plain).unwrap();
        match reserve(&file, 0, 8192) {
            Ok(()) => assert_eq!(file.metadata().unwrap().len(), 0),
            Err(error @ Error::NotSupported { .. }) => return println!("skipped: {error}"),
            Err(error) => panic!("{error}"),
        }
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
        let dir = tempfile::tempdir().unwrap();
        let file = create_new(&dir.path().join("file"), OpenMode::Plain).unwrap();
        write_at(&file, &[1; 100], 0).unwrap();
        assert_eq!(next_data(&file, 0, 100).unwrap(), Some((0, 100)));
        assert_eq!(next_data(&file, 100, 100).unwrap(), None);
    }

    #[test]
    fn what_is_never_written_reads_as_zeros() {
        let dir = tempfile::tempdir().unwrap();
        let file = create_new(&dir.path().join("file"), OpenMode::Plain).unwrap();
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
            let kind = error.io_error().map(io::Error::kind);
            assert_eq!(kind, Some(io::ErrorKind::WouldBlock), "{error}");
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
            return println!("skipped: this system does not tell the name of an open file");
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
    fn a_secret_never_replaces_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let file = create_secret(&path).unwrap();
        write_at(&file, b"x", 0).unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"x");
        let error = create_secret(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    }
}
