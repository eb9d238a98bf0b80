//! The methods of reading a file.

/// A method of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `read` at the file's current position.
    Read,
    /// `pread`, at an offset.
    Pread,
    /// `fread` of the C library, through the stream's own buffer.
    Stdio,
    /// The file is mapped, block by block.
    Mmap,
    /// `io_uring`, several blocks concurrently.
    Uring,
    /// `pread` that bypasses the page cache (`O_DIRECT`).
    Direct,
    /// `io_uring` that bypasses the page cache (`O_DIRECT`), several blocks concurrently.
    DirectUring,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Pread,
        Self::Stdio,
        Self::Mmap,
        Self::Uring,
        Self::Direct,
        Self::DirectUring,
    ];

    /// Its name on command lines and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Pread => "pread",
            Self::Stdio => "stdio",
            Self::Mmap => "mmap",
            Self::Uring => "uring",
            Self::Direct => "direct",
            Self::DirectUring => "direct-uring",
        }
    }

    /// The method called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// True if it bypasses the page cache.
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::DirectUring)
    }
}
