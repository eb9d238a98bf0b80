//! Streams of the C library (`FILE`): input and output through a buffer in user space.

use std::fs::File;

use crate::{Result, os};

/// The buffer between a stream's calls and the system's
/// ([setvbuf(3)](https://man7.org/linux/man-pages/man3/setvbuf.3.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// What the C library gives a stream on its own: in glibc as large as the file system's
    /// preferred block, which is mostly 4 KiB.
    Default,
    /// None (`_IONBF`): what is asked of the stream is asked of the system.
    None,
    /// A full buffer (`_IOFBF`) of so many bytes, at least 1.
    Bytes(usize),
}

/// A stream over an open file. It starts at the file's position. Dropping it closes the file; call
/// [`Stream::close`] where it matters whether what was buffered could be written.
#[derive(Debug)]
pub struct Stream {
    stream: os::stdio::Stream,
}

impl Stream {
    /// A stream over `file`, for what the file was opened for (`fdopen`, then `setvbuf`).
    ///
    /// # Errors
    /// If the C library refuses the buffer or has no memory for the stream.
    pub fn over(file: File, buffering: Buffering) -> Result<Self> {
        os::stdio::Stream::over(file, buffering).map(|stream| Self { stream })
    }

    /// Reads up to `block.len()` bytes (`fread` of one byte so many times), less only at the end of
    /// the file.
    ///
    /// # Errors
    /// If the system cannot read.
    #[inline]
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize> {
        self.stream.read(block)
    }

    /// Writes all of `block` (`fwrite` of one byte so many times), into the buffer at first.
    ///
    /// # Errors
    /// If the system cannot write what had to leave the buffer.
    #[inline]
    pub fn write(&mut self, block: &[u8]) -> Result<()> {
        self.stream.write(block)
    }

    /// Moves to `position`, in bytes from the start (`fseeko`). What is buffered for writing is
    /// written first. A call of this is needed between reading and writing.
    ///
    /// # Errors
    /// If the system cannot write, or the file has no position.
    #[inline]
    pub fn seek(&mut self, position: u64) -> Result<()> {
        self.stream.seek(position)
    }

    /// Hands what is buffered for writing to the system (`fflush`).
    ///
    /// # Errors
    /// If the system cannot write.
    pub fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }

    /// Flushes and closes (`fclose`).
    ///
    /// # Errors
    /// If the system cannot write what was buffered.
    pub fn close(self) -> Result<()> {
        self.stream.close()
    }
}
