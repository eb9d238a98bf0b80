//! Methods of moving bytes between a file and a connection, for either side.

use crate::cover::Cover;
use crate::error::{Error, Result};
use crate::protocol::LONGEST_DATA;
use choice::Choice;
use platform::memory::{Mapping, PageSize};
use platform::stream_ring::StreamRing;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The method by which the sender reads its file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendMethod {
    /// Reads the file into a buffer and sends the buffer.
    File,
    /// Maps the file into memory and sends the mapping.
    Mmap,
    /// The kernel sends the file ([`platform::socket::send_file`]); the sender reads it only for
    /// its checksum.
    #[choice("sendfile")]
    SendFile,
    /// The kernel moves the file through a pipe ([`platform::socket::Conduit`]); the sender reads
    /// it only for its checksum.
    Splice,
    /// Reads the file into buffers that the kernel sends without a copy
    /// ([`platform::socket::ZeroCopy`]).
    #[choice("zerocopy")]
    ZeroCopy,
    /// Reads and sends through an `io_uring` ([`platform::stream_ring`]): the next blocks are read
    /// while one is sent.
    Uring,
}

/// The method by which the receiver writes its file. A method's position here is its number on the
/// wire, so new ones go to the end.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReceiveMethod {
    /// Receives into a buffer and writes the buffer.
    File,
    /// Grows the file, maps it into memory, and receives into the mapping.
    Mmap,
    /// The kernel moves arriving bytes through a pipe; the receiver reads the file back only for
    /// its checksum.
    Splice,
    /// Receives and writes through an `io_uring` ([`platform::stream_ring`]): blocks are written
    /// while the next one arrives.
    Uring,
}

impl SendMethod {
    /// The fastest method for contents with this protection: the kernel sends contents that nobody
    /// has to look at.
    pub fn usual(cover: Cover) -> Self {
        match cover {
            Cover::Bare => Self::SendFile,
            Cover::Summed | Cover::Sealed => Self::File,
        }
    }

    /// True if the method can send contents with this protection. Methods in which the kernel sends
    /// the file's bytes cannot seal them.
    pub fn can(self, cover: Cover) -> bool {
        let is_in_kernel = matches!(self, Self::SendFile | Self::Splice | Self::ZeroCopy);
        !(is_in_kernel && cover == Cover::Sealed)
    }

    /// Checks that the system supports the method.
    ///
    /// # Errors
    /// If it does not, with the reason.
    pub fn check(self) -> Result<()> {
        check(self == Self::Uring)
    }
}

impl ReceiveMethod {
    /// The usual method for contents with this protection: the kernel stores contents that nobody has
    /// to look at. Whether a ring is faster depends on the machine, so a receiver tries it.
    pub fn usual(cover: Cover) -> Self {
        match cover {
            Cover::Bare => Self::Splice,
            Cover::Summed | Cover::Sealed => Self::File,
        }
    }

    /// True if the method can receive contents with this protection. Methods in which the kernel
    /// stores the arriving bytes cannot decrypt them.
    pub fn can(self, cover: Cover) -> bool {
        !(self == Self::Splice && cover == Cover::Sealed)
    }

    /// Checks that the system supports the method.
    ///
    /// # Errors
    /// If it does not, with the reason.
    pub fn check(self) -> Result<()> {
        check(self == Self::Uring)
    }
}

/// Checks that `io_uring` is available, if needed.
fn check(needs_ring: bool) -> Result<()> {
    if needs_ring {
        ring(1).map_err(Error::Method)?;
    }
    Ok(())
}

/// Longest wait for cancelled operations of a ring to end: only a hanging device takes longer.
const CANCEL_TIME: Duration = Duration::from_secs(5);

/// A ring with up to `depth` operations in flight.
pub(crate) fn ring(depth: u32) -> platform::Result<StreamRing> {
    StreamRing::new(depth, CANCEL_TIME)
}

/// Bytes per call and per frame: few enough to stay in a private cache between two steps, enough to
/// make the cost of the calls negligible.
pub(crate) const BLOCK: usize = LONGEST_DATA as usize;

/// A page-aligned block of memory. The data copied into it mostly starts at a page boundary too. If
/// the two offsets within a page differed by a few bytes, each load would wait for an earlier store
/// with a similar address (4K aliasing): on Zen 3, that makes `rep movsb`, the kernel's copy
/// instruction, five times slower.
pub(crate) fn block_memory() -> platform::Result<Mapping> {
    Mapping::anonymous(BLOCK, PageSize::Base)
}
