use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::thread::futex;

use crate::error::{Error, Result};

/// Zeroed memory that is shared with later copies of this process.
#[derive(Debug)]
pub(crate) struct Memory {
    pub start: NonNull<u8>,
    pub len: usize,
}

impl Memory {
    pub(crate) fn new(len: usize) -> Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: the kernel selects a free range, so no existing memory is touched.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), len, access, flags) }
            .map_err(Error::os("share memory"))?;
        Ok(Self {
            start: NonNull::new(start.cast()).expect("nothing is mapped at address zero"),
            len,
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the range belongs to this mapping, and every borrow of it has ended.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Sleeps while `word` has this value, or until it is woken
/// ([futex(2)](https://man7.org/linux/man-pages/man2/futex.2.html)). Spurious wake-ups occur: check
/// the word again.
pub fn wait_while(word: &AtomicU32, value: u32) -> Result<()> {
    match futex::wait(word, futex::Flags::empty(), value, None) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(errno) => Err(Error::os("wait for a word to change")(errno)),
    }
}

/// Wakes one thread that sleeps on `word`, if there is one.
pub fn wake_one(word: &AtomicU32) -> Result<()> {
    futex::wake(word, futex::Flags::empty(), 1)
        .map(drop)
        .map_err(Error::os("wake a thread that waits for a word"))
}
