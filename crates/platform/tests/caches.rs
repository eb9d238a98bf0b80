//! A process that called `spare_caches`. The call cannot be undone, so this is a separate test
//! program.
#![cfg(target_os = "linux")]

use oscope_platform::Error;
use oscope_platform::file::{Caches, Eviction, Reach, drop_caches, evict, spare_caches};
use std::io::Write;

#[test]
fn whoever_spares_the_caches_of_the_machine_evicts_its_own_file_only() {
    spare_caches();
    let refused = drop_caches(Caches::All).unwrap_err();
    assert!(
        matches!(refused, Error::NotPermitted { needs, .. } if needs.contains("without limits")),
        "{refused}"
    );
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![1; 1 << 16]).unwrap();
    assert_eq!(evict(&file, Reach::Machine).unwrap(), Eviction::Advice);
}
