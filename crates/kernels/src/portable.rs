//! Loops in plain Rust, for any processor and for the tails of the vector loops.

use crate::instruction_set::InstructionSet;

/// Words per iteration. The iteration is unrolled by hand, since the compiler does not always
/// unroll an inner loop.
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
    for [a, b, c, d, e, f, g, h] in groups {
        sums[0] ^= u64::from_le_bytes(*a);
        sums[1] ^= u64::from_le_bytes(*b);
        sums[2] ^= u64::from_le_bytes(*c);
        sums[3] ^= u64::from_le_bytes(*d);
        sums[4] ^= u64::from_le_bytes(*e);
        sums[5] ^= u64::from_le_bytes(*f);
        sums[6] ^= u64::from_le_bytes(*g);
        sums[7] ^= u64::from_le_bytes(*h);
    }
    for word in singles {
        sums[0] ^= u64::from_le_bytes(*word);
    }
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    let sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7];
    sum ^ u64::from_le_bytes(last)
}

#[inline(never)]
pub(crate) fn write(bytes: &mut [u8], word: u64) {
    let pattern = word.to_le_bytes();
    let (words, tail) = bytes.as_chunks_mut::<8>();
    let (groups, singles) = words.as_chunks_mut::<UNROLLED>();
    for group in groups {
        *group = [pattern; UNROLLED];
    }
    for single in singles {
        *single = pattern;
    }
    tail.copy_from_slice(&pattern[..tail.len()]);
}
