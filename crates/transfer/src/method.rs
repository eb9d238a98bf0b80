//! The ways in which either side moves bytes between its file and its connection.

use crate::cover::Cover;
use crate::error::{Error, Result};
use choice::Choice;
use platform::stream_ring::StreamRing;

/// How the sender reads its file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendMethod {
    /// Reads it into a buffer, and sends that.
    File,
    /// Maps it into memory, and sends that.
    Mmap,
    /// The kernel sends it ([`platform::socket::send_file`]); read for its sum only.
    #[choice("sendfile")]
    SendFile,
    /// The kernel moves it through a pipe ([`platform::socket::Conduit`]); read for its sum only.
    Splice,
    /// Reads it into buffers that the kernel sends without a copy ([`platform::socket::ZeroCopy`]).
    #[choice("zerocopy")]
    ZeroCopy,
    /// Reads and sends it through a ring ([`platform::stream_ring`]): the next blocks are read while
    /// one is on its way.
    Uring,
}

/// How the receiver writes its file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiveMethod {
    /// Receives into a buffer, and writes that.
    File,
    /// Grows the file, maps it into memory, and receives into that.
    Mmap,
    /// The kernel moves what arrives through a pipe; read again for its sum only.
    Splice,
    /// Receives and writes it through a ring ([`platform::stream_ring`]): blocks are written while
    /// the next arrives.
    Uring,
}

impl SendMethod {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::File,
        Self::Mmap,
        Self::SendFile,
        Self::Splice,
        Self::ZeroCopy,
        Self::Uring,
    ];

    /// The fastest for contents that are protected so: the kernel sends what nobody has to look at.
    pub fn usual(cover: Cover) -> Self {
        match cover {
            Cover::Bare => Self::SendFile,
            Cover::Summed | Cover::Sealed => Self::File,
        }
    }

    /// Whether it can send contents that are protected so: the kernel, where it sends bytes as they
    /// are, seals nothing.
    pub fn can(self, cover: Cover) -> bool {
        let is_in_kernel = matches!(self, Self::SendFile | Self::Splice | Self::ZeroCopy);
        !(is_in_kernel && cover == Cover::Sealed)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Mmap => "mmap",
            Self::SendFile => "sendfile",
            Self::Splice => "splice",
            Self::ZeroCopy => "zerocopy",
            Self::Uring => "uring",
        }
    }

    /// Makes sure that the system allows it.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(self) -> Result<()> {
        check(self == Self::Uring)
    }
}

impl ReceiveMethod {
    /// All of them, each at the place of the number that stands for it on the wire.
    pub const ALL: [Self; 4] = [Self::File, Self::Mmap, Self::Splice, Self::Uring];

    /// The number that stands for it on the wire.
    pub(crate) fn code(self) -> u64 {
        self as u64
    }

    /// The method with this number.
    pub(crate) fn from_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// The fastest for contents that are protected so: the kernel stores what nobody has to look at.
    pub fn usual(cover: Cover) -> Self {
        match cover {
            Cover::Bare => Self::Splice,
            Cover::Summed | Cover::Sealed => Self::File,
        }
    }

    /// Whether it can receive contents that are protected so: the kernel, where it stores bytes as they
    /// come, opens nothing.
    pub fn can(self, cover: Cover) -> bool {
        !(self == Self::Splice && cover == Cover::Sealed)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Mmap => "mmap",
            Self::Splice => "splice",
            Self::Uring => "uring",
        }
    }

    /// Makes sure that the system allows it.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(self) -> Result<()> {
        check(self == Self::Uring)
    }
}

/// Makes sure that there are rings, if they are needed.
fn check(needs_ring: bool) -> Result<()> {
    if needs_ring {
        StreamRing::new(1).map_err(Error::Method)?;
    }
    Ok(())
}
