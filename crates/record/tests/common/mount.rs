//! A small file system in memory, for disks that are full or read-only.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A mounted tmpfs; unmounted when dropped.
pub struct Mount {
    folder: tempfile::TempDir,
}

impl Mount {
    /// Mounts one with room for `bytes`; `None`, with the reason printed, where that is not
    /// allowed, as it takes the rights of root.
    pub fn tmpfs(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={bytes}");
        if mount(&["-t", "tmpfs", "-o", &size, "oscope-test"], folder.path()) {
            return Some(Self { folder });
        }
        println!("skipped: a tmpfs cannot be mounted here, which takes the rights of root");
        None
    }

    /// Makes it read-only.
    pub fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.folder.path()));
    }

    /// A file in it.
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
