use std::fs;
use std::path::{Path, PathBuf};

use crate::Command;

/// A file system that a test has mounted; unmounted when dropped.
#[derive(Debug)]
pub struct Mounted {
    point: PathBuf,
}

impl Mounted {
    /// Mounts one with these arguments of mount(8) at `point`, a directory that this makes. `None`, with the reason
    /// printed, if that is not possible.
    ///
    /// # Panics
    /// If the directory cannot be made.
    pub fn new(arguments: &[&str], point: &Path) -> Option<Self> {
        fs::create_dir_all(point).expect("there is room");
        let output = Command::new("mount").args(arguments).arg(point).output();
        let refused = match output {
            Ok(output) if output.status.success() => {
                let point = point.to_owned();
                return Some(Self { point });
            }
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        println!("skipped: {refused}");
        None
    }

    /// The directory.
    pub fn point(&self) -> &Path {
        &self.point
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.point).status();
    }
}

/// A small file system in memory, for tests with full or read-only disks.
#[derive(Debug)]
pub struct Tmpfs(Mounted);

impl Tmpfs {
    /// Mounts one at `point` with these options of mount(8), as [`Mounted::new`].
    pub fn mount(point: &Path, options: &str) -> Option<Self> {
        Mounted::new(&["-t", "tmpfs", "-o", options, "tmpfs"], point).map(Self)
    }

    /// Makes it read-only.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn make_read_only(&self) {
        let mut mount = Command::new("mount");
        let remounted = mount
            .args(["-o", "remount,ro"])
            .arg(self.0.point())
            .output();
        assert!(remounted.is_ok_and(|output| output.status.success()));
    }
}
