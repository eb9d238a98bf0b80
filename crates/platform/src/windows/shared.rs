use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use windows_sys::Win32::System::Threading::{INFINITE, WaitOnAddress, WakeByAddressSingle};

use super::memory::View;
use super::outcome::check;
use crate::Result;
use crate::file::Access;

/// Zeroed memory of a section, which the paging file backs.
#[derive(Debug)]
pub(crate) struct Memory {
    pub start: NonNull<u8>,
    pub len: usize,
    _view: View,
}

impl Memory {
    pub(crate) fn new(len: usize) -> Result<Self> {
        let view = View::new(None, 0, len, Access::Write, "share memory")?;
        Ok(Self {
            start: view.0,
            len,
            _view: view,
        })
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
