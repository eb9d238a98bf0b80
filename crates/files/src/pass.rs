//! One pass over a file or its beginning, summed.

use crate::lane::Lane;
use crate::read::{read, read_stream_up_to};
use crate::sum::{Sum, Xor};
use crate::{Error, Method, Result, Source, Watch};
use instrument::quantity::Bytes;

/// How a file is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassOptions {
    /// How blocks are read.
    pub method: Method,
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Blocks to read; all if `None`.
    pub count: Option<u64>,
}

/// Goes through a file, or as many blocks of it as asked for, by one thread, and sums what it reads.
///
/// # Errors
/// [`Error::TooShort`] if there are not so many bytes; as [`read()`].
pub fn pass(source: &Source, options: &PassOptions, watch: &Watch<'_>) -> Result<Sum> {
    let wanted = options
        .count
        .map(|count| count.saturating_mul(options.block_bytes as u64));
    let mut xor = Xor::default();
    let bytes = match source.size() {
        Some(size) => {
            let end = wanted.map_or(size, |wanted| wanted.min(size));
            let lane = Lane::whole(0, end, options.block_bytes);
            read(source, options.method, &lane, watch, |at, block| {
                xor.take(at, block);
            })?;
            end
        }
        None if options.method == Method::Read => {
            let limit = wanted.unwrap_or(u64::MAX);
            read_stream_up_to(source, options.block_bytes, limit, watch, |at, block| {
                xor.take(at, block);
            })?
        }
        None => return Err(Error::NoOffsets(source.path().to_owned())),
    };
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
    Ok(Sum { xor, bytes })
}
