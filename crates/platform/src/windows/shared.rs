use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    PAGE_READWRITE, UnmapViewOfFile,
};
use windows_sys::Win32::System::Threading::{INFINITE, WaitOnAddress, WakeByAddressSingle};

use super::outcome::{check, failed};
use crate::Result;

/// Zeroed memory of a section, which the paging file backs.
#[derive(Debug)]
pub(crate) struct Memory {
    pub start: NonNull<u8>,
    pub len: usize,
}

impl Memory {
    pub(crate) fn new(len: usize) -> Result<Self> {
        let (high, low) = ((len as u64 >> 32) as u32, len as u32);
        // SAFETY: the section has no name and no attributes.
        let section = unsafe {
            CreateFileMappingW(
                INVALID_HANDLE_VALUE,
                ptr::null(),
                PAGE_READWRITE,
                high,
                low,
                ptr::null(),
            )
        };
        if section.is_null() {
            return Err(failed("share memory"));
        }
        // SAFETY: the handle is new, and nothing else has it.
        let section = unsafe { OwnedHandle::from_raw_handle(section) };
        let access = FILE_MAP_READ | FILE_MAP_WRITE;
        // SAFETY: the system selects a free range, so no existing memory is touched. The view keeps
        // the section.
        let view = unsafe { MapViewOfFile(section.as_raw_handle(), access, 0, 0, len) };
        match NonNull::new(view.Value.cast()) {
            Some(start) => Ok(Self { start, len }),
            None => Err(failed("share memory")),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let view = MEMORY_MAPPED_VIEW_ADDRESS {
            Value: self.start.as_ptr().cast(),
        };
        // SAFETY: the range belongs to this mapping, and every borrow of it has ended.
        unsafe { UnmapViewOfFile(view) };
    }
}

/// The system finds waiting threads by their address, so they must belong to one process.
pub fn wait_while(word: &AtomicU32, value: u32) -> Result<()> {
    // SAFETY: both addresses are of words of the given size.
    let outcome = unsafe {
        WaitOnAddress(
            word.as_ptr().cast(),
            (&raw const value).cast(),
            size_of::<u32>(),
            INFINITE,
        )
    };
    check(outcome, "wait for a word to change")
}

pub fn wake_one(word: &AtomicU32) -> Result<()> {
    // SAFETY: the address only identifies the waiting threads.
    unsafe { WakeByAddressSingle(word.as_ptr().cast()) };
    Ok(())
}
