//! What goes wrong in the world: each fault ends in a clear error or a recorded reason.

#[path = "../common/mod.rs"]
mod common;
mod directories;
mod exports;
mod signals;
mod stores;
mod streams;

use common::is_root;
use std::path::Path;
use std::process::{Child, Command, Output};

/// Sends a signal by its name.
pub(crate) fn signal(name: &str, id: u32) {
    let status = Command::new("kill")
        .args([format!("-{name}"), id.to_string()])
        .status();
    assert!(status.expect("kill(1) is there").success());
}

/// Waits for the end: the output, and its two streams as text.
pub(crate) fn end(child: Child) -> (Output, String, String) {
    let output = child.wait_with_output().expect("the program ends");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, stdout, stderr)
}

/// A small file system in memory; `None`, with the reason printed, where there is no right to it.
pub(crate) struct Tmpfs<'a>(&'a Path);

impl<'a> Tmpfs<'a> {
    pub(crate) fn mount(at: &'a Path, options: &str) -> Option<Self> {
        if !is_root() {
            eprintln!("skipped: mounting needs the rights of root");
            return None;
        }
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at);
        let mounted = mount.status().is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("skipped: this system lets nobody mount a tmpfs");
        }
        mounted.then_some(Self(at))
    }
}

impl Drop for Tmpfs<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
