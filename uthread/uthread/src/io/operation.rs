//! The transfers of files.

use core::time::Duration;
use std::io;

use super::system::{AsFile, RawFile, Request, raw};
use super::transfer::transfer;
use crate::worker::require_worker;

/// Reads at an offset of a file, like pread(2). Data in the page cache is copied at once; otherwise
/// other threads run until the data has arrived.
///
/// # Errors
/// The errors of pread(2). A call that a signal interrupts is repeated.
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let file = std::fs::File::open("/proc/self/exe")?;
/// let magic = uthread::run(|| {
///     let mut magic = [0; 4];
///     uthread::io::read_at(&file, &mut magic, 0).map(|_| magic)
/// })?;
/// assert_eq!(&magic, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
pub fn read_at(file: impl AsFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    read(raw(&file), buffer, offset, "io::read_at", None)
}

/// Like [`read_at`], but waits not longer than `limit` for the transfer to end or to be cancelled.
///
/// It returns only when the kernel has finished with the buffer. A transfer that the device has begun
/// cannot be cancelled: it may end later than `limit`, and then succeeds.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if the transfer was cancelled, and those of [`read_at`].
///
/// # Panics
/// Same as [`read_at`].
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::time::Duration;
/// use uthread::io::read_at_timeout;
///
/// let file = std::fs::File::open("/proc/self/exe")?;
/// let magic = uthread::run(|| {
///     let mut magic = [0; 4];
///     read_at_timeout(&file, &mut magic, 0, Duration::from_secs(1)).map(|_| magic)
/// })?;
/// assert_eq!(&magic, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
pub fn read_at_timeout(
    file: impl AsFile,
    buffer: &mut [u8],
    offset: u64,
    limit: Duration,
) -> io::Result<usize> {
    let limit = Some(limit);
    read(raw(&file), buffer, offset, "io::read_at_timeout", limit)
}

fn read(
    file: RawFile,
    buffer: &mut [u8],
    offset: u64,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<usize> {
    let worker = require_worker(operation);
    if let Some(bytes) = worker.cached_reads.read(file, buffer, offset) {
        return Ok(bytes);
    }
    let request = Request::Read {
        file,
        buffer: buffer.as_mut_ptr(),
        bytes: buffer.len(),
        offset,
    };
    // SAFETY: the buffer is borrowed until the transfer is over.
    unsafe { transfer(worker, request, operation, limit) }.map(|bytes| bytes as usize)
}

/// Writes at an offset of a file, like pwrite(2), while other threads run.
///
/// # Errors
/// The errors of pwrite(2). A call that a signal interrupts is repeated.
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let file = std::fs::File::create("/dev/null")?;
/// let written = uthread::run(|| uthread::io::write_at(&file, b"hello", 0))?;
/// assert_eq!(written, 5);
/// # Ok(())
/// # }
/// ```
pub fn write_at(file: impl AsFile, buffer: &[u8], offset: u64) -> io::Result<usize> {
    write(raw(&file), buffer, offset, "io::write_at", None)
}

/// Like [`write_at`], with the time limit of [`read_at_timeout`].
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if the transfer was cancelled, and those of [`write_at`].
///
/// # Panics
/// Same as [`write_at`].
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::time::Duration;
/// use uthread::io::write_at_timeout;
///
/// let file = std::fs::File::create("/dev/null")?;
/// let write = || write_at_timeout(&file, b"hello", 0, Duration::from_secs(1));
/// assert_eq!(uthread::run(write)?, 5);
/// # Ok(())
/// # }
/// ```
pub fn write_at_timeout(
    file: impl AsFile,
    buffer: &[u8],
    offset: u64,
    limit: Duration,
) -> io::Result<usize> {
    let limit = Some(limit);
    write(raw(&file), buffer, offset, "io::write_at_timeout", limit)
}

fn write(
    file: RawFile,
    buffer: &[u8],
    offset: u64,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<usize> {
    let request = Request::Write {
        file,
        buffer: buffer.as_ptr(),
        bytes: buffer.len(),
        offset,
    };
    let worker = require_worker(operation);
    // SAFETY: the buffer is borrowed until the transfer is over.
    unsafe { transfer(worker, request, operation, limit) }.map(|bytes| bytes as usize)
}

/// Waits until a file's data is on its device, like fsync(2), while other threads run.
///
/// # Errors
/// The errors of fsync(2).
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let path = std::env::temp_dir().join(format!("uthread-fsync-{}", std::process::id()));
/// let file = std::fs::File::create(&path)?;
/// uthread::run(|| uthread::io::fsync(&file))?;
/// # std::fs::remove_file(path)
/// # }
/// ```
pub fn fsync(file: impl AsFile) -> io::Result<()> {
    sync(raw(&file), "io::fsync", None)
}

/// Like [`fsync`], with the time limit of [`read_at_timeout`].
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if the call was cancelled, and those of [`fsync`].
///
/// # Panics
/// Same as [`fsync`].
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let path = std::env::temp_dir().join(format!("uthread-fsync-timeout-{}", std::process::id()));
/// let file = std::fs::File::create(&path)?;
/// let limit = std::time::Duration::from_secs(10);
/// uthread::run(|| uthread::io::fsync_timeout(&file, limit))?;
/// # std::fs::remove_file(path)
/// # }
/// ```
pub fn fsync_timeout(file: impl AsFile, limit: Duration) -> io::Result<()> {
    sync(raw(&file), "io::fsync_timeout", Some(limit))
}

fn sync(file: RawFile, operation: &str, limit: Option<Duration>) -> io::Result<()> {
    let request = Request::Sync { file };
    // SAFETY: no buffer is involved.
    unsafe { transfer(require_worker(operation), request, operation, limit) }.map(drop)
}
