//! Every method gives the sum of the definition, for all sizes.

use crate::if_there;
use choice::Choice;
use oscope_files::choose::{Wishes, sum_fastest};
use oscope_files::sum::{SumOptions, Xor};
use oscope_files::{Method, Source, Watch, sum};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Longer than several blocks of any generated size.
const LONGEST: usize = 300_000;

fn dir() -> TempDir {
    testing::directory_on_disk()
}

/// The definition, word by word.
fn expected(bytes: &[u8]) -> Xor {
    let words = bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    });
    Xor(words.fold(0, |sum, word| sum ^ word))
}

fn bytes(len: usize, seed: u8) -> Vec<u8> {
    (0..len)
        .map(|index| ((index * 151) >> 3) as u8 ^ seed)
        .collect()
}

/// `None` where this system has no such method.
fn summed(path: &Path, options: &SumOptions) -> Option<(Xor, u64)> {
    let source = Source::open(path).expect("it was just made");
    let sum = if_there(sum(&source, options, &Watch::default()))?;
    Some((sum.xor, sum.bytes))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn all_methods_give_the_sum_of_the_words(
        len in 0..LONGEST,
        block in prop_oneof![1..100_usize, 100..100_000_usize, Just(1_usize << 20)],
        threads in 1_usize..6,
        seed: u8,
    ) {
        // One call for each byte of a long file takes long and proves nothing more.
        let len = len.min(block * 500);
        let dir = dir();
        let path = dir.path().join("file");
        let bytes = bytes(len, seed);
        fs::write(&path, &bytes).expect("room");
        for &method in Method::ALL {
            let block_bytes = if method.is_direct() { block.next_multiple_of(4096) } else { block };
            let options = SumOptions { method, block_bytes, threads };
            if let Some(found) = summed(&path, &options) {
                prop_assert_eq!(found, (expected(&bytes), len as u64), "{:?}", options);
            }
        }
        let source = Source::open(&path).expect("it was just made");
        let (sum, _) = sum_fastest(&source, &Wishes::default(), &Watch::default()).expect("a way");
        prop_assert_eq!(sum.xor, expected(&bytes));
    }
}

#[test]
fn a_file_worth_trying_is_summed_once_whatever_was_tried() {
    let dir = dir();
    let path = dir.path().join("file");
    let mut bytes = bytes(140 << 20, 3);
    bytes.truncate((140 << 20) - 3);
    fs::write(&path, &bytes).expect("room");
    let expected = expected(&bytes);
    drop(bytes);
    let sum_it = || {
        let source = Source::open(&path).expect("it was just made");
        sum_fastest(&source, &Wishes::default(), &Watch::default()).expect("a way")
    };
    let (warm, choice) = sum_it();
    assert_eq!(warm.xor, expected);
    assert!(choice.reason.ends_with("it is in the page cache"));

    let file = fs::File::open(&path).expect("it is there");
    platform::file::evict(&file).expect("it can be asked for");
    let (cold, choice) = sum_it();
    assert_eq!(cold.xor, expected);
    println!("cold: {choice:?}");
}

#[test]
fn a_sparse_file_over_4_gib_is_summed_to_its_end() {
    let dir = dir();
    let path = dir.path().join("file");
    let file = fs::File::create(&path).expect("room");
    let len = (4_u64 << 30) + 4099;
    if let Err(error) = file.set_len(len) {
        return println!("skipped: no sparse file of that size here: {error}");
    }
    platform::block_io::write_at(&file, &[1, 2, 3], len - 3).expect("room");
    let source = Source::open(&path).expect("it was just made");
    let (sum, _) = sum_fastest(&source, &Wishes::default(), &Watch::default()).expect("a way");
    // 4 GiB + 4096 is a multiple of 4: the three bytes are the last word.
    assert_eq!((sum.xor, sum.bytes), (Xor(0x0003_0201), len));
}

#[test]
fn files_of_the_kernel_are_read_to_their_end() {
    for path in [
        "/proc/self/cmdline",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ] {
        let path = Path::new(path);
        let Ok(bytes) = fs::read(path) else {
            println!("skipped: there is no {}", path.display());
            continue;
        };
        let source = Source::open(path).expect("it is there");
        let (sum, choice) =
            sum_fastest(&source, &Wishes::default(), &Watch::default()).expect("a way");
        assert_eq!((sum.xor, sum.bytes), (expected(&bytes), bytes.len() as u64));
        assert_eq!(choice.reason, "it has no size to divide");
    }
}
