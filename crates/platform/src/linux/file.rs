#[cfg(test)]
mod tests;

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FallocateFlags, OFlags, SeekFrom};
use rustix::io::Errno;

use super::block_io::read_at;
use crate::error::{Error, Result};
use crate::file::{Access, OpenMode};

pub use super::residency::residency;

#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems do not have all modes"
)]
pub(crate) fn set_mode(options: &mut OpenOptions, mode: OpenMode) -> Result<()> {
    options.custom_flags(flags(mode));
    Ok(())
}

pub(super) fn flags(mode: OpenMode) -> libc::c_int {
    match mode {
        OpenMode::Plain => 0,
        OpenMode::Direct => libc::O_DIRECT,
        OpenMode::Synchronous => libc::O_SYNC,
        OpenMode::DataSynchronous => libc::O_DSYNC,
    }
}

/// Lets what is never written of a file be holes, which take no room. On Linux that is so for every file of a
/// file system that has holes. On Windows it is asked for, before the file is written.
///
/// # Errors
/// If the system call fails; not if the file system has no holes.
pub fn allow_holes(_file: &File) -> Result<()> {
    Ok(())
}

/// The same file for transfers that the kernel answers later. On Windows it is opened again for overlapped
/// transfers: positioned reads and writes of the standard library and of [`crate::block_io`] do not work
/// with it, and its position is its own. On Linux all files are like that, and `file` comes back.
pub fn overlapped(file: File) -> Result<File> {
    Ok(file)
}

pub(crate) fn is_named_pipe(metadata: &Metadata) -> bool {
    metadata.file_type().is_fifo()
}

pub(crate) fn is_character_device(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device()
}

/// Opens a named pipe or a character device for writing without waiting for a reader; `None` while
/// a pipe has no reader. Writes to it fail with [`io::ErrorKind::WouldBlock`] while it is full
/// ([`crate::block_io::wait_writable`] waits for room).
pub fn open_write_without_waiting(path: &Path, mode: OpenMode) -> Result<Option<File>> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .custom_flags(flags(mode) | libc::O_NONBLOCK);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        // open(2) reports a pipe without a reader this way.
        Err(error)
            if error.raw_os_error() == Some(libc::ENXIO)
                && path.metadata().is_ok_and(|found| is_named_pipe(&found)) =>
        {
            Ok(None)
        }
        Err(error) => Err(Error::path("open", path)(error)),
    }
}

/// Opens any file at a path for reading, and returns its metadata. A named pipe opens without
/// waiting for a writer. Reads of it fail with [`io::ErrorKind::WouldBlock`] while it is empty
/// ([`crate::block_io::wait_readable`] waits for data).
pub fn open_without_waiting(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(libc::O_NONBLOCK);
    let file = match options.open(path) {
        // Another program has a lease on the file and gets time to release it (fcntl(2), "Leases").
        // So it is not a pipe.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => File::open(path)?,
        opened => opened?,
    };
    let metadata = file.metadata()?;
    // An earlier check of the path would cost more, and the file could change before it is opened.
    // Reads of a file with contents never wait, which saves a small file this call.
    if !is_named_pipe(&metadata) && !has_contents(&metadata) {
        rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    }
    Ok((file, metadata))
}

/// Lets reads wait for data again, after the file was opened without waiting.
pub(crate) fn let_reads_wait(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fcntl_setfl(file, OFlags::empty())?)
}

/// Locks one byte of a file that is open for writing, until this opening of the file is closed. Returns false if
/// another opening has locked the byte. The byte may be beyond the end of the file, and locks of other bytes
/// do not matter.
pub fn try_lock_byte(file: &File, at: u64) -> io::Result<bool> {
    // SAFETY: zeros are a valid `flock`.
    let mut byte: libc::flock = unsafe { std::mem::zeroed() };
    byte.l_type = libc::F_WRLCK as _;
    byte.l_whence = libc::SEEK_SET as _;
    byte.l_start = at.cast_signed();
    byte.l_len = 1;
    // A lock of this opening: those of the process would end when any other opening of the file is closed.
    // SAFETY: the call only reads `byte`.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const byte) } {
        0 => Ok(true),
        _ => match io::Error::last_os_error() {
            error if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
            error => Err(error),
        },
    }
}

/// Without set-user-ID, set-group-ID and sticky.
pub(crate) fn set_permissions(options: &mut OpenOptions, model: &Metadata) {
    options.mode(model.mode() & 0o777);
}

/// Gives a file the owner, group and permissions of another.
///
/// # Errors
/// [`Error::NotPermitted`] if the other file belongs to another user, and this process may not
/// change owners.
pub fn become_like(file: &File, model: &Metadata) -> Result<()> {
    let refused = |error: io::Error| Error::os("set the permissions of a file")(error);
    let now = file.metadata().map_err(refused)?;
    if (now.uid(), now.gid()) != (model.uid(), model.gid()) {
        fchown(file, Some(model.uid()), Some(model.gid())).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Error::NotPermitted {
                what: "giving a file to the owner and the group of the one it replaces",
                needs: "root, or a file of one's own",
            },
            _ => refused(error),
        })?;
    }
    // After the owner: a change of the owner clears set-user-ID.
    file.set_permissions(model.permissions()).map_err(refused)
}

/// `None` if /proc is not mounted.
pub(crate) fn path_of_descriptor(file: &File) -> Option<PathBuf> {
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    path.exists().then_some(path)
}

pub(crate) fn duplicate(stream: impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// True for the metadata of a socket, which cannot be opened.
pub fn is_socket(metadata: &Metadata) -> bool {
    metadata.file_type().is_socket()
}

/// Device space of a file, in bytes: less than its size if it is sparse, 0 if all of it is holes or the
/// kernel generates it on read.
pub fn allocated_bytes(metadata: &Metadata) -> Option<u64> {
    // The unit of stat(2), whatever the device's block size.
    const UNIT_BYTES: u64 = 512;
    Some(metadata.blocks() * UNIT_BYTES)
}

/// File systems of the kernel whose files have no length before they are read.
const GENERATED: [libc::c_long; 10] = [
    libc::PROC_SUPER_MAGIC,
    libc::SYSFS_MAGIC,
    libc::DEBUGFS_MAGIC,
    libc::TRACEFS_MAGIC,
    libc::SECURITYFS_MAGIC,
    libc::CGROUP_SUPER_MAGIC,
    libc::CGROUP2_SUPER_MAGIC,
    libc::RDTGROUP_SUPER_MAGIC,
    // Of configfs (`fs/configfs/mount.c`) and of message queues (`ipc/mqueue.c`).
    0x6265_6570,
    0x1980_0202,
];

/// True for a regular file with allocated blocks, which a file of /proc or /sys never has.
fn has_contents(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() > 0 && metadata.blocks() > 0
}

/// The size of a file that is open for reading, where reads up to that size succeed. `None` for
/// pipes and devices, and for files whose contents appear when they are read: those of /proc and
/// /sys have a length of 0 or one page, whatever their contents, and so have some of FUSE and 9p.
pub fn believable_size(file: &File, metadata: &Metadata) -> Option<u64> {
    let len = metadata.len();
    if !metadata.is_file() {
        return None;
    }
    if has_contents(metadata) {
        return Some(len);
    }
    // A small sparse file has no blocks either: the type of the file system distinguishes the two.
    if rustix::fs::fstatfs(file).is_ok_and(|found| GENERATED.contains(&found.f_type)) {
        return None;
    }
    let has_size = len > 0 || matches!(read_at(file, &mut [0], 0), Ok(0));
    has_size.then_some(len)
}

/// True if the path leads to this open file.
pub fn is_at(file: &File, path: &Path) -> bool {
    is_same(file.metadata(), path.metadata())
}

/// True if both are the same file, opened twice.
pub fn is_same_file(one: &File, other: &File) -> bool {
    is_same(one.metadata(), other.metadata())
}

fn is_same(one: io::Result<Metadata>, other: io::Result<Metadata>) -> bool {
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    match (one, other) {
        (Ok(one), Ok(other)) => identity(one) == identity(other),
        _ => false,
    }
}

/// The device that takes all bytes and keeps none.
pub fn null_device() -> Result<&'static Path> {
    Ok(Path::new("/dev/null"))
}

/// The device from which any number of zeros can be read.
pub fn zero_device() -> Result<&'static Path> {
    Ok(Path::new("/dev/zero"))
}

/// Allocates `len` bytes of a file from `offset` on the device, so that later writes need no
/// allocation ([fallocate(2)](https://man7.org/linux/man-pages/man2/fallocate.2.html)). Its size
/// becomes at least `offset + len`; new bytes read as zeros.
///
/// # Errors
/// If the device is full; [`Error::NotSupported`] if the file system does not support it.
pub fn allocate_range(file: &File, offset: u64, len: u64) -> Result<()> {
    allocate(file, FallocateFlags::empty(), offset, len)
}

/// Allocates the first `len` bytes of the file at `path` by a descriptor of this process that has it open
/// already, if there is one: to open and close the file once more would drop all locks that this process has
/// on it ([fcntl_locking(2)](https://man7.org/linux/man-pages/man2/fcntl_locking.2.html)). The descriptor
/// must stay open during the call.
pub fn allocate_open_file(path: &Path, len: u64) -> Result<()> {
    let descriptors = fs::read_dir("/proc/self/fd");
    let open = descriptors
        .into_iter()
        .flatten()
        .flatten()
        .find(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == path));
    let number = open.and_then(|entry| entry.file_name().to_str()?.parse().ok());
    let Some(number) = number else { return Ok(()) };
    // SAFETY: the descriptor was just seen, and the caller keeps it open.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    allocate(file, FallocateFlags::empty(), 0, len)
}

/// As [`allocate_range`], but the file's size does not change: the space after its end is a
/// reservation, which [`File::set_len`] releases.
pub fn reserve(file: &File, offset: u64, len: u64) -> Result<()> {
    allocate(file, FallocateFlags::KEEP_SIZE, offset, len)
}

fn allocate(file: impl AsFd, flags: FallocateFlags, offset: u64, len: u64) -> Result<()> {
    rustix::fs::fallocate(file, flags, offset, len).map_err(|errno| match errno {
        Errno::OPNOTSUPP | Errno::NOSYS => Error::NotSupported("allocating room for a file"),
        errno => Error::os("allocate room for a file")(errno),
    })
}

/// True if the file's file system allocates each page when it is written, unless it was reserved
/// before. On Linux that is ext4 ("delayed allocation",
/// [Documentation/filesystems/ext4](https://docs.kernel.org/admin-guide/ext4.html)).
pub fn finds_room_by_page(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type == libc::EXT4_SUPER_MAGIC)
}

/// Creates a file that only this user can read (`0600` on Linux). An existing file is not replaced.
pub fn create_secret(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// The next data range of a file from `offset` on, as start and end; `None` if only a hole follows.
/// If the file system does not report holes, the whole file is data.
pub fn next_data(file: &File, offset: u64, len: u64) -> io::Result<Option<(u64, u64)>> {
    if offset >= len {
        return Ok(None);
    }
    let start = match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(Some((offset, len))),
        Err(errno) => return Err(errno.into()),
    };
    let end = rustix::fs::seek(file, SeekFrom::Hole(start))?;
    Ok((start < len).then_some((start, end.min(len))))
}

/// Writes a file's dirty pages to the device, then advises the kernel to evict its pages from the
/// page cache (`POSIX_FADV_DONTNEED`).
///
/// It is not certain: pages that a process has mapped or is writing stay. Check [`residency`]
/// before relying on a cold read. Caches of the host or the disk are not affected.
pub fn evict(file: &File) -> Result<()> {
    // The advice does not evict dirty pages.
    file.sync_all()
        .map_err(Error::os("put a file on its device"))?;
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed)
        .map_err(Error::os("evict a file from the page cache"))
}

/// True if the system reports which part of a file is in the page cache.
pub fn reports_residency() -> bool {
    true
}

/// Drops the clean pages of the whole machine's page cache
/// ([proc_sys_vm(5)](https://man7.org/linux/man-pages/man5/proc_sys_vm.5.html), `drop_caches`).
/// Dirty pages stay: synchronise first.
///
/// # Errors
/// [`Error::NotPermitted`] without the right.
pub fn drop_page_cache() -> Result<()> {
    // 2 means directory entries and inodes, 3 for both.
    fs::write("/proc/sys/vm/drop_caches", "1").map_err(|error| match error.kind() {
        // In a container, even root may find it read-only or missing.
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotFound => Error::NotPermitted {
            what: "dropping the caches of the machine",
            needs: "root, and write access to /proc/sys/vm/drop_caches",
        },
        _ => Error::os("drop the caches of the machine")(error),
    })
}

/// True if a file that looks regular is one: on Windows a pipe looks so.
pub fn is_on_disk(_file: &File) -> bool {
    true
}

/// Locks a file for others that lock it, without any effect on who reads or writes.
pub(crate) fn try_lock(file: &File, access: Access) -> io::Result<()> {
    Ok(match access {
        Access::Read => file.try_lock_shared(),
        Access::Write => file.try_lock(),
    }?)
}

pub(crate) fn unlock(file: &File) -> io::Result<()> {
    file.unlock()
}

/// Creates a directory for this user only, as far as the system can.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// True if the file is known to belong to this user.
pub(crate) fn is_own(_path: &Path, metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Opens a file to lock or read it.
// Also opened for writing, since NFS grants no exclusive lock otherwise. A link is refused, and if
// the name is a pipe, the open does not wait.
pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
}
