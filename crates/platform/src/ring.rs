//! Reads through `io_uring(7)`: many concurrent reads, submitted and completed through memory that
//! is shared with the kernel.

use std::fs::File;
use std::io;
use std::marker::PhantomData;

use crate::{Result, os};

/// Options of a [`ReadRing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOptions {
    /// Queue depth: reads in flight at once, from 1 to 4096; each has its own buffer.
    pub depth: u32,
    /// Size of each buffer, in bytes: for a file that is open for direct reads, a multiple of their
    /// alignment.
    pub block_bytes: usize,
    /// True to register the buffers with the kernel once, instead of passing them with each read.
    pub registered_buffers: bool,
    /// True to register the file with the kernel once, instead of passing it with each read.
    pub registered_file: bool,
}

/// A ring that reads one file into its own buffers. Dropping it cancels its reads and waits for their
/// end.
#[derive(Debug)]
pub struct ReadRing<'file>(os::ring::ReadRing, PhantomData<&'file File>);

/// A completed read.
#[derive(Debug)]
pub struct Completed<'ring> {
    /// Its offset in the file.
    pub offset: u64,
    /// The bytes read, fewer than requested only at the end of the file; or the kernel's error.
    pub bytes: io::Result<&'ring [u8]>,
}

impl<'file> ReadRing<'file> {
    /// Sets up a ring and allocates the pages of its buffers.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if this kernel has no such rings,
    /// [`crate::Error::NotPermitted`] if they are forbidden, [`crate::Error::Os`] if memory cannot
    /// be allocated or locked.
    pub fn new(file: &'file File, options: &RingOptions) -> Result<Self> {
        let ring = os::ring::ReadRing::new(file, options)?;
        Ok(Self(ring, PhantomData))
    }
}

face! {
    os::ring;

    impl ReadRing<'_> {
        /// True if another read can be queued.
        #[inline]
        pub fn has_room(&self) -> bool;

        /// Reads that are queued and not yet taken back.
        #[inline]
        pub fn in_flight(&self) -> u32;

        /// Queues a read of up to `len` bytes, at most a block, at `offset`. The next
        /// [`ReadRing::submit`] submits it.
        ///
        /// # Panics
        /// If the queue is full.
        #[inline]
        pub fn queue(&mut self, offset: u64, len: usize);

        /// Submits the queued reads to the kernel, and waits until at least `wait_for` reads are
        /// complete.
        ///
        /// # Errors
        /// If the kernel refuses.
        #[inline]
        pub fn submit(&mut self, wait_for: u32) -> Result<()>;

        /// Takes a completed read, in order of completion; `None` if there is none. The next call
        /// reuses its buffer.
        #[inline]
        pub fn take(&mut self) -> Option<Completed<'_>>;

        fn new(file: &File, options: &RingOptions) -> Result<Self> = refuse("io_uring");
    }
}
