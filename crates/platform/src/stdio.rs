//! Streams of the C library (`FILE`): input and output through a buffer in user space.

use std::fs::File;

use crate::{Result, os};

/// Buffering between a stream's calls and system calls
/// ([setvbuf(3)](https://man7.org/linux/man-pages/man3/setvbuf.3.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// The C library's default: in glibc the file system's preferred block size, usually 4 KiB.
    Default,
    /// No buffer (`_IONBF`): each call of the stream is a system call.
    None,
    /// A full buffer (`_IOFBF`) of this many bytes, at least 1.
    Bytes(usize),
}

/// A stream over an open file. It starts at the file's position. Dropping it closes the file; call
/// [`Stream::close`] to see errors of the final write.
#[derive(Debug)]
pub struct Stream(os::stdio::Stream);

face! {
    os::stdio;

    impl Stream {
        /// A stream over `file`, with the access for which the file is open (`fdopen`, then `setvbuf`).
        ///
        /// # Errors
        /// If the C library refuses the buffer or has no memory for the stream.
        pub fn over(file: File, buffering: Buffering) -> Result<Self>
            = refuse("streams of the C library");

        /// Reads up to `block.len()` bytes (`fread` with items of 1 byte), fewer only at the end of the
        /// file.
        ///
        /// # Errors
        /// If the system cannot read.
        #[inline]
        pub fn read(&mut self, block: &mut [u8]) -> Result<usize>;

        /// Writes all of `block` (`fwrite` with items of 1 byte), first into the buffer.
        ///
        /// # Errors
        /// If the system cannot write the bytes that leave the buffer.
        #[inline]
        pub fn write(&mut self, block: &[u8]) -> Result<()>;

        /// Moves to `position`, in bytes from the start (`fseeko`), after writing the buffered bytes.
        /// This call is required between reading and writing.
        ///
        /// # Errors
        /// If the system cannot write, or the file has no position.
        #[inline]
        pub fn seek(&mut self, position: u64) -> Result<()>;

        /// Writes the buffered bytes to the system (`fflush`).
        ///
        /// # Errors
        /// If the system cannot write.
        pub fn flush(&mut self) -> Result<()>;

        /// Flushes and closes (`fclose`).
        ///
        /// # Errors
        /// If the system cannot write the buffered bytes.
        pub fn close(self) -> Result<()>;
    }
}
