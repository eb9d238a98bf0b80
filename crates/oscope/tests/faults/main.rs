//! External faults: each leads to a clear error or a recorded reason.

#[path = "../common/mod.rs"]
mod common;
mod directories;
mod exports;
mod signals;
mod stores;
mod streams;

use common::may;
use std::fs;
use std::path::Path;
use std::process::Output;
use testing::{Command, Process};

/// Sends a signal by its name.
pub(crate) fn signal(name: &str, id: u32) {
    let status = Command::new("kill")
        .args([format!("-{name}"), id.to_string()])
        .status();
    assert!(status.expect("kill(1) is there").success());
}

/// Waits for the process to end: its output, and both streams as text.
pub(crate) fn end(child: Process) -> (Output, String, String) {
    let output = child.wait_with_output().expect("the program ends");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, stdout, stderr)
}

/// A small file system; `None`, with the reason printed, where there is no right to it.
pub(crate) struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    /// In memory.
    pub(crate) fn tmpfs(at: &'a Path, options: &str) -> Option<Self> {
        Self::mount(&["-t", "tmpfs", "-o", options, "tmpfs"], at)
    }

    /// In a file beside it, with blocks of 1 KiB, as mkfs(8) makes them where a disk is small.
    pub(crate) fn ext4(at: &'a Path, size_bytes: u64) -> Option<Self> {
        let image = at.with_extension("image");
        let file = fs::File::create(&image).expect("a file");
        file.set_len(size_bytes).expect("a hole takes no room");
        let mut mkfs = Command::new("mkfs.ext4");
        let made = mkfs.args(["-q", "-b", "1024"]).arg(&image).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: there is no mkfs.ext4 that works");
            return None;
        }
        let image = image.to_str().expect("a plain path");
        Self::mount(&["-t", "ext4", "-o", "loop", image], at)
    }

    fn mount(arguments: &[&str], at: &'a Path) -> Option<Self> {
        if !may("mounting") {
            return None;
        }
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
