//! Blocks of memory that `io_uring(7)` moves between files and connections, several at a time.
//!
//! A [`Block`] belongs to whoever holds it. Handed to the ring with what shall be done with it, it is
//! out of reach until that is done and [`StreamRing::wait`] gives it back: nobody can look at memory
//! that the kernel writes to, or change what it reads.

use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::ops::Range;
use std::time::Duration;

use crate::memory::{Mapping, PageSize};
use crate::{Result, os};

/// Memory for a ring to move bytes into and out of.
#[derive(Debug)]
pub struct Block {
    memory: Mapping,
}

/// A ring that moves blocks.
#[derive(Debug)]
pub struct StreamRing {
    ring: os::stream_ring::StreamRing,
}

/// What a ring does with a range of a block.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Fills it from a file, beginning at this offset, with as much as there is.
    Read(&'a File, u64),
    /// Writes it to a file, beginning at this offset.
    Write(&'a File, u64),
    /// Sends it, all of it unless the connection fails. Two at a time would mix.
    Send(&'a TcpStream),
    /// Receives until it is full or the connection ends. Two at a time would mix.
    Receive(&'a TcpStream),
}

/// A block that is back.
#[derive(Debug)]
pub struct Done {
    /// What the operation was called.
    pub tag: u64,
    /// The block.
    pub block: Block,
    /// How many bytes went; 0 at the end of a file or a connection.
    pub moved: io::Result<usize>,
}

impl Block {
    /// A block of so many bytes, its pages made.
    ///
    /// # Errors
    /// If memory cannot be had.
    pub fn new(len: usize) -> Result<Self> {
        let mut memory = Mapping::anonymous(len, PageSize::Base)?;
        memory.populate()?;
        Ok(Self { memory })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.memory.as_slice()
    }

    /// Its bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut_slice()
    }
}

impl StreamRing {
    /// A ring for up to `depth` operations at a time.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if this kernel has no such rings, [`crate::Error::NotPermitted`]
    /// if they are forbidden.
    pub fn new(depth: u32) -> Result<Self> {
        os::stream_ring::StreamRing::new(depth).map(|ring| Self { ring })
    }

    /// How many blocks it has.
    pub fn in_flight(&self) -> usize {
        self.ring.in_flight()
    }

    /// Begins an operation on a range of the block.
    ///
    /// # Errors
    /// If the kernel takes nothing more.
    ///
    /// # Panics
    /// If the range is beyond the block, or more operations are under way than the ring is for.
    pub fn begin(
        &mut self,
        tag: u64,
        operation: Operation<'_>,
        block: Block,
        range: Range<usize>,
    ) -> io::Result<()> {
        self.ring.begin(tag, operation, block, range)
    }

    /// Waits until an operation is done, and gives its block back.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if none is within `timeout`, [`io::ErrorKind::Interrupted`] after
    /// a signal.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<Done> {
        self.ring.wait(timeout)
    }
}
