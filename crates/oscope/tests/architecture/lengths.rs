//! No file of Rust, tests included, is too long to be read as a whole.

use std::fs;
use std::path::Path;

const MOST_LINES: usize = 600;

#[test]
fn every_file_is_short() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = super::circles::files(&crates);
    assert!(files.len() > 500, "only {} files", files.len());
    let long: Vec<String> = files
        .iter()
        .map(|path| (path, lines(path)))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path)
        .expect("it can be read")
        .lines()
        .count()
}
