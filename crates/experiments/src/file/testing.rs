//! Helpers for the tests of the group.

pub(crate) use ::testing::directory_on_disk as scratch;
use platform::storage::Storage;
use std::path::Path;

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
