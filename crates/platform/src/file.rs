//! Opening files in the ways that matter to measuring, and what of them is in the page cache.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, os};

/// What a file's reads and writes wait for
/// ([open(2)](https://man7.org/linux/man-pages/man2/open.2.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenMode {
    /// The page cache (no flag).
    Plain,
    /// The device, past the page cache (`O_DIRECT`). Buffer, offset and length must be multiples of
    /// the device's logical block; a [`crate::memory::Mapping`] is.
    Direct,
    /// Writes wait until data and metadata are on the device (`O_SYNC`).
    Synchronous,
    /// Writes wait until the data, and what is needed to read it, are on the device (`O_DSYNC`).
    DataSynchronous,
}

/// Opens an existing file for reading.
///
/// # Errors
/// If it cannot be opened; [`Error::NotSupported`] if its file system has no such mode.
pub fn open_read(path: &Path, mode: OpenMode) -> Result<File> {
    open(OpenOptions::new().read(true), path, mode)
}

/// Opens whatever is at a path for reading, and tells what it is; a named pipe without waiting for whoever
/// writes to it. Reads of that fail with [`io::ErrorKind::WouldBlock`] while nothing is there
/// ([`crate::block_io::wait_readable`] waits for it).
///
/// # Errors
/// If it cannot be opened.
pub fn open_without_waiting(path: &Path) -> io::Result<(File, Metadata)> {
    os::file::open_without_waiting(path)
}

/// Opens a named pipe or a character device for writing without waiting for whoever reads it; `None`
/// while nobody has opened a pipe for reading. Writes to it fail with [`io::ErrorKind::WouldBlock`]
/// while there is no room ([`crate::block_io::wait_writable`] waits for it).
///
/// # Errors
/// As [`open_read`].
pub fn open_write_without_waiting(path: &Path, mode: OpenMode) -> Result<Option<File>> {
    os::file::open_write_without_waiting(path, mode)
}

/// Opens an existing file for writing over what is there.
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

/// Makes a new file for reading and writing; never opens one that is there.
///
/// # Errors
/// As [`open_read`], and if the file exists.
pub fn create_new(path: &Path, mode: OpenMode) -> Result<File> {
    let mut options = OpenOptions::new();
    open(options.read(true).write(true).create_new(true), path, mode)
}

/// As [`create_new`], with the permissions of `model`, less what the process's umask takes away.
///
/// # Errors
/// As [`create_new`].
pub fn create_new_like(path: &Path, mode: OpenMode, model: &Metadata) -> Result<File> {
    let mut options = OpenOptions::new();
    os::file::set_permissions(&mut options, model);
    open(options.read(true).write(true).create_new(true), path, mode)
}

/// Gives a file the owner, the group and the permissions of another.
///
/// # Errors
/// [`Error::NotPermitted`] if the other belongs to somebody else, and this process may give nothing
/// away.
pub fn become_like(file: &File, model: &Metadata) -> Result<()> {
    os::file::become_like(file, model)
}

/// Makes a file that only this user can read (`0600` on Linux). One that is there stays.
///
/// # Errors
/// If something is there, or nothing can be made.
pub fn create_secret(path: &Path) -> io::Result<File> {
    os::file::create_secret(path)
}

/// Makes a file for reading and writing, or empties the one that is there.
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
        // That is how open(2) says that the file system has no direct mode.
        if mode == OpenMode::Direct && error.kind() == io::ErrorKind::InvalidInput {
            Error::NotSupported {
                what: "direct input and output",
            }
        } else {
            Error::path("open", path)(error)
        }
    })
}

/// Opens for reading what `file` has open, with a position and a mode of its own, even if its path
/// leads elsewhere by now. `path` is for error messages.
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

/// Standard input as a file. It shares its position with all others that have it.
///
/// # Errors
/// If it is closed.
pub fn standard_input() -> Result<File> {
    os::file::standard_input()
}

/// True for the metadata of a named pipe, a terminal or another device that takes bytes as they come.
pub fn is_stream(metadata: &Metadata) -> bool {
    os::file::is_named_pipe(metadata) || os::file::is_character_device(metadata)
}

/// Whether this is the metadata of a socket, which cannot be opened.
pub fn is_socket(metadata: &Metadata) -> bool {
    os::file::is_socket(metadata)
}

/// How much room a file takes on its device, in bytes: less than its size if it is sparse, nothing
/// if the kernel makes it up as it is read.
pub fn allocated_bytes(metadata: &Metadata) -> Option<u64> {
    os::file::allocated_bytes(metadata)
}

/// Whether two open files are one.
pub fn is_same(one: &Metadata, other: &Metadata) -> bool {
    os::file::is_same(one, other)
}

/// Gives a file `len` bytes from `offset` on the device, so that later writes need not find room
/// ([fallocate(2)](https://man7.org/linux/man-pages/man2/fallocate.2.html)). Its size becomes at
/// least `offset + len`; new bytes read as zeros.
///
/// # Errors
/// If the device is full; [`Error::NotSupported`] if the file system cannot do this.
pub fn allocate_range(file: &File, offset: u64, len: u64) -> Result<()> {
    os::file::allocate(file, offset, len)
}

/// As [`allocate_range`], but the file's size stays as it is: what lies behind its end is a
/// reservation, which [`File::set_len`] gives back.
///
/// # Errors
/// As [`allocate_range`].
pub fn reserve(file: &File, offset: u64, len: u64) -> Result<()> {
    os::file::reserve(file, offset, len)
}

/// Whether the file's file system finds room for each page as it is written, unless it was reserved
/// before: on Linux that is ext4 ("delayed allocation",
/// [Documentation/filesystems/ext4](https://docs.kernel.org/admin-guide/ext4.html)).
pub fn finds_room_by_page(file: &File) -> bool {
    os::file::finds_room_by_page(file)
}

/// The next range of a file from `offset` on that holds data, as start and end; `None` if only a hole
/// follows. Where the file system does not tell, all of it is data.
///
/// # Errors
/// If the file cannot be asked.
pub fn next_data(file: &File, offset: u64, len: u64) -> io::Result<Option<(u64, u64)>> {
    os::file::next_data(file, offset, len)
}

/// How far an eviction may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The pages of one file.
    File,
    /// The page cache of the whole machine, where this process has the right; else of one file.
    Machine,
}

/// How a file was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Eviction {
    /// The kernel was told that the file is not needed (`POSIX_FADV_DONTNEED`).
    Advice,
    /// The page cache of the whole machine was dropped.
    DropCaches,
}

/// Puts a file's changed pages on the device, then removes its pages from the page cache, and tells
/// in which way.
///
/// Neither way is certain: pages that somebody has mapped or is writing stay. Ask [`residency`]
/// before trusting that a read will be cold. What a host or a disk caches is not reached.
///
/// # Errors
/// If the file cannot be synchronised.
pub fn evict(file: &File, reach: Reach) -> Result<Eviction> {
    os::file::evict(file, reach)
}

/// What [`drop_caches`] drops
/// ([proc_sys_vm(5)](https://man7.org/linux/man-pages/man5/proc_sys_vm.5.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caches {
    /// 1: pages of files.
    Pages,
    /// 2: directory entries, inodes and other reclaimable kernel objects.
    Objects,
    /// 3: both.
    All,
}

/// Drops clean caches of the whole machine. Changed pages stay: synchronise first.
///
/// # Errors
/// [`Error::NotPermitted`] without the right to, and after [`spare_caches`].
pub fn drop_caches(caches: Caches) -> Result<()> {
    os::file::drop_caches(caches)
}

static SPARES_CACHES: AtomicBool = AtomicBool::new(false);

/// From now on this process leaves the caches of the whole machine alone: [`drop_caches`] refuses, and
/// [`evict`] reaches no further than its file.
pub fn spare_caches() {
    SPARES_CACHES.store(true, Ordering::Relaxed);
}

/// True after [`spare_caches`].
pub(crate) fn spares_caches() -> bool {
    SPARES_CACHES.load(Ordering::Relaxed)
}

/// How much of a file is in the page cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Residency {
    /// In the page cache, in bytes: whole pages, of the last only what the file fills.
    pub resident_bytes: u64,
    /// Of these, changed and not yet on the device, in bytes; `None` if the method does not tell.
    pub dirty_bytes: Option<u64>,
    /// Size of the file, in bytes.
    pub total_bytes: u64,
    /// Who told.
    pub method: ResidencyMethod,
}

impl Residency {
    /// The share of the file that is in the page cache, from 0 to 1; 0 of an empty file.
    pub fn share(&self) -> f64 {
        self.resident_bytes as f64 / self.total_bytes.max(1) as f64
    }

    /// Whether all of it is there.
    pub fn is_whole(&self) -> bool {
        self.resident_bytes >= self.total_bytes
    }
}

/// Who told how much of a file is in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResidencyMethod {
    /// `cachestat`, system call 451 of Linux since 6.5 (`mm/filemap.c`).
    Cachestat,
    /// [mincore(2)](https://man7.org/linux/man-pages/man2/mincore.2.html).
    Mincore,
}

/// Asks how much of a file is in the page cache.
///
/// First by `cachestat`, which needs no mapping. Where that is missing or refused by `mincore`, but
/// only for a file that this process owns or may write: for any other, Linux since 5.2 answers that
/// every page is resident, to hide what others read (CVE-2019-5489).
///
/// # Errors
/// [`Error::NotPermitted`] if the answer could not be trusted.
pub fn residency(file: &File) -> Result<Residency> {
    os::file::residency(file)
}

/// What a file is opened and locked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading; others may too.
    Read,
    /// Reading and writing; nobody else may do either.
    Write,
}

/// An open file under an advisory lock ([`File::try_lock`]), for [`crate::memory::FileMapping`].
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    access: Access,
}

impl LockedFile {
    /// Locks a file until this is dropped.
    ///
    /// # Errors
    /// [`Error::Os`] with [`io::ErrorKind::WouldBlock`] if it is locked already, in this process or
    /// another.
    pub fn lock(file: File, access: Access) -> Result<Self> {
        match access {
            Access::Read => file.try_lock_shared(),
            Access::Write => file.try_lock(),
        }
        .map_err(io::Error::from)
        .map_err(Error::os("lock a file"))?;
        Ok(Self { file, access })
    }

    /// The file, e.g. to set its length while it is not mapped.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// What it is locked for.
    pub fn access(&self) -> Access {
        self.access
    }
}
