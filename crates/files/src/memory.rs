//! The memory that the buffers of an operation may take.

use crate::{Error, Result};
use instrument::quantity::Bytes;
use platform::memory::available_bytes;

/// Buffers may take one part in this many of the memory that is available.
const SHARE: u64 = 8;
/// As much as this program takes for itself. Buffers may take this in any case, so that small blocks
/// need no look at the machine's memory.
const ALWAYS_FITS_BYTES: u64 = 8 << 20;
/// Larger blocks exceed what one address range can hold.
const MOST_BYTES: usize = isize::MAX as usize / 2;

/// Rejects block sizes that no memory can hold.
pub(crate) fn ensure_sane(block_bytes: usize) -> Result<()> {
    match block_bytes {
        0 => Err(Error::EmptyBlock),
        huge if huge > MOST_BYTES => Err(Error::HugeBlock(Bytes(huge as u64))),
        _ => Ok(()),
    }
}

/// Checks that up to `most_buffers` buffers for blocks of `block_bytes` fit into memory. An operation
/// on `len` bytes needs no more buffers than there are blocks, and no buffer longer than `len`.
///
/// # Errors
/// [`Error::NoRoom`] with the largest block that fits.
pub(crate) fn ensure_fits(block_bytes: usize, len: Option<u64>, most_buffers: u64) -> Result<()> {
    fits(block_bytes, len, most_buffers, available_bytes)
}

fn fits(
    block_bytes: usize,
    len: Option<u64>,
    most_buffers: u64,
    available_bytes: impl Fn() -> Option<u64>,
) -> Result<()> {
    ensure_sane(block_bytes)?;
    let block = block_bytes as u64;
    let buffers = len.map_or(most_buffers, |len| most_buffers.min(len.div_ceil(block)));
    let each = len.map_or(block, |len| block.min(len));
    let wanted = each.saturating_mul(buffers);
    if wanted <= ALWAYS_FITS_BYTES {
        return Ok(());
    }
    let Some(available) = available_bytes() else {
        return Ok(());
    };
    let most = (available / SHARE).max(ALWAYS_FITS_BYTES);
    if wanted <= most {
        return Ok(());
    }
    Err(Error::NoRoom {
        block: Bytes(block),
        most: Bytes(round_down(most / buffers)),
    })
}

/// A round size, which suits direct transfers too.
fn round_down(bytes: u64) -> u64 {
    const UNITS: [u64; 2] = [1 << 20, 4096];
    let unit = UNITS.into_iter().find(|unit| *unit <= bytes);
    unit.map_or(bytes, |unit| bytes / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::{ensure_fits, fits};
    use crate::Error;

    const MIB: u64 = 1 << 20;

    /// The largest block that the refusal names; `None` if the blocks fit.
    fn most(block: u64, len: Option<u64>, buffers: u64, available: Option<u64>) -> Option<u64> {
        match fits(block as usize, len, buffers, || available) {
            Ok(()) => None,
            Err(Error::NoRoom { most, .. }) => Some(most.0),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn buffers_take_an_eighth_of_memory_and_no_more_than_the_file() {
        let memory = Some(1024 * MIB);
        let tib = 1 << 40;
        for (block, len, buffers, expected) in [
            (128 * MIB, None, 1, None),
            (128 * MIB + 1, None, 1, Some(128 * MIB)),
            (tib, None, 1, Some(128 * MIB)),
            // No longer than the file,
            (tib, Some(5), 8, None),
            (tib, Some(128 * MIB), 8, None),
            (tib, Some(128 * MIB + 1), 8, Some(128 * MIB)),
            // and no more of them than it has blocks.
            (16 * MIB, Some(tib), 8, None),
            (17 * MIB, Some(tib), 8, Some(16 * MIB)),
            (17 * MIB, Some(100 * MIB), 8, None),
            (MIB, Some(tib), 1024, Some(MIB / 8)),
            (MIB, Some(tib), 0, None),
            (tib, Some(0), 1, None),
        ] {
            assert_eq!(
                most(block, len, buffers, memory),
                expected,
                "{buffers} of {block} for {len:?}"
            );
        }
        assert_eq!(most(tib, None, u64::MAX, None), None);
        // Little memory leaves room for small blocks.
        assert_eq!(most(8 * MIB, None, 1, Some(0)), None);
        assert_eq!(most(9 * MIB, None, 1, Some(0)), Some(8 * MIB));
    }

    #[test]
    fn sizes_beyond_what_memory_can_address_are_refused() {
        for (block, len) in [
            (usize::MAX, None),
            (usize::MAX, Some(5)),
            (usize::MAX / 2, None),
        ] {
            ensure_fits(block, len, u64::MAX).unwrap_err();
        }
        assert!(matches!(ensure_fits(0, None, 1), Err(Error::EmptyBlock)));
    }
}
