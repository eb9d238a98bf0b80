//! Loops in plain Rust, for any processor and for what is left over from the vector loops.

use crate::InstructionSet;

/// Words that one turn of the loop takes.
const UNROLLED: usize = 8;

pub(crate) fn loops() -> InstructionSet {
    InstructionSet {
        name: "portable",
        read,
        write,
    }
}

#[inline(never)]
pub(crate) fn read(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let (groups, singles) = words.as_chunks::<UNROLLED>();
    let mut sums = [0; UNROLLED];
    for group in groups {
        for (sum, word) in sums.iter_mut().zip(group) {
            *sum ^= u64::from_le_bytes(*word);
        }
    }
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    let rest = singles
        .iter()
        .chain([&last])
        .map(|word| u64::from_le_bytes(*word));
    sums.into_iter().chain(rest).fold(0, |sum, word| sum ^ word)
}

#[inline(never)]
pub(crate) fn write(bytes: &mut [u8], word: u64) {
    let pattern = word.to_le_bytes();
    let (words, tail) = bytes.as_chunks_mut::<8>();
    words.fill(pattern);
    tail.copy_from_slice(&pattern[..tail.len()]);
}
