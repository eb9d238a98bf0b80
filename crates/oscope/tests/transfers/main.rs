//! `oscope send` and `oscope receive` as a user sees them.

#[path = "../common/mod.rs"]
mod common;
mod endings;
mod files;
mod methods;
mod network;
mod protection;
mod rights;

use common::receiver::Receiver;
use common::{Place, program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub(crate) const TOKEN: &str = "a token of some length\n";

pub(crate) fn signal(name: &str, process: u32) {
    let kill = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(process.to_string())
        .status();
    assert!(kill.expect("kill(1) is there").success());
}

/// A file of `len` bytes without a pattern.
pub(crate) fn file(place: &Place, name: &str, len: usize) -> PathBuf {
    let path = place.path(name);
    let mut state = len as u64 | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        (state >> 33) as u8
    };
    let bytes: Vec<u8> = (0..len).map(|_| next()).collect();
    fs::write(&path, bytes).expect("there is room");
    path
}

pub(crate) fn send(receiver: &Receiver, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(program());
    command
        .args(["send", "--to", &receiver.address])
        .args(arguments)
        .timeout(Duration::from_mins(1));
    command
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}
