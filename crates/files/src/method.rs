//! The methods of reading a file.

use choice::Choice;

/// A method of reading a file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `read` at the file's current position.
    Read,
    /// `pread`, at an offset.
    Pread,
    /// `fread` of the C library, through the stream's own buffer.
    Stdio,
    /// The file is mapped, block by block.
    Mmap,
    /// `io_uring`, on Windows overlapped reads: several blocks concurrently.
    Uring,
    /// `pread` that bypasses the page cache (`O_DIRECT`).
    Direct,
    /// As [`Uring`](Self::Uring), bypassing the page cache (`O_DIRECT`).
    #[choice("direct-uring")]
    DirectUring,
}

impl Method {
    /// True if it bypasses the page cache.
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::DirectUring)
    }
}
