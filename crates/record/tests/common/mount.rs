//! A small file system in memory, for tests with full or read-only disks.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use testing::Command;

/// A mounted tmpfs; unmounted when dropped.
pub struct Mount {
    folder: tempfile::TempDir,
}

impl Mount {
    /// Mounts a tmpfs with space for `bytes`; `None`, with the reason printed, without root rights.
    pub fn tmpfs(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={bytes}");
        if mount(&["-t", "tmpfs", "-o", &size, "oscope-test"], folder.path()) {
            return Some(Self { folder });
        }
        println!("skipped: a tmpfs cannot be mounted here, which takes the rights of root");
        None
    }

    /// Remounts it read-only.
    pub fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.folder.path()));
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path()).status();
    }
}

fn mount(arguments: &[&str], folder: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(arguments).arg(folder).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
