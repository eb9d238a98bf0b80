//! Where the bytes of a file come from.

use std::fs::File;

/// Where the bytes of a file come from.
pub enum Contents<'c> {
    /// A regular file.
    File(&'c File),
    /// A pipe, a terminal, a device: whatever can only be read from its start to its end.
    Stream(&'c File),
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
