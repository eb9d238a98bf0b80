//! A copy has the holes of its source.
#![cfg(target_os = "linux")]

use crate::{if_there, ways};
use oscope_files::copy::{CopyMethod, CopyOptions};
use oscope_files::{Source, Watch, copy};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

const PIECE: u64 = 256 << 10;

/// A file of `pieces` pieces, of which those in `data` are no holes, and `tail` bytes more.
fn sparse(path: &Path, pieces: u64, data: &[u64], tail: u64) {
    let file = File::create_new(path).expect("it is new");
    file.set_len(pieces * PIECE + tail).expect("a length");
    for piece in data {
        let block = vec![*piece as u8 + 1; PIECE as usize];
        file.write_all_at(&block, piece * PIECE).expect("room");
    }
}

#[test]
fn holes_stay_holes_by_every_method() {
    let dir = testing::directory_on_disk();
    let places: [(&str, u64, &[u64], u64); 9] = [
        ("between", 8, &[0, 3, 7], 0),
        ("before", 8, &[6, 7], 0),
        ("behind", 8, &[0], 0),
        ("behind an odd end", 8, &[2], 1234),
        ("all of it", 8, &[], 77),
        ("less than a page", 0, &[], 100),
        ("a page", 0, &[], 4096),
        ("none", 3, &[0, 1, 2], 0),
        ("nothing at all", 0, &[], 0),
    ];
    for (name, pieces, data, tail) in places {
        let from = dir.path().join(name);
        sparse(&from, pieces, data, tail);
        let expected = fs::metadata(&from).expect("it was just made");
        if expected.blocks() * 512 > data.len() as u64 * PIECE + 8192 {
            return println!("skipped: this file system has no holes");
        }
        for method in ways() {
            for block_bytes in [4096, 100_000, 1 << 20] {
                let options = CopyOptions {
                    method,
                    block_bytes: Some(block_bytes),
                    force: false,
                };
                let to = dir.path().join("copy");
                let source = Source::open(&from).expect("it is there");
                let Some(copied) = if_there(copy(&source, &to, &options, &Watch::default())) else {
                    continue;
                };
                let holes = expected.len() - data.len() as u64 * PIECE;
                assert_eq!(copied.bytes, expected.len());
                let is_shared = copied.method == CopyMethod::Reflink;
                let moved = if is_shared { 0 } else { copied.bytes - holes };
                assert_eq!(copied.moved_bytes(), moved, "{name}, {method:?}");
                let copied = fs::metadata(&to).expect("it was just made");
                let what = format!("{name}, {method:?}, {block_bytes}");
                assert_eq!(copied.len(), expected.len(), "{what}");
                // File systems may round the data up, but give a file of holes no room.
                let more = if expected.blocks() == 0 { 0 } else { 16 };
                assert!(copied.blocks() <= expected.blocks() + more, "{what}");
                let is_same =
                    fs::read(&to).expect("the copy") == fs::read(&from).expect("the file");
                assert!(is_same, "{what}");
                fs::remove_file(&to).expect("it is there");
            }
        }
    }
}
