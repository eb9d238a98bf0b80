use std::path::{Path, PathBuf};

use crate::Command;

/// A small file system in memory, for tests with full or read-only disks; unmounted when dropped.
#[derive(Debug)]
pub struct Tmpfs {
    point: PathBuf,
}

impl Tmpfs {
    /// Mounts one at `point` with these options of mount(8); `None`, with the reason printed, without the rights.
    pub fn mount(point: &Path, options: &str) -> Option<Self> {
        if !mount(&["-t", "tmpfs", "-o", options, "tmpfs"], point) {
            println!("skipped: mounting a file system needs the rights of root");
            return None;
        }
        let point = point.to_owned();
        Some(Self { point })
    }

    /// Makes it read-only.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], &self.point));
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.point).status();
    }
}

fn mount(arguments: &[&str], point: &Path) -> bool {
    let output = Command::new("mount").args(arguments).arg(point).output();
    output.is_ok_and(|output| output.status.success())
}
