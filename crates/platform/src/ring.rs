//! Reads through `io_uring(7)`: many at a time, handed over and taken back through memory that is
//! shared with the kernel.

use std::fs::File;
use std::io;
use std::marker::PhantomData;

use crate::{Result, os};

/// How a [`ReadRing`] is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOptions {
    /// Reads that can be under way at once, from 1 to 4096; each has a buffer of its own.
    pub depth: u32,
    /// Size of each buffer, in bytes: a multiple of what direct reads need, should the file be open
    /// for those.
    pub block_bytes: usize,
    /// Whether the buffers are made known to the kernel once, instead of at each read.
    pub registered_buffers: bool,
    /// Whether the file is made known to the kernel once, instead of at each read.
    pub registered_file: bool,
}

/// A ring that reads one file into buffers of its own.
#[derive(Debug)]
pub struct ReadRing<'file> {
    ring: os::ring::ReadRing,
    file: PhantomData<&'file File>,
}

/// A read that is done.
#[derive(Debug)]
pub struct Completed<'ring> {
    /// Where in the file it began.
    pub offset: u64,
    /// What was read, which is less than asked for only at the end of the file; or what the kernel
    /// said against it.
    pub bytes: io::Result<&'ring [u8]>,
}

impl<'file> ReadRing<'file> {
    /// Sets up a ring, its buffers' pages made.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if this kernel has no such rings, [`crate::Error::NotPermitted`]
    /// if they are forbidden, [`crate::Error::Os`] if memory cannot be had or may not be locked.
    pub fn new(file: &'file File, options: &RingOptions) -> Result<Self> {
        let ring = os::ring::ReadRing::new(file, options)?;
        Ok(Self {
            ring,
            file: PhantomData,
        })
    }

    /// Whether another read can be queued.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.ring.has_room()
    }

    /// Reads that were queued and not taken back yet.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.ring.in_flight()
    }

    /// Queues a read of up to `len` bytes, at most a block, at `offset`; the kernel hears of it at
    /// the next [`ReadRing::submit`].
    ///
    /// # Panics
    /// If there is no room.
    #[inline]
    pub fn queue(&mut self, offset: u64, len: usize) {
        self.ring.queue(offset, len);
    }

    /// Hands what is queued to the kernel, and waits until at least `wait_for` reads are done.
    ///
    /// # Errors
    /// If the kernel refuses.
    #[inline]
    pub fn submit(&mut self, wait_for: u32) -> Result<()> {
        self.ring.submit(wait_for)
    }

    /// Takes back a read that is done, in the order in which they ended; `None` if there is none.
    /// Its buffer is used again after the next call.
    #[inline]
    pub fn take(&mut self) -> Option<Completed<'_>> {
        self.ring.take()
    }
}
