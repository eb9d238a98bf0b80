//! The exclusive or over all 32-bit words of a file.

use crate::lane::Lane;
use crate::memory::ensure_fits;
use crate::read::{buffers, read, read_stream};
use crate::{Error, Method, Result, Source, Watch};
use platform::clock::now_ns;
use std::thread;

/// Options of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumOptions {
    /// Read method.
    pub method: Method,
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Number of threads; they take the blocks round-robin.
    pub threads: usize,
}

/// The exclusive or of all little-endian 32-bit words of a file; the last word is padded with
/// zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Xor(pub u32);

impl Xor {
    /// Adds a block at any offset of the file, in any order.
    #[inline]
    pub fn take(&mut self, offset: u64, block: &[u8]) {
        self.take_words(offset, kernels::xor_words(block));
    }

    /// Adds each block that it is called with.
    pub(crate) fn taker(&mut self) -> impl FnMut(u64, &[u8]) -> Result<()> + '_ {
        |offset, block| {
            self.take(offset, block);
            Ok(())
        }
    }

    /// Adds a block whose own words have the exclusive or `words`.
    #[inline]
    pub(crate) fn take_words(&mut self, offset: u64, words: u32) {
        // In a block at an unaligned offset, each byte has another place within the file's words.
        self.0 ^= words.rotate_left(8 * (offset % 4) as u32);
    }
}

/// The sum of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The sum.
    pub xor: Xor,
    /// Bytes in the sum.
    pub bytes: u64,
}

/// Sums a whole file. A file without offsets is read from start to end by one thread, whatever the
/// options say.
///
/// # Errors
/// If it cannot be read, or changes during the read.
pub fn sum(source: &Source, options: &SumOptions, watch: &Watch<'_>) -> Result<Sum> {
    let Some(len) = source.size_from_start() else {
        return sum_stream(source, options.block_bytes, watch);
    };
    let lane = Lane::whole(0, len, options.block_bytes);
    let part = sum_lane(source, options.method, &lane, options.threads, watch)?;
    source.ensure_unchanged()?;
    Ok(Sum {
        xor: part.xor,
        bytes: len,
    })
}

/// Sums any file from its current position to its end.
pub(crate) fn sum_stream(source: &Source, block_bytes: usize, watch: &Watch<'_>) -> Result<Sum> {
    let mut xor = Xor::default();
    let bytes = read_stream(source, block_bytes, watch, xor.taker())?;
    source.ensure_unchanged()?;
    Ok(Sum { xor, bytes })
}

/// The sum of a part of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    pub xor: Xor,
    /// Time of the slowest thread in ns. It includes the allocation of its buffer, but not the
    /// start of the threads.
    pub busy_ns: u64,
}

/// Sums the blocks of a lane; `threads` threads take them round-robin. Fails if a thread cannot be
/// started.
pub(crate) fn sum_lane(
    source: &Source,
    method: Method,
    lane: &Lane,
    threads: usize,
    watch: &Watch<'_>,
) -> Result<Part> {
    let one = |lane: &Lane| {
        let begin_ns = now_ns();
        let mut xor = Xor::default();
        read(source, method, lane, watch, xor.taker())?;
        let busy_ns = now_ns().saturating_sub(begin_ns);
        Ok(Part { xor, busy_ns })
    };
    if threads <= 1 {
        return one(lane);
    }
    let len = lane.end.saturating_sub(lane.start);
    let most_buffers = buffers(method).saturating_mul(threads as u64);
    ensure_fits(lane.block_bytes, Some(len), most_buffers)?;
    thread::scope(|scope| {
        let one = &one;
        let mut outcome = Ok(());
        let mut running = Vec::new();
        // A thread without a block would have a buffer all the same.
        let busy = |lane: &Lane| lane.blocks().next().is_some();
        for lane in lane.split(threads).filter(busy) {
            let started = thread::Builder::new().spawn_scoped(scope, move || one(&lane));
            match started.map_err(Error::io(source.path(), "start a thread")) {
                Ok(thread) => running.push(thread),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        let mut all = Part::default();
        for thread in running {
            match thread.join().expect("reading never panics") {
                Ok(part) => {
                    all.xor.0 ^= part.xor.0;
                    all.busy_ns = all.busy_ns.max(part.busy_ns);
                }
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome.map(|()| all)
    })
}

#[cfg(test)]
mod tests {
    use super::{SumOptions, sum};
    use crate::{Method, Source, Watch};
    use std::io::{Seek, SeekFrom, Write};
    use std::path::Path;

    #[test]
    fn a_standard_input_that_was_partly_read_is_summed_from_there() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[9, 1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
        file.seek(SeekFrom::Start(1)).unwrap();
        let source = Source::of(file, Path::new("-")).unwrap();
        let options = SumOptions {
            method: Method::Pread,
            block_bytes: 4,
            threads: 1,
        };
        let sum = sum(&source, &options, &Watch::default()).unwrap();
        assert_eq!((sum.xor.0, sum.bytes), (1 ^ 2, 8));
    }
}
