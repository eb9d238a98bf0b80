//! Helpers for the tests of the group.

use platform::storage::Storage;
use std::path::Path;
use tempfile::TempDir;

/// A directory beside the build, since the usual place for temporary files may be memory.
pub(crate) fn scratch() -> TempDir {
    let program = std::env::current_exe().expect("a running program has a path");
    let folder = program.parent().expect("a program lies in a folder");
    tempfile::tempdir_in(folder).expect("the build folder takes files")
}

/// Files there can be evicted from the page cache; prints the reason if not.
pub(crate) fn can_be_cold(directory: &Path) -> bool {
    let storage = Storage::behind(directory).expect("it was just made");
    if storage.is_memory() {
        println!(
            "skipped: {} has no device to read from",
            storage.file_system
        );
    }
    !storage.is_memory()
}
