use std::ffi::c_int;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::NonNull;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, OFlags, StatxFlags, copy_file_range, fcntl_getfl, ioctl_ficlone, statx};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite, retry_on_intr};

use super::clock::timespec_of;
use crate::block_io::{DirectAlignment, ReadManner};
use crate::error::{Error, Result};
use crate::stdio::CStream;

/// `RWF_DONTCACHE` of the kernel, which rustix does not define yet.
const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

/// Reads up to `block.len()` bytes at `offset` (one `pread`, repeated if a signal interrupts it).
/// Returns 0 at the end of the file.
///
/// # Errors
/// If the file cannot be read, or has no offsets, such as a pipe.
#[inline]
pub fn read_at(file: &File, block: &mut [u8], offset: u64) -> Result<usize> {
    retry_on_intr(|| pread(file, &mut *block, offset)).map_err(Error::os("read a file"))
}

/// Writes all of `block` at `offset`, with as few `pwrite` calls as the system allows.
#[inline]
pub fn write_at(file: &File, mut block: &[u8], mut offset: u64) -> Result<()> {
    while !block.is_empty() {
        let count = retry_on_intr(|| pwrite(file, block, offset));
        let count = count.map_err(Error::os("write a file"))?;
        if count == 0 {
            return Err(Error::os("write a file")(io::ErrorKind::WriteZero));
        }
        block = &block[count..];
        offset += count as u64;
    }
    Ok(())
}

/// As [`read_at`], in the given mode (one `preadv2`); `None` if the read would have to wait.
///
/// # Errors
/// [`crate::Error::NotSupported`] if this kernel or file system does not support the mode;
/// otherwise as [`read_at`].
#[inline]
pub fn read_at_as(
    file: &File,
    block: &mut [u8],
    offset: u64,
    manner: ReadManner,
) -> Result<Option<usize>> {
    let (flags, what) = match manner {
        ReadManner::WithoutWaiting => (ReadWriteFlags::NOWAIT, "reading without waiting"),
        ReadManner::WithoutCaching => (DONTCACHE, "reading without caching"),
    };
    match retry_on_intr(|| preadv2(file, &mut [IoSliceMut::new(block)], offset, flags)) {
        Ok(count) => Ok(Some(count)),
        Err(Errno::AGAIN) if manner == ReadManner::WithoutWaiting => Ok(None),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Err(Error::NotSupported(what)),
        Err(errno) => Err(Error::os("read a file")(errno)),
    }
}

/// Copies up to `len` bytes from the current position of one file to that of another, within the
/// kernel (one `copy_file_range`). Both positions advance. Returns 0 at the end of `from`.
///
/// # Errors
/// [`crate::Error::NotSupported`] if the kernel cannot copy between these two files; another error
/// if one of them cannot be read or written.
pub fn copy_range(from: &File, to: &File, len: usize) -> Result<usize> {
    retry_on_intr(|| copy_file_range(from, None, to, None, len)).map_err(|errno| match errno {
        // The kernel refuses with `BADF` to write to a file that is open for appending. A sandbox
        // refuses with `PERM`.
        Errno::XDEV
        | Errno::INVAL
        | Errno::OPNOTSUPP
        | Errno::NOSYS
        | Errno::BADF
        | Errno::PERM => Error::NotSupported("copying between these files within the kernel"),
        errno => Error::os("copy a file")(errno),
    })
}

/// Makes `to` share all blocks of `from` until one of them changes (reflink, `FICLONE`). Replaces
/// the contents of `to`.
///
/// # Errors
/// [`crate::Error::NotSupported`] if the file system cannot share blocks, or the files are on
/// different file systems.
pub fn share_blocks(from: &File, to: &File) -> Result<()> {
    ioctl_ficlone(to, from).map_err(|errno| match errno {
        Errno::XDEV | Errno::INVAL | Errno::OPNOTSUPP | Errno::NOTTY | Errno::NOSYS => {
            Error::NotSupported("sharing blocks between these files (reflink)")
        }
        errno => Error::os("share the blocks of a file")(errno),
    })
}

/// The alignment of direct transfers (`statx` with `STATX_DIOALIGN`, Linux 6.1); `None` if the
/// kernel or the file system does not report it.
///
/// # Errors
/// [`crate::Error::NotSupported`] if this file does not support direct transfers.
pub fn direct_alignment(file: &File) -> Result<Option<DirectAlignment>> {
    let stat = match statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        Ok(stat) => stat,
        Err(Errno::NOSYS | Errno::INVAL) => return Ok(None),
        Err(errno) => return Err(Error::os("ask for the alignment of a file")(errno)),
    };
    if stat.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return Ok(None);
    }
    if stat.stx_dio_offset_align == 0 {
        return Err(Error::NotSupported("direct input and output"));
    }
    Ok(Some(DirectAlignment {
        memory_bytes: stat.stx_dio_mem_align,
        offset_bytes: stat.stx_dio_offset_align,
    }))
}

/// Waits for at most `timeout` until a read of a pipe or device will not block. Returns false on a
/// timeout, so that the caller can check a stop flag while no data arrives.
pub fn wait_readable(file: &File, timeout: Duration) -> Result<bool> {
    wait(file, PollFlags::IN, timeout)
}

/// Waits for at most `timeout` until a write to a pipe or device will not block; false on a
/// timeout.
pub fn wait_writable(file: &File, timeout: Duration) -> Result<bool> {
    wait(file, PollFlags::OUT, timeout)
}

fn wait(file: &File, event: PollFlags, timeout: Duration) -> Result<bool> {
    let mut fds = [PollFd::new(file, event)];
    match poll(&mut fds, Some(&timespec_of(timeout))) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(Error::os("wait for a file")(errno)),
    }
}

pub(crate) const IOFBF: c_int = libc::_IOFBF;
pub(crate) const IONBF: c_int = libc::_IONBF;
/// Sizes that the C library accepts for the buffer of a stream.
pub(crate) const STREAM_BUFFER_BYTES: RangeInclusive<usize> = 0..=usize::MAX;

/// Opens a stream with the access for which `file` is open.
pub(crate) fn open_stream(file: File) -> Result<NonNull<CStream>> {
    let flags = fcntl_getfl(&file).map_err(Error::os("ask how a file was opened"))?;
    // fdopen never truncates the file, whatever its mode.
    let mode = match flags & OFlags::RWMODE {
        OFlags::WRONLY => c"w",
        OFlags::RDWR => c"r+",
        _ => c"r",
    };
    // SAFETY: the descriptor is open and the mode ends with a zero byte.
    let stream = unsafe { libc::fdopen(file.as_raw_fd(), mode.as_ptr()) };
    let stream = NonNull::new(stream.cast()).ok_or_else(|| failed_in_c("open a stream"))?;
    // From here on, the stream owns the descriptor.
    let _ = file.into_raw_fd();
    Ok(stream)
}

/// # Safety
/// The stream must be open.
#[inline]
pub(crate) unsafe fn seek_stream(stream: *mut CStream, position: i64) -> c_int {
    // SAFETY: as the caller guarantees.
    unsafe { libc::fseeko64(stream.cast(), position, libc::SEEK_SET) }
}

#[cold]
pub(crate) fn failed_in_c(action: &'static str) -> Error {
    Error::os(action)(io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::read_exact_at;
    use crate::file::{OpenMode, create_new, open_read};

    #[test]
    fn blocks_are_read_and_written_where_they_belong() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let file = create_new(&path, OpenMode::Plain).unwrap();
        write_at(&file, b"world", 6).unwrap();
        write_at(&file, b"hello ", 0).unwrap();
        let mut block = [0; 8];
        assert_eq!(read_at(&file, &mut block, 4).unwrap(), 7);
        assert_eq!(&block[..7], b"o world");
        assert_eq!(read_at(&file, &mut block, 11).unwrap(), 0);
        read_exact_at(&file, &mut block, 3).unwrap();
        assert_eq!(&block, b"lo world");
        let ends = read_exact_at(&file, &mut block, 4).unwrap_err();
        assert_eq!(ends.kind(), Some(io::ErrorKind::UnexpectedEof));
        let read_only = open_read(&path, OpenMode::Plain).unwrap();
        write_at(&read_only, b"x", 0).unwrap_err();
        let (reader, _writer) = io::pipe().unwrap();
        let pipe = File::from(std::os::fd::OwnedFd::from(reader));
        read_at(&pipe, &mut block, 0).unwrap_err();
        assert!(!wait_readable(&pipe, Duration::from_millis(1)).unwrap());
        assert!(wait_readable(&file, Duration::from_millis(1)).unwrap());
    }

    #[test]
    fn manners_read_the_same_or_are_refused() {
        let file = tempfile::tempfile().unwrap();
        write_at(&file, b"hello", 0).unwrap();
        for manner in [ReadManner::WithoutWaiting, ReadManner::WithoutCaching] {
            let mut block = [0; 8];
            match read_at_as(&file, &mut block, 1, manner) {
                Ok(Some(count)) => assert_eq!(&block[..count], b"ello"),
                Ok(None) => assert_eq!(manner, ReadManner::WithoutWaiting),
                Err(error @ Error::NotSupported { .. }) => println!("skipped: {error}"),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn an_alignment_is_a_power_of_two_where_it_is_reported() {
        let file = tempfile::tempfile().unwrap();
        match direct_alignment(&file) {
            Ok(Some(alignment)) => assert!(alignment.offset_bytes.is_power_of_two()),
            Ok(None) => println!("skipped: the alignment is not known here"),
            Err(error) => assert!(error.is_not_supported(), "{error}"),
        }
    }
}
