//! The stack of a worker's loop, where the first user thread has that of the kernel thread.

use core::ops::Range;
use core::ptr::NonNull;
use std::io;

use super::error::MapError;
use super::system;
use super::valgrind::{self, StackId};

/// A stack above a guard, unmapped when this is dropped.
pub(crate) struct LoopStack(NonNull<u8>, StackId);

impl LoopStack {
    const BYTES: usize = (256 << 10) + system::guard_bytes();

    pub(crate) fn map() -> io::Result<Self> {
        let start = system::map(Self::BYTES).map_err(MapError::into_source)?;
        let stack = Self(start, valgrind::register(addresses(start)));
        // SAFETY: nobody uses the mapping yet.
        unsafe { system::prepare(start, Self::BYTES) }.map_err(MapError::into_source)?;
        Ok(stack)
    }

    /// All of it, with its guard.
    pub(crate) fn addresses(&self) -> Range<*mut u8> {
        addresses(self.0)
    }
}

fn addresses(start: NonNull<u8>) -> Range<*mut u8> {
    // SAFETY: the end of the mapping.
    start.as_ptr()..unsafe { start.as_ptr().add(LoopStack::BYTES) }
}

impl Drop for LoopStack {
    fn drop(&mut self) {
        valgrind::deregister(self.1);
        // SAFETY: the mapping of `map`, whose frames are gone.
        unsafe { system::unmap(self.0, Self::BYTES) };
    }
}
