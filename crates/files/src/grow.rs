//! Finds the file size whose read takes a given time.

use crate::lane::Lane;
use crate::memory::ensure_fits;
use crate::partial::Partial;
use crate::read::read;
use crate::write::{fill, stamp};
use crate::{Error, Method, Result, Source, Timed, Watch, timed};
use platform::block_io::write_at;
use platform::file::{OpenMode, reopen_read};
use std::path::Path;

/// Blocks in the first prefix.
const FIRST_BLOCKS: u64 = 1024;
/// Maximum number of prefixes: more than enough, since doubling from 1 byte reaches any file size
/// earlier.
const MOST_STEPS: usize = 100;
/// Block size for writing a scratch file, independent of the block size for reading.
const WRITE_BYTES: usize = 1 << 20;

/// Parameters of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Minimum and maximum wall time of an accepted read, in ns.
    pub wanted_ns: (u64, u64),
}

/// Finds a prefix of `source` whose read takes the requested time:
///
/// 1. Each prefix is twice as long as the previous one.
/// 2. After a prefix that takes too long, the next is halfway between the last two.
///
/// Calls `seen` with the size in bytes of each prefix, and the time of its read. Returns those of the accepted prefix,
/// or `None` if reading the whole file takes less time.
pub fn find_size(
    source: &Source,
    search: &Search,
    watch: &Watch<'_>,
    seen: impl FnMut(&Timed<u64>),
) -> Result<Option<Timed<u64>>> {
    let size = source.required_size()?;
    let read_prefix = |bytes| read_prefix(source, bytes, search.block_bytes, watch);
    let block = search.block_bytes as u64;
    let found = step_up(block, size, search.wanted_ns, read_prefix, seen)?;
    source.ensure_unchanged()?;
    Ok(found)
}

/// As [`find_size`], with a scratch file at `path` that grows before each prefix, up to
/// `limit_bytes`, and is removed at the end.
///
/// # Errors
/// As [`find_size`], and if there is no space left.
pub fn find_size_growing(
    path: &Path,
    limit_bytes: u64,
    search: &Search,
    watch: &Watch<'_>,
    seen: impl FnMut(&Timed<u64>),
) -> Result<Option<Timed<u64>>> {
    ensure_fits(search.block_bytes, Some(limit_bytes), 1)?;
    let partial = Partial::begin(path, OpenMode::Plain, false, None, watch)?;
    if !partial.is_new_file() {
        return Err(Error::InOrderOnly(path.to_owned()));
    }
    let mut block = vec![0; WRITE_BYTES];
    fill(&mut block, 1);
    let mut grown: u64 = 0;
    let grow_and_read = |bytes: u64| {
        while grown < bytes {
            let count = (bytes - grown).min(block.len() as u64) as usize;
            stamp(&mut block, grown);
            write_at(partial.file(), &block[..count], grown).map_err(Error::on(path))?;
            grown += count as u64;
            watch.pass(0)?;
        }
        // The file has no name by which it could be opened.
        let file = reopen_read(partial.file(), path, OpenMode::Plain).map_err(Error::on(path))?;
        let source = Source::of(file, path)?;
        read_prefix(&source, bytes, search.block_bytes, watch)
    };
    let size = search.block_bytes as u64;
    step_up(size, limit_bytes, search.wanted_ns, grow_and_read, seen)
}

fn read_prefix(
    source: &Source,
    bytes: u64,
    block_bytes: usize,
    watch: &Watch<'_>,
) -> Result<Timed<u64>> {
    let lane = Lane::whole(0, bytes, block_bytes);
    timed(|| {
        read(source, Method::Read, &lane, watch, |_, _| Ok(()))?;
        Ok(bytes)
    })
}

/// Tries sizes until one takes the requested time, or the largest takes less.
fn step_up(
    block: u64,
    limit_bytes: u64,
    (least_ns, most_ns): (u64, u64),
    mut read_prefix: impl FnMut(u64) -> Result<Timed<u64>>,
    mut seen: impl FnMut(&Timed<u64>),
) -> Result<Option<Timed<u64>>> {
    let mut bytes = block.saturating_mul(FIRST_BLOCKS).min(limit_bytes);
    let mut too_large = u64::MAX;
    for _ in 0..MOST_STEPS {
        let prefix = read_prefix(bytes)?;
        seen(&prefix);
        if prefix.wall_ns < least_ns {
            if bytes >= limit_bytes {
                return Ok(None);
            }
            let doubled = bytes.saturating_mul(2).min(limit_bytes);
            bytes = if doubled < too_large {
                doubled
            } else {
                between(bytes, too_large, block)
            };
        } else if prefix.wall_ns > most_ns && bytes > block {
            too_large = bytes;
            let middle_ns = least_ns.midpoint(most_ns) as f64;
            let scaled = (bytes as f64 * middle_ns / prefix.wall_ns as f64) as u64;
            bytes = (scaled / block * block).clamp(block, bytes - 1);
        } else {
            return Ok(Some(prefix));
        }
    }
    Ok(None)
}

/// The midpoint, in whole blocks.
fn between(small: u64, large: u64, block: u64) -> u64 {
    (small.midpoint(large) / block * block).max(small + 1)
}

#[cfg(test)]
mod tests {
    use super::step_up;
    use crate::Timed;

    /// A prefix of a file that takes 1 ns per byte, plus a fixed start-up cost.
    fn prefix(bytes: u64) -> Timed<u64> {
        Timed {
            value: bytes,
            wall_ns: 100 + bytes,
            cpu_ns: bytes,
        }
    }

    #[test]
    fn the_size_is_found_whatever_the_window() {
        for wanted in [(1_000_000, 3_000_000), (1_000_000, 1_010_000), (0, 50)] {
            let mut steps = 0;
            let found = step_up(
                128,
                1 << 40,
                wanted,
                |bytes| Ok(prefix(bytes)),
                |_| steps += 1,
            );
            let found = found.expect("nothing fails").expect("it is there");
            let fits = (wanted.0..=wanted.1).contains(&found.wall_ns);
            assert!(fits || found.value == 128, "{wanted:?}: {found:?}");
            assert!(steps < 30, "{steps}");
        }
    }

    #[test]
    fn a_file_that_is_too_small_has_no_such_size() {
        let found = step_up(
            128,
            1 << 10,
            (1 << 20, 1 << 21),
            |bytes| Ok(prefix(bytes)),
            |_| (),
        );
        assert_eq!(found.expect("nothing fails"), None);
    }
}
