//! Where the bytes of a file come from.

use std::fs::File;
use std::io::{self, Read};

/// Where the bytes of a file come from.
pub enum Contents<'c> {
    /// A regular file.
    File(&'c File),
    /// A pipe, a terminal, a device: whatever can only be read from its start to its end.
    Stream(&'c mut dyn Read),
    /// Bytes in memory, such as a mapped file that is sent again.
    Memory(&'c [u8]),
    /// Blocks of bytes in memory, each with its offset in the file, in the order in which they are
    /// sent.
    Blocks(&'c mut dyn Iterator<Item = (u64, &'c [u8])>),
    /// Blocks of a file of one length, read at these offsets in this order.
    Scattered {
        /// The file.
        file: &'c File,
        /// Length of each block in bytes, at most 256 KiB.
        block: usize,
        /// Where they begin.
        offsets: &'c mut dyn Iterator<Item = u64>,
    },
    /// Zeros: so many that never were in a file.
    Zeros(u64),
}

/// Reads until the buffer is full or the stream ends.
pub(super) fn read_full(stream: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
