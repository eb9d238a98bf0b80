//! Writes a file of pseudo-random bytes.

use crate::lane::Lane;
use crate::partial::Partial;
use crate::read::stream_buffer;
use crate::sum::{Sum, Xor};
use crate::{Error, Result, Watch};
use instrument::statistics::random::Random;
use platform::block_io::direct_alignment;
use platform::file::OpenMode;
use std::path::Path;

/// Bytes of a block that hold its index.
const STAMP_BYTES: usize = 8;

/// Options of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Bytes in all; the last block may be shorter.
    pub bytes: u64,
    /// Selects the event for which each write waits.
    pub mode: OpenMode,
    /// True if an existing file may be overwritten.
    pub force: bool,
    /// Seed of the pseudo-random bytes.
    pub seed: u64,
}

/// Writes blocks of pseudo-random bytes to `path`, one `write` each, and returns their sum.
/// The bytes are generated once, so that their generation takes no time. Each block differs by its
/// index, so that no file system can deduplicate them.
///
/// # Errors
/// If the file exists and may not be overwritten, the blocks need too much memory, or the system
/// refuses. No part of it is left then.
pub fn write(path: &Path, options: &WriteOptions, watch: &Watch<'_>) -> Result<Sum> {
    let mut buffer = stream_buffer(options.block_bytes, Some(options.bytes))?;
    let block = buffer.as_mut_slice();
    fill(block, options.seed);
    let partial = Partial::begin(path, options.mode, options.force, None, watch)?;
    if options.mode == OpenMode::Direct {
        ensure_aligned(path, &partial, options)?;
    }
    let mut sum = Sum::default();
    for (number, (_, len)) in (0..).zip(blocks(options)) {
        stamp(block, number);
        partial.write_all(&block[..len], watch)?;
        sum.bytes += len as u64;
        watch.pass(len as u64)?;
    }
    partial.finish()?;
    sum.xor = expected(block, options);
    Ok(sum)
}

/// Offset and length of each block.
fn blocks(options: &WriteOptions) -> impl Iterator<Item = (u64, usize)> {
    Lane::whole(0, options.bytes, options.block_bytes).blocks()
}

/// The sum of blocks that differ by their stamps alone, computed without summing each block.
fn expected(block: &mut [u8], options: &WriteOptions) -> Xor {
    stamp(block, 0);
    let of_first_block = kernels::xor_words(block);
    let is_stamped = block.len() >= STAMP_BYTES;
    let mut xor = Xor::default();
    for (number, (offset, len)) in (0..).zip(blocks(options)) {
        if len < block.len() {
            stamp(block, number);
            xor.take(offset, &block[..len]);
            continue;
        }
        let words = if is_stamped {
            let differs = scattered(0) ^ scattered(number);
            of_first_block ^ differs as u32 ^ (differs >> 32) as u32
        } else {
            of_first_block
        };
        xor.take_words(offset, words);
    }
    xor
}

/// Fills a block with pseudo-random bytes.
pub fn fill(block: &mut [u8], seed: u64) {
    let mut random = Random::new(seed);
    for word in block.chunks_mut(8) {
        word.copy_from_slice(&random.bits().to_le_bytes()[..word.len()]);
    }
}

/// Writes the index of a block into it, so that it differs from all other blocks.
pub fn stamp(block: &mut [u8], number: u64) {
    if let Some(place) = block.first_chunk_mut::<STAMP_BYTES>() {
        *place = scattered(number).to_le_bytes();
    }
}

/// Maps an index to a number. The exclusive or of the first few such numbers is not 0; without the
/// map, the indices 0 to 3 would give 0.
fn scattered(number: u64) -> u64 {
    let product = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 29)
}

fn ensure_aligned(path: &Path, partial: &Partial, options: &WriteOptions) -> Result<()> {
    let known = direct_alignment(partial.file()).map_err(Error::on(path))?;
    let sector = known.map_or(512, |alignment| u64::from(alignment.offset_bytes));
    Error::ensure_aligned(path, options.block_bytes as u64, sector)?;
    Error::ensure_aligned(path, options.bytes, sector)
}

#[cfg(test)]
mod tests {
    use super::{WriteOptions, write};
    use crate::sum::SumOptions;
    use crate::{Method, Source, Watch, sum};
    use platform::file::OpenMode;

    #[test]
    fn the_bytes_written_sum_up_to_the_reported_number() {
        let dir = tempfile::tempdir().unwrap();
        for (block_bytes, bytes) in [
            (1, 7),
            (7, 35),
            (8, 32),
            (1000, 64_000),
            (1003, 33_099),
            (4096, 0),
            // The last block is shorter.
            (8, 30),
            (1000, 64_003),
            (1003, 33_001),
            (4096, 100),
            (1 << 40, 5),
        ] {
            let path = dir.path().join(format!("{block_bytes} {bytes}"));
            let options = WriteOptions {
                block_bytes,
                bytes,
                mode: OpenMode::Plain,
                force: false,
                seed: 5,
            };
            let written = write(&path, &options, &Watch::default()).unwrap();
            assert_eq!(written.bytes, bytes);
            let options = SumOptions {
                method: Method::Pread,
                block_bytes: 512,
                threads: 1,
            };
            let source = Source::open(&path).unwrap();
            let found = sum(&source, &options, &Watch::default()).unwrap();
            assert_eq!(found, written, "{bytes} in blocks of {block_bytes}");
            assert!(bytes == 0 || found.xor.0 != 0);
        }
    }
}
