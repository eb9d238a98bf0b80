//! Sources of a file's bytes.

use std::fs::File;

/// The source of a file's bytes.
pub enum Contents<'c> {
    /// A regular file.
    File(&'c File),
    /// A pipe, a terminal or a device: anything that can only be read from start to end.
    Stream(&'c File),
    /// Bytes in memory, such as a mapped file that is sent repeatedly.
    Memory(&'c [u8]),
    /// Blocks of bytes in memory, each with its offset in the file, in sending order.
    Blocks(&'c mut dyn Iterator<Item = (u64, &'c [u8])>),
    /// Blocks of equal length from a file, read at the given offsets in the given order.
    Scattered {
        /// The file.
        file: &'c File,
        /// Length of each block in bytes, at most 256 KiB.
        block: usize,
        /// Offsets of the blocks.
        offsets: &'c mut dyn Iterator<Item = u64>,
    },
    /// This number of zero bytes, without a file.
    Zeros(u64),
}
