//! External faults: each leads to a clear error or a recorded reason.

mod directories;
mod signals;
mod stores;
mod streams;

use crate::common::{may, text};
use std::fs;
use std::path::Path;
use testing::Command;

/// A small file system; `None`, with the reason printed, where there is no right to it.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    /// In memory.
    fn tmpfs(at: &'a Path, options: &str) -> Option<Self> {
        Self::mount(&["-t", "tmpfs", "-o", options, "tmpfs"], at)
    }

    /// In a file next to it, with blocks of 1 KiB, as mkfs(8) makes them where a disk is small.
    fn ext4(at: &'a Path, size_bytes: u64) -> Option<Self> {
        let image = at.with_extension("image");
        let file = fs::File::create(&image).expect("a file");
        file.set_len(size_bytes).expect("a hole takes no room");
        let mut mkfs = Command::new("mkfs.ext4");
        let made = mkfs.args(["-q", "-b", "1024"]).arg(&image).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: there is no mkfs.ext4 that works");
            return None;
        }
        Self::mount(&["-t", "ext4", "-o", "loop", text(&image)], at)
    }

    fn mount(arguments: &[&str], at: &'a Path) -> Option<Self> {
        if !may("mounting") {
            return None;
        }
        fs::create_dir_all(at).expect("a directory");
        let mut mount = Command::new("mount");
        let status = mount.args(arguments).arg(at).status();
        let mounted = status.is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("skipped: this system does not mount {}", arguments[1]);
        }
        mounted.then_some(Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
