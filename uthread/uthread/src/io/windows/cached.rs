//! Reads from the system's cache.

use super::request::RawFile;

/// Reads that need not wait: none, since Windows does not tell beforehand if a read must.
pub(crate) struct CachedReads;

impl CachedReads {
    pub(crate) const fn new() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "other systems keep what they know")]
    pub(crate) fn read(&self, _: RawFile, _: &mut [u8], _: u64) -> Option<usize> {
        None
    }
}
