//! Requests to the kernel.

use core::mem::ManuallyDrop;
use core::slice;
use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, RawHandle};

use windows_sys::Win32::Foundation::{ERROR_GEN_FAILURE, ERROR_OPERATION_ABORTED};

/// The handle of a file.
pub(crate) type RawFile = RawHandle;

pub(crate) fn raw(file: &impl AsHandle) -> RawFile {
    file.as_handle().as_raw_handle()
}

/// The answer to a request that was ended before it had one.
pub(crate) const CANCELLED: i32 = ERROR_OPERATION_ABORTED.cast_signed();

/// True if the system reports so that nothing was transferred, because somebody asked.
pub(crate) fn was_cancelled(error: i32) -> bool {
    error == CANCELLED
}

/// Most bytes of a transfer: its result must fit an `i32`. Callers expect short transfers.
const MOST_BYTES: usize = 1 << 30;

/// A system call to make.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    Read {
        file: RawFile,
        buffer: *mut u8,
        bytes: usize,
        offset: u64,
    },
    Write {
        file: RawFile,
        buffer: *const u8,
        bytes: usize,
        offset: u64,
    },
    Sync {
        file: RawFile,
    },
}

impl Request {
    /// The request that asks once and does not wait: no transfer has one.
    #[expect(clippy::unused_self, reason = "other systems have other requests")]
    pub(crate) fn without_waiting(self) -> Option<Self> {
        None
    }

    /// Makes the call on this kernel thread. Returns its result, or the negative error number.
    ///
    /// # Safety
    /// The file must be open, and the buffer valid for the transfer.
    pub(crate) unsafe fn perform(self) -> i32 {
        // SAFETY: the caller's contract; the handle stays with its owner.
        let result = unsafe {
            match self {
                Self::Read {
                    file,
                    buffer,
                    bytes,
                    offset,
                } => {
                    let buffer = slice::from_raw_parts_mut(buffer, bytes.min(MOST_BYTES));
                    borrowed(file).seek_read(buffer, offset)
                }
                Self::Write {
                    file,
                    buffer,
                    bytes,
                    offset,
                } => {
                    let buffer = slice::from_raw_parts(buffer, bytes.min(MOST_BYTES));
                    borrowed(file).seek_write(buffer, offset)
                }
                Self::Sync { file } => borrowed(file).sync_all().map(|()| 0),
            }
        };
        result.map_or_else(
            |error| -number(&error),
            |bytes| (bytes as u32).cast_signed(),
        )
    }
}

/// # Safety
/// The handle must be open while the result lives.
unsafe fn borrowed(file: RawFile) -> ManuallyDrop<File> {
    // SAFETY: the caller's contract; nothing closes it here.
    ManuallyDrop::new(unsafe { File::from_raw_handle(file) })
}

fn number(error: &io::Error) -> i32 {
    let unknown = ERROR_GEN_FAILURE.cast_signed();
    error
        .raw_os_error()
        .filter(|&number| number > 0)
        .unwrap_or(unknown)
}
