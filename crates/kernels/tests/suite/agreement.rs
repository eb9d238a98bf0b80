//! Every instruction set gives the results of the definition.

use oscope_kernels::{COPY_METHODS, InstructionSet};
use proptest::prelude::*;

/// Longer than two iterations of the widest loop (512 bytes), so that loop, single registers and
/// tail all run.
const LONGEST: usize = 1500;
/// More than any register's width, so that every alignment occurs.
const OFFSETS: usize = 65;

/// The definition, byte by byte.
fn expected_sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .zip((0..8).cycle())
        .fold(0, |sum, (byte, place)| {
            sum ^ u64::from(*byte) << (8 * place)
        })
}

/// The definition, byte by byte.
fn expected_fill(len: usize, word: u64) -> Vec<u8> {
    word.to_le_bytes().into_iter().cycle().take(len).collect()
}

proptest! {
    #[test]
    fn reading_gives_the_same_sum_at_any_length_and_alignment(
        bytes in prop::collection::vec(any::<u8>(), 0..LONGEST + OFFSETS),
        offset in 0..OFFSETS,
    ) {
        let block = &bytes[offset.min(bytes.len())..];
        for set in InstructionSet::available() {
            prop_assert_eq!(set.read(block), expected_sum(block), "{}", set.name);
        }
    }

    #[test]
    fn writing_fills_the_block_and_nothing_else(
        len in 0..LONGEST,
        offset in 0..OFFSETS,
        word: u64,
    ) {
        for set in InstructionSet::available() {
            let mut bytes = vec![0xA5; offset + len + OFFSETS];
            set.write(&mut bytes[offset..offset + len], word);
            prop_assert!(bytes[..offset].iter().all(|byte| *byte == 0xA5), "{}", set.name);
            prop_assert_eq!(&bytes[offset..offset + len], expected_fill(len, word), "{}", set.name);
            prop_assert!(bytes[offset + len..].iter().all(|byte| *byte == 0xA5), "{}", set.name);
        }
    }
}

proptest! {
    #[test]
    fn every_way_of_copying_copies_the_block_and_nothing_else(
        source in prop::collection::vec(any::<u8>(), 0..LONGEST),
        offset in 0..OFFSETS,
    ) {
        for (method, copy) in COPY_METHODS {
            let mut target = vec![0xA5; offset + source.len() + OFFSETS];
            copy(&mut target[offset..offset + source.len()], &source);
            prop_assert!(target[..offset].iter().all(|byte| *byte == 0xA5), "{method}");
            prop_assert_eq!(&target[offset..offset + source.len()], &source[..], "{}", method);
            prop_assert!(target[offset + source.len()..].iter().all(|byte| *byte == 0xA5));
        }
    }
}

#[test]
fn words_of_four_bytes_are_summed_apart() {
    assert_eq!(oscope_kernels::xor_words(&[]), 0);
    for len in 0..70_u8 {
        let bytes: Vec<u8> = (0..len).map(|index| index.wrapping_mul(151)).collect();
        let expected = bytes.chunks(4).fold(0, |sum, word| {
            let mut padded = [0; 4];
            padded[..word.len()].copy_from_slice(word);
            sum ^ u32::from_le_bytes(padded)
        });
        assert_eq!(oscope_kernels::xor_words(&bytes), expected, "{len}");
    }
}

#[test]
fn the_face_uses_the_best_set() {
    let mut bytes = [1; 100];
    oscope_kernels::write(&mut bytes, 0x0807_0605_0403_0201);
    assert_eq!(bytes[96..], [1, 2, 3, 4]);
    assert_eq!(oscope_kernels::read(&bytes), expected_sum(&bytes));
    let first = InstructionSet::available()
        .next()
        .expect("portable at least");
    assert_eq!(InstructionSet::best().name, first.name);
}
