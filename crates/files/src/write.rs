//! Writing a file of pseudo-random bytes.

use crate::partial::Partial;
use crate::read::buffer;
use crate::sum::{Sum, Xor};
use crate::{Error, Result, Watch};
use instrument::quantity::Bytes;
use instrument::statistics::random::Random;
use platform::block_io::direct_alignment;
use platform::file::OpenMode;
use std::io::Write;
use std::path::Path;

/// Bytes of a block that hold its number.
const STAMP_BYTES: usize = 8;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Number of blocks.
    pub count: u64,
    /// What writes wait for.
    pub mode: OpenMode,
    /// Whether a file that is there may be written over.
    pub force: bool,
    /// Decides the bytes.
    pub seed: u64,
}

/// Writes `count` blocks of pseudo-random bytes to `path`, one `write` each, and returns what they
/// sum up to. The bytes are drawn once, and each block differs from the others by its number, so that
/// drawing them takes no time and no file system can store them once.
///
/// # Errors
/// If the file is there and not to be written over, or the system refuses; then no part of it is
/// left.
pub fn write(path: &Path, options: &WriteOptions, watch: &Watch<'_>) -> Result<Sum> {
    let mut buffer = buffer(options.block_bytes)?;
    let block = buffer.as_mut_slice();
    fill(block, options.seed);
    let partial = Partial::begin(path, options.mode, options.force)?;
    if options.mode == OpenMode::Direct {
        ensure_aligned(path, &partial, options.block_bytes as u64)?;
    }
    let len = block.len() as u64;
    let mut sum = Sum::default();
    for number in 0..options.count {
        stamp(block, number);
        let written = partial.file().write_all(block);
        written.map_err(Error::io(path, "write a file"))?;
        sum.bytes += len;
        watch.pass(len)?;
    }
    partial.finish()?;
    sum.xor = expected(block, options.count);
    Ok(sum)
}

/// What so many blocks sum up to that differ by their stamps alone: summing each would take time.
fn expected(block: &mut [u8], count: u64) -> Xor {
    stamp(block, 0);
    let without_stamp = kernels::xor_words(block);
    let is_stamped = block.len() >= STAMP_BYTES;
    let mut xor = Xor::default();
    let mut offset = 0;
    for number in 0..count {
        let stamp = if is_stamped { number } else { 0 };
        let words = without_stamp ^ stamp as u32 ^ (stamp >> 32) as u32;
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

/// Sets a block apart from others that were filled like it.
pub fn stamp(block: &mut [u8], number: u64) {
    if let Some(place) = block.first_chunk_mut::<STAMP_BYTES>() {
        *place = number.to_le_bytes();
    }
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
