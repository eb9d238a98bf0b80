//! The ways in which either side moves bytes between its file and its connection.

use crate::error::{Error, Result};
use platform::directory::Directory;
use platform::stream_ring::StreamRing;
use std::fmt;
use std::path::Path;

/// How the sender reads its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendMethod {
    /// Reads it into a buffer, and sends that.
    File,
    /// Maps it into memory, and sends that.
    Mmap,
    /// The kernel sends it ([`platform::socket::send_file`]); read for its checksum only.
    SendFile,
    /// The kernel moves it through a pipe ([`platform::socket::Conduit`]); read for its checksum
    /// only.
    Splice,
    /// Reads it into buffers that the kernel sends without a copy ([`platform::socket::ZeroCopy`]).
    ZeroCopy,
    /// Reads and sends it through a ring ([`platform::stream_ring`]): the next blocks are read while
    /// one is on its way.
    Uring,
}

/// How the receiver writes its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiveMethod {
    /// Receives into a buffer, and writes that.
    File,
    /// Grows the file, maps it into memory, and receives into that.
    Mmap,
    /// The kernel moves what arrives through a pipe; read again for its checksum only.
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

    /// Through a ring where the system allows that, else by calls.
    pub fn usual() -> Self {
        match Self::Uring.check() {
            Ok(()) => Self::Uring,
            Err(_) => Self::File,
        }
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

    /// Through a ring if `directory` is in memory and the system allows it, else by calls: to find
    /// memory for each page takes so long there that another processor had better receive meanwhile.
    pub fn usual(directory: Option<&Path>) -> Self {
        let opened = directory.and_then(|path| Directory::open(path).ok());
        let is_in_memory = opened.is_some_and(|directory| directory.is_in_memory());
        if is_in_memory && Self::Uring.check().is_ok() {
            Self::Uring
        } else {
            Self::File
        }
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

impl fmt::Display for SendMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for ReceiveMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::ReceiveMethod;
    use std::path::Path;

    #[test]
    fn a_ring_receives_into_memory_and_nowhere_else() {
        assert_eq!(ReceiveMethod::usual(None), ReceiveMethod::File);
        let nowhere = Path::new("/nonexistent");
        assert_eq!(ReceiveMethod::usual(Some(nowhere)), ReceiveMethod::File);
        let memory = Path::new("/dev/shm");
        let is_there = platform::directory::Directory::open(memory)
            .is_ok_and(|directory| directory.is_in_memory());
        if !is_there || ReceiveMethod::Uring.check().is_err() {
            return println!("skipped: no /dev/shm in memory, or no rings");
        }
        assert_eq!(ReceiveMethod::usual(Some(memory)), ReceiveMethod::Uring);
    }
}
