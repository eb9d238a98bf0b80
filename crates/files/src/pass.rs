//! One timed pass over a file or its first blocks, with its sum.

use crate::lane::Lane;
use crate::memory::ensure_fits;
use crate::read::{buffer_for, buffers, read_into, read_stream_into, stream_buffer};
use crate::sum::{Sum, Xor};
use crate::{Error, Method, Result, Source, Watch};
use instrument::quantity::Bytes;
use platform::clock::{now_ns, process_cpu_ns};

/// Options of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassOptions {
    /// Read method.
    pub method: Method,
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Number of blocks to read; all if `None`.
    pub count: Option<u64>,
}

impl PassOptions {
    /// Checks that the buffers of a pass over `source` fit into memory.
    ///
    /// # Errors
    /// If they do not, or the block size makes no sense.
    pub fn check(&self, source: &Source) -> Result<()> {
        let len = source.size().into_iter().chain(self.wanted()).min();
        ensure_fits(self.block_bytes, len, buffers(self.method))
    }

    fn wanted(&self) -> Option<u64> {
        let count = self.count?;
        Some(count.saturating_mul(self.block_bytes as u64))
    }
}

/// Reads a file, or `count` blocks of it, with one thread, and sums the bytes. The buffer's pages
/// are allocated before the timing starts.
///
/// # Errors
/// [`Error::TooShort`] if the file is too short; as for any reading.
pub fn pass(source: &Source, options: &PassOptions, watch: &Watch<'_>) -> Result<Timed<Sum>> {
    let wanted = options.wanted();
    let mut xor = Xor::default();
    let size = match source.size_from_start() {
        None if options.method != Method::Read => Some(source.required_size()?),
        size => size,
    };
    let timed = if let Some(size) = size {
        let end = wanted.map_or(size, |wanted| wanted.min(size));
        let lane = Lane::whole(0, end, options.block_bytes);
        let mut buffer = buffer_for(options.method, &lane)?;
        timed(|| {
            let take = xor.taker();
            read_into(&mut buffer, source, options.method, &lane, watch, take)?;
            Ok(end)
        })?
    } else {
        let limit = wanted.unwrap_or(u64::MAX);
        let mut buffer = stream_buffer(options.block_bytes, wanted)?;
        timed(|| {
            let take = xor.taker();
            read_stream_into(&mut buffer, source, limit, watch, take)
        })?
    };
    let bytes = timed.value;
    if let Some(wanted) = wanted
        && bytes < wanted
    {
        return Err(Error::TooShort {
            path: source.path().to_owned(),
            wanted: Bytes(wanted),
            found: Bytes(bytes),
        });
    }
    source.ensure_unchanged()?;
    Ok(Timed {
        value: Sum { xor, bytes },
        wall_ns: timed.wall_ns,
        cpu_ns: timed.cpu_ns,
    })
}

/// The outcome and the times of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed<T> {
    /// The outcome.
    pub value: T,
    /// Wall time in ns.
    pub wall_ns: u64,
    /// CPU time of all threads of this process in ns. With two busy threads it grows twice as fast
    /// as the wall time.
    pub cpu_ns: u64,
}

/// Runs `work` and measures its time.
pub fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<Timed<T>> {
    let cpu_before_ns = process_cpu_ns()?;
    let begin_ns = now_ns();
    let value = work()?;
    let wall_ns = now_ns().saturating_sub(begin_ns);
    let cpu_ns = process_cpu_ns()?.saturating_sub(cpu_before_ns);
    Ok(Timed {
        value,
        wall_ns,
        cpu_ns,
    })
}
