//! Blocks of memory that `io_uring(7)` moves between files and connections, several concurrently.
//!
//! A [`Block`] has one owner at a time. [`StreamRing::begin`] takes the block with its operation,
//! and [`StreamRing::wait`] returns it after completion. Until then no code can read memory that
//! the kernel writes, or change memory that it reads.

use std::fs::File;
use std::io;
use std::net::TcpStream;

use crate::Result;
use crate::memory::{Mapping, PageSize};

pub use crate::os::stream_ring::StreamRing;

/// Memory that a ring moves bytes into and out of.
#[derive(Debug)]
pub struct Block {
    memory: Mapping,
}

/// An operation of a ring on a range of a block.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Fills the range from a file at this offset, as far as the file has data.
    Read(&'a File, u64),
    /// Writes the range to a file at this offset.
    Write(&'a File, u64),
    /// Sends the whole range, unless the connection fails. Two concurrent sends would mix their
    /// bytes.
    Send(&'a TcpStream),
    /// Receives until the range is full or the connection ends. Two concurrent receives would mix
    /// their bytes.
    Receive(&'a TcpStream),
}

/// A completed operation with its block.
#[derive(Debug)]
pub struct Done {
    /// The tag of the operation.
    pub tag: u64,
    /// The block.
    pub block: Block,
    /// Number of bytes moved; 0 at the end of a file or a connection.
    pub moved: io::Result<usize>,
}

impl Block {
    /// Allocates a block of `len` bytes, with its pages.
    pub fn new(len: usize) -> Result<Self> {
        let mut memory = Mapping::anonymous(len, PageSize::Base)?;
        memory.populate()?;
        Ok(Self { memory })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.memory.as_slice()
    }

    /// Its bytes, mutable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut_slice()
    }
}
