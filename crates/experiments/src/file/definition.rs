//! Axes, metrics and needs that several experiments of the group share.

use crate::estimates::ratios;
use crate::prelude::*;

pub(super) const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
pub(super) const CHUNK_SIZE: AxisOf<Bytes> = AxisOf::new("chunk_size", "chunk size");
pub(super) const FILE_SIZE: AxisOf<Bytes> = AxisOf::new("file_size", "file size");

/// Two loads of 64 bytes a cycle at 8 GHz, which no core does: no copy is faster.
pub(super) const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

/// Bytes of a pass over its wall time, by one thread.
pub(super) const THROUGHPUT: Metric<&str> =
    Metric::bandwidth("throughput", "throughput").bounded(MOST_BYTES_PER_SECOND);
/// The same from short pieces of the file, in large pages of the page cache.
pub(super) const THROUGHPUT_OF_PIECES: Metric<&str> = THROUGHPUT.in_version(2);

/// Room for scratch files of `bytes` in all, on the disk and in the page cache.
pub(super) fn room(bytes: u64) -> Vec<Need> {
    vec![Need::Space(Bytes(bytes)), Need::Memory(Bytes(bytes))]
}

/// Refuses a file whose last block would be cut: its bytes would be counted wrong.
pub(super) fn whole_blocks(file_size: u64, block_size: u64) -> Result<(), MeasureError> {
    if block_size > 0 && file_size > 0 && file_size.is_multiple_of(block_size) {
        return Ok(());
    }
    Err(MeasureError::Unsupported(format!(
        "a file of {} is not a whole number of blocks of {}",
        Bytes(file_size),
        Bytes(block_size)
    )))
}

/// One curve over the other at the smallest and at the largest size of `usual`, one of the two; `None`
/// unless both have them.
pub(super) fn ratios_at_ends(
    one: &[(Bytes, &Estimate)],
    other: &[(Bytes, &Estimate)],
    usual: &[(Bytes, &Estimate)],
) -> Option<[(Bytes, Quantity); 2]> {
    let ratios = ratios(one, other);
    let at = |size| {
        ratios
            .iter()
            .find(|(measured, _)| *measured == size)
            .copied()
    };
    Some([at(usual.first()?.0)?, at(usual.last()?.0)?])
}

/// For `map_err`: an error of the crate `files` as one of a measurement.
pub(super) fn not_done(error: files::Error) -> MeasureError {
    match error {
        files::Error::StaysCold { .. } | files::Error::Changed { .. } => {
            MeasureError::Disturbed(error.to_string())
        }
        other => MeasureError::Unsupported(other.to_string()),
    }
}
