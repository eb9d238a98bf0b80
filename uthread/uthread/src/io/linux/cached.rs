//! Reads from the page cache.

use std::os::fd::RawFd;

use super::plain::Plain;
use crate::worker::{enter, leave};

/// Reads that need not wait. It belongs to one worker.
pub(crate) struct CachedReads(Plain);

impl CachedReads {
    pub(crate) const fn new() -> Self {
        Self(Plain::new())
    }

    /// Copies from the page cache. `None` if nothing is cached, or if the kernel cannot say.
    pub(crate) fn read(&self, fd: RawFd, buffer: &mut [u8], offset: u64) -> Option<usize> {
        /// Smallest alignment that direct transfers require (open(2), `O_DIRECT`).
        const SECTOR_BYTES: usize = 512;
        let edges = buffer.as_ptr().addr() | buffer.len() | offset as usize;
        let place = libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        };
        let offset = libc::off_t::try_from(offset).ok()?;
        // Defers a tick during the call to its end. Otherwise the tick would be retried repeatedly.
        enter();
        // For direct transfers, `RWF_NOWAIT` does wait for the device.
        let may_wait = edges.is_multiple_of(SECTOR_BYTES) && !self.0.contains(fd);
        let bytes = (!may_wait).then(|| {
            // SAFETY: one buffer, borrowed exclusively.
            unsafe { libc::preadv2(fd, &raw const place, 1, offset, libc::RWF_NOWAIT) }
        });
        leave();
        // The actual transfer reports any error again, and it knows the end of the file: with
        // `RWF_NOWAIT`, Linux 5.9 and 5.10 may return zero before it (readv(2), "Bugs").
        usize::try_from(bytes?).ok().filter(|bytes| *bytes > 0)
    }
}
