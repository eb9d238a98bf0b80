//! Digests of ranges of a file, with which both sides determine how much of it they have in common.
//!
//! The digest of a range is the root of a binary tree over pieces of 1 MiB. Each node is hashed with the
//! number of bytes below it, so that ranges of different length or content never hash the same input.
//! Bytes in a hole count as zeros. A range that consists of one hole is not read, because its digest
//! follows from its length. So hashing a sparse file takes only the time of its data:
//!
//! ```text
//!                    node(4 MiB)
//!              ┌─────────┴─────────┐
//!         node(2 MiB)         zeros(2 MiB)     a hole: not read
//!          ┌───┴────┐
//!      piece 0   piece 1
//! ```

use crate::error::{Error, Result};
use crate::method::block_memory;
use crate::protocol::{DIGEST_BYTES, Partial};
use platform::block_io::read_at;
use platform::file::next_data;
use platform::memory::Mapping;
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) type Digest = [u8; DIGEST_BYTES];

/// Length of a piece in bytes.
const PIECE: u64 = 1 << 20;
/// Prefix of the hashed bytes, one per type of node, so that a piece and an inner node never hash
/// the same bytes.
const IS_PIECE: u8 = 0;
const IS_NODE: u8 = 1;

/// Hashes ranges of a file.
pub(crate) struct Hashing<'f> {
    file: &'f File,
    stop: &'f AtomicBool,
    buffer: Mapping,
    /// Digests of ranges of zeros, by their length.
    zeros: HashMap<u64, Digest>,
}

impl<'f> Hashing<'f> {
    /// Hashes `file` until `stop` becomes true.
    pub(crate) fn new(file: &'f File, stop: &'f AtomicBool) -> Result<Self> {
        Ok(Self {
            file,
            stop,
            buffer: block_memory()?,
            zeros: HashMap::new(),
        })
    }

    /// Describes what exists of the first `len` bytes of the file.
    pub(crate) fn of_start(&mut self, len: u64) -> Result<Partial> {
        let step = len
            .div_ceil(Partial::MOST_RANGES)
            .max(PIECE)
            .checked_next_power_of_two()
            .unwrap_or(1 << 63);
        let digests = ranges(len, step).map(|range| self.digest(range));
        Ok(Partial {
            is_complete: false,
            len,
            step,
            digests: digests.collect::<Result<_>>()?,
        })
    }

    /// The number of bytes from the start of the file that agree with `there`.
    pub(crate) fn in_common(&mut self, there: &Partial) -> Result<u64> {
        let len = self.file.metadata().map_err(cannot_hash)?.len();
        let mut common = 0;
        for (range, digest) in ranges(there.len, there.step).zip(&there.digests) {
            if range.end > len || self.digest(range.clone())? != *digest {
                break;
            }
            common = range.end;
        }
        Ok(common)
    }

    /// The digest of a nonempty range.
    fn digest(&mut self, range: Range<u64>) -> Result<Digest> {
        let len = range.end - range.start;
        let data = next_data(self.file, range.start, range.end).map_err(cannot_hash)?;
        if data.is_none() {
            return Ok(self.of_zeros(len));
        }
        if len <= PIECE {
            return self.piece(range);
        }
        let middle = range.start + left(len);
        let left = self.digest(range.start..middle)?;
        let right = self.digest(middle..range.end)?;
        Ok(node(len, &left, &right))
    }

    fn piece(&mut self, range: Range<u64>) -> Result<Digest> {
        if self.stop.load(Ordering::Acquire) {
            return Err(Error::Interrupted);
        }
        let mut hasher = hasher(IS_PIECE, range.end - range.start);
        let mut offset = range.start;
        while offset < range.end {
            let buffer = self.buffer.as_mut_slice();
            let wanted = (range.end - offset).min(buffer.len() as u64) as usize;
            let count = read_at(self.file, &mut buffer[..wanted], offset);
            match count? {
                0 => return Err(cannot_hash(std::io::ErrorKind::UnexpectedEof.into())),
                count => {
                    hasher.update(&buffer[..count]);
                    offset += count as u64;
                }
            }
        }
        Ok(*hasher.finalize().as_bytes())
    }

    fn of_zeros(&mut self, len: u64) -> Digest {
        if let Some(digest) = self.zeros.get(&len) {
            return *digest;
        }
        let digest = if len <= PIECE {
            let mut hasher = hasher(IS_PIECE, len);
            hasher.update(&vec![0; len as usize]);
            *hasher.finalize().as_bytes()
        } else {
            let (left, right) = (left(len), len - left(len));
            node(len, &self.of_zeros(left), &self.of_zeros(right))
        };
        self.zeros.insert(len, digest);
        digest
    }
}

/// Length of the left child of a range longer than a piece: the largest power of two that leaves
/// something for the right child.
fn left(len: u64) -> u64 {
    1 << (len - 1).ilog2()
}

fn node(len: u64, left: &Digest, right: &Digest) -> Digest {
    let mut hasher = hasher(IS_NODE, len);
    hasher.update(left);
    hasher.update(right);
    *hasher.finalize().as_bytes()
}

fn hasher(kind: u8, len: u64) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[kind]);
    hasher.update(&len.to_le_bytes());
    hasher
}

/// The first `len` bytes, in ranges of `step`.
fn ranges(len: u64, step: u64) -> impl Iterator<Item = Range<u64>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = start + step.min(len - start);
        let range = start..end;
        start = end;
        (range.start < range.end).then_some(range)
    })
}

fn cannot_hash(reason: std::io::Error) -> Error {
    Error::system("read what there is of a file")(reason)
}

#[cfg(test)]
mod tests {
    use super::{Hashing, PIECE};
    use crate::protocol::Partial;
    use platform::block_io::write_at;
    use proptest::prelude::*;
    use std::fs::File;
    use std::sync::atomic::AtomicBool;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn file(len: u64, data: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(len).unwrap();
        for (offset, bytes) in data {
            write_at(&file, bytes, *offset).unwrap();
        }
        file
    }

    fn of_start(file: &File, len: u64) -> Partial {
        Hashing::new(file, &GO_ON).unwrap().of_start(len).unwrap()
    }

    fn in_common(file: &File, there: &Partial) -> u64 {
        Hashing::new(file, &GO_ON)
            .unwrap()
            .in_common(there)
            .unwrap()
    }

    #[test]
    fn what_agrees_is_found_up_to_the_first_difference() {
        let len = 200 * PIECE + 5;
        let (one, other) = (file(len, &[]), file(len, &[(100 * PIECE, b"x")]));
        let there = of_start(&one, len);
        assert_eq!((there.step, there.digests.len()), (4 * PIECE, 51));
        assert_eq!(in_common(&other, &there), 100 * PIECE);
        // A file shorter than `there` agrees with it only in whole ranges.
        assert_eq!(in_common(&file(9 * PIECE, &[]), &there), 8 * PIECE);
        assert_eq!(in_common(&one, &of_start(&one, 0)), 0);
        assert_eq!(in_common(&one, &of_start(&one, 1)), 1);
    }

    #[test]
    fn hashing_ends_when_asked_to_stop() {
        let stop = AtomicBool::new(true);
        let file = file(PIECE, &[(0, b"x")]);
        let mut hashing = Hashing::new(&file, &stop).unwrap();
        assert!(matches!(
            hashing.of_start(PIECE),
            Err(crate::Error::Interrupted)
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn files_share_a_digest_only_if_they_are_the_same(
            len in 1..3 * PIECE, other_len in 1..3 * PIECE, at in 0..3 * PIECE, value: u8,
        ) {
            let at = at % len;
            let (one, other) = (file(len, &[]), file(len, &[(at, &[value])]));
            prop_assert_eq!(of_start(&one, len) == of_start(&other, len), value == 0);
            let longer = file(other_len, &[]);
            let is_same = of_start(&one, len).digests == of_start(&longer, other_len).digests;
            prop_assert_eq!(is_same, len == other_len);
        }
    }
}
