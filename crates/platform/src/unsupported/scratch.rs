use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    // As private as its parent directory.
    fs::create_dir(path)
}

pub(crate) fn is_own(_metadata: &Metadata) -> bool {
    // Unknown, so nothing is swept.
    false
}

pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(crate) fn allocated_bytes(metadata: &Metadata) -> u64 {
    metadata.len()
}
