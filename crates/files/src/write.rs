//! Writes a file of pseudo-random bytes.

use crate::partial::Partial;
use crate::read::buffer;
use crate::sum::{Sum, Xor};
use crate::{Error, Result, Watch};
use instrument::quantity::Bytes;
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
    /// Number of blocks.
    pub count: u64,
    /// Selects the event for which each write waits.
    pub mode: OpenMode,
    /// True if an existing file may be overwritten.
    pub force: bool,
    /// Seed of the pseudo-random bytes.
    pub seed: u64,
}

/// Writes `count` blocks of pseudo-random bytes to `path`, one `write` each, and returns their sum.
/// The bytes are generated once, so that their generation takes no time. Each block differs by its
/// index, so that no file system can deduplicate them.
///
/// # Errors
/// If the file exists and may not be overwritten, or the system refuses. No part of it is left
/// then.
pub fn write(path: &Path, options: &WriteOptions, watch: &Watch<'_>) -> Result<Sum> {
    let mut buffer = buffer(options.block_bytes)?;
    let block = buffer.as_mut_slice();
    fill(block, options.seed);
    let partial = Partial::begin(path, options.mode, options.force, None, watch)?;
    if options.mode == OpenMode::Direct {
        ensure_aligned(path, &partial, options.block_bytes as u64)?;
    }
    let len = block.len() as u64;
    let mut sum = Sum::default();
    for number in 0..options.count {
        stamp(block, number);
        partial.write_all(block, watch)?;
        sum.bytes += len;
        watch.pass(len)?;
    }
    partial.finish()?;
    sum.xor = expected(block, options.count);
    Ok(sum)
}

/// The sum of `count` blocks that differ by their stamps alone, computed without summing each
/// block.
fn expected(block: &mut [u8], count: u64) -> Xor {
    stamp(block, 0);
    let of_first_block = kernels::xor_words(block);
    let is_stamped = block.len() >= STAMP_BYTES;
    let mut xor = Xor::default();
    let mut offset = 0;
    for number in 0..count {
        let words = if is_stamped {
            let differs = scattered(0) ^ scattered(number);
            of_first_block ^ differs as u32 ^ (differs >> 32) as u32
        } else {
            of_first_block
        };
        xor.take_words(offset, words);
        offset += block.len() as u64;
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

/// Maps an index to a number whose exclusive or over the first few indices is not 0, as it is over
/// 0, 1, 2 and 3.
fn scattered(number: u64) -> u64 {
    let product = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 29)
}

fn ensure_aligned(path: &Path, partial: &Partial, block_bytes: u64) -> Result<()> {
    let told = direct_alignment(partial.file()).map_err(Error::on(path))?;
    let sector = told.map_or(512, |alignment| u64::from(alignment.offset_bytes));
    if block_bytes.is_multiple_of(sector) {
        return Ok(());
    }
    Err(Error::Misaligned {
        path: path.to_owned(),
        block: Bytes(block_bytes),
        sector: Bytes(sector),
        suggested: Bytes(block_bytes.next_multiple_of(sector)),
    })
}

#[cfg(test)]
mod tests {
    use super::{WriteOptions, write};
    use crate::sum::SumOptions;
    use crate::{Method, Source, Watch, sum};
    use platform::file::OpenMode;

    #[test]
    fn what_was_written_sums_up_to_what_is_told() {
        let dir = tempfile::tempdir().unwrap();
        for (block_bytes, count) in [(1, 7), (7, 5), (8, 4), (1000, 64), (1003, 33), (4096, 0)] {
            let path = dir.path().join(format!("{block_bytes}"));
            let options = WriteOptions {
                block_bytes,
                count,
                mode: OpenMode::Plain,
                force: false,
                seed: 5,
            };
            let told = write(&path, &options, &Watch::default()).unwrap();
            assert_eq!(told.bytes, block_bytes as u64 * count);
            let options = SumOptions {
                method: Method::Pread,
                block_bytes: 512,
                threads: 1,
            };
            let source = Source::open(&path).unwrap();
            let found = sum(&source, &options, &Watch::default()).unwrap();
            assert_eq!(found, told, "{block_bytes} × {count}");
            assert!(count == 0 || found.xor.0 != 0);
        }
    }
}
