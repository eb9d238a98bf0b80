//! The exclusive or over all 32-bit words of a file.

use crate::lane::Lane;
use crate::read::{read, read_stream};
use crate::{Error, Method, Result, Source, Watch};
use platform::clock::now_ns;
use std::thread;

/// How a file is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumOptions {
    /// How blocks are read.
    pub method: Method,
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Threads that take blocks in turn.
    pub threads: usize,
}

/// The exclusive or of the little-endian 32-bit words of a file, the last one filled up with zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Xor(pub u32);

impl Xor {
    /// Takes in a block from anywhere in the file; the order does not matter.
    #[inline]
    pub fn take(&mut self, offset: u64, block: &[u8]) {
        self.take_words(offset, kernels::xor_words(block));
    }

    /// Takes in a block whose own words sum up to `words`.
    #[inline]
    pub(crate) fn take_words(&mut self, offset: u64, words: u32) {
        // A block that does not begin with a word has its bytes in other places of the file's words.
        self.0 ^= words.rotate_left(8 * (offset % 4) as u32);
    }
}

/// What a file sums up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The sum.
    pub xor: Xor,
    /// Bytes that are in it: the size of the file.
    pub bytes: u64,
}

/// Sums a whole file. One without offsets is read from start to end by one thread, whatever the
/// options say.
///
/// # Errors
/// If it cannot be read, or changes meanwhile.
pub fn sum(source: &Source, options: &SumOptions, watch: &Watch<'_>) -> Result<Sum> {
    let Some(len) = source.size() else {
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

/// Sums what comes, whatever it is.
pub(crate) fn sum_stream(source: &Source, block_bytes: usize, watch: &Watch<'_>) -> Result<Sum> {
    let mut xor = Xor::default();
    let bytes = read_stream(source, block_bytes, watch, |at, block| xor.take(at, block))?;
    source.ensure_unchanged()?;
    Ok(Sum { xor, bytes })
}

/// What a part of a file sums up to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    pub xor: Xor,
    /// How long the thread took that took longest, from its first block on: what starting threads
    /// costs is not in it.
    pub busy_ns: u64,
}

/// Sums the blocks of a lane, `threads` taking them in turn. Fails if one of them cannot be started.
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
        read(source, method, lane, watch, |at, block| xor.take(at, block))?;
        let busy_ns = now_ns().saturating_sub(begin_ns);
        Ok(Part { xor, busy_ns })
    };
    if threads <= 1 {
        return one(lane);
    }
    thread::scope(|scope| {
        let one = &one;
        let mut outcome = Ok(());
        let mut running = Vec::with_capacity(threads);
        for lane in lane.split(threads) {
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
