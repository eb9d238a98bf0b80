//! Requests to the kernel.

use core::ptr;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_SYNCHRONOUS_IO_ALERT, FILE_SYNCHRONOUS_IO_NONALERT, FileModeInformation,
    NtQueryInformationFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_GEN_FAILURE, ERROR_HANDLE_EOF, ERROR_IO_PENDING, ERROR_OPERATION_ABORTED, WIN32_ERROR,
};
use windows_sys::Win32::Storage::FileSystem::{FlushFileBuffers, ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{
    GetOverlappedResult, IO_STATUS_BLOCK, OVERLAPPED, OVERLAPPED_0_0,
};
use windows_sys::Win32::System::Threading::CreateEventW;
use windows_sys::core::BOOL;

use crate::worker::Event;

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
pub(super) const MOST_BYTES: usize = 1 << 30;

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

    pub(super) fn file(self) -> RawFile {
        match self {
            Self::Read { file, .. } | Self::Write { file, .. } | Self::Sync { file } => file,
        }
    }

    /// Makes the call on this kernel thread. Returns its result, or the negative error number. There is no wait for `_stop`
    /// to end.
    ///
    /// # Safety
    /// The file must be open, and the buffer valid for the transfer.
    pub(crate) unsafe fn perform(self, _stop: Option<&Event>) -> i32 {
        // SAFETY: the caller's contract.
        let result = unsafe {
            match self {
                Self::Read {
                    file,
                    buffer,
                    bytes,
                    offset,
                } => at(file, offset, |place, count| {
                    ReadFile(file, buffer, bytes.min(MOST_BYTES) as u32, count, place)
                }),
                Self::Write {
                    file,
                    buffer,
                    bytes,
                    offset,
                } => at(file, offset, |place, count| {
                    WriteFile(file, buffer, bytes.min(MOST_BYTES) as u32, count, place)
                }),
                Self::Sync { file } => outcome(FlushFileBuffers(file)).map(|()| 0),
            }
        };
        result.map_or_else(|error| -number(&error), u32::cast_signed)
    }
}

/// Makes a call for a transfer at an offset, and waits for its end.
///
/// # Safety
/// The file must be open. The call must give both pointers to the system, and nothing else that ends before
/// the transfer.
unsafe fn at(
    file: RawFile,
    offset: u64,
    call: impl FnOnce(*mut OVERLAPPED, *mut u32) -> BOOL,
) -> io::Result<u32> {
    let mut place = positioned(offset);
    let mut bytes = 0;
    // A handle that was opened for overlapped transfers returns early. Its own state would report the end of
    // any of them, so this one has an event.
    let event = is_overlapped(file).then(own_event).transpose()?;
    if let Some(event) = &event {
        // With the lowest bit set, a completion port of the handle's owner does not hear of it.
        place.hEvent = event.as_raw_handle().map_addr(|address| address | 1);
    }
    let mut result = outcome(call(&raw mut place, &raw mut bytes));
    if event.is_some() && is(&result, ERROR_IO_PENDING) {
        // SAFETY: the request is in flight, and has its own event.
        result = outcome(unsafe { GetOverlappedResult(file, &raw const place, &raw mut bytes, 1) });
    }
    if is(&result, ERROR_HANDLE_EOF) {
        return Ok(0);
    }
    result.map(|()| bytes)
}

/// The description of a transfer at an offset.
pub(super) fn positioned(offset: u64) -> OVERLAPPED {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous = OVERLAPPED_0_0 {
        Offset: offset as u32,
        OffsetHigh: (offset >> 32) as u32,
    };
    place
}

/// True if the handle was opened for overlapped transfers. `false` if the system does not tell.
pub(super) fn is_overlapped(file: RawFile) -> bool {
    let mut state = IO_STATUS_BLOCK::default();
    let mut mode = 0_u32;
    // SAFETY: the class tells a mode of this size. The call fails for a handle that is not open.
    let status = unsafe {
        NtQueryInformationFile(
            file,
            &raw mut state,
            (&raw mut mode).cast(),
            size_of_val(&mode) as u32,
            FileModeInformation,
        )
    };
    status >= 0 && mode & (FILE_SYNCHRONOUS_IO_ALERT | FILE_SYNCHRONOUS_IO_NONALERT) == 0
}

fn own_event() -> io::Result<OwnedHandle> {
    // SAFETY: no pointer is given, and nothing else owns the new handle.
    unsafe {
        let event = CreateEventW(ptr::null(), 1, 0, ptr::null());
        outcome((!event.is_null()).into())?;
        Ok(OwnedHandle::from_raw_handle(event))
    }
}

fn outcome(succeeded: BOOL) -> io::Result<()> {
    if succeeded == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn is(result: &io::Result<()>, code: WIN32_ERROR) -> bool {
    let code = Some(code.cast_signed());
    result
        .as_ref()
        .is_err_and(|error| error.raw_os_error() == code)
}

fn number(error: &io::Error) -> i32 {
    let unknown = ERROR_GEN_FAILURE.cast_signed();
    error
        .raw_os_error()
        .filter(|&number| number > 0)
        .unwrap_or(unknown)
}
