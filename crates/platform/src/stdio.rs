//! Streams of the C library (`FILE`): input and output through a buffer in user space.

pub use crate::os::stdio::Stream;

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
