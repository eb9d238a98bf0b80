//! A process that called `spare_caches`. The call cannot be undone, so this is a separate test
//! program.
#![cfg(target_os = "linux")]

use oscope_files::cache::{Eviction, chill, spare_caches};
use platform::storage::Storage;
use std::io::Write;
use std::path::Path;

#[test]
fn a_process_that_spares_the_caches_evicts_its_own_file_only() {
    // Files in memory cannot be evicted, so that the caches of the machine would be next.
    let memory = Path::new("/dev/shm");
    let Ok(storage) = Storage::behind(memory) else {
        return println!("skipped: there is no {}", memory.display());
    };
    spare_caches();
    let Ok(mut file) = tempfile::tempfile_in(memory) else {
        return println!("skipped: {} cannot be written to", memory.display());
    };
    file.write_all(&vec![1; 1 << 16]).expect("there is room");
    let evicted = chill(&file, Some(&storage)).expect("it can be asked for");
    assert_eq!(evicted.way, Eviction::Advice);
}
