//! The ways in which either side moves bytes between its file and its connection.

use std::fmt;

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
}

impl SendMethod {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::File,
        Self::Mmap,
        Self::SendFile,
        Self::Splice,
        Self::ZeroCopy,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Mmap => "mmap",
            Self::SendFile => "sendfile",
            Self::Splice => "splice",
            Self::ZeroCopy => "zerocopy",
        }
    }
}

impl ReceiveMethod {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::File, Self::Mmap, Self::Splice];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Mmap => "mmap",
            Self::Splice => "splice",
        }
    }
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
