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
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Output, Stdio};
use testing::{Command, Process};

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
    let mut command = common::asserted(Command::new(program()));
    command
        .args(["send", "--to", &receiver.address])
        .args(arguments);
    command
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// A sender of a stream, which goes on until the test ends it.
pub(crate) struct Stream {
    sender: Process,
    input: ChildStdin,
}

impl Stream {
    /// `program` sends what the test writes to a receiver at this address, under `name`.
    pub(crate) fn start(mut program: Command, to: &str, name: &str, options: &[&str]) -> Self {
        let mut sender = program
            .args(["send", "-", "--name", name, "--to", to])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let input = sender.stdin.take().expect("a pipe");
        Self { sender, input }
    }

    /// Writes MiB of the same byte, or waits until there is room for them.
    pub(crate) fn write(&mut self, byte: u8, mib: usize) {
        let bytes = vec![byte; mib << 20];
        self.input.write_all(&bytes).expect("it reads");
    }

    /// Writes 4 MiB, and waits until some of them have arrived in the directory `to`. The stream is not
    /// complete, so its file is a partial one.
    pub(crate) fn write_some_to(&mut self, to: &Path) {
        self.write(7, 4);
        let arrived = || has_bytes(&to.join(".oscope-partial"));
        assert!(common::wait_for(arrived), "nothing arrived");
    }

    /// The sender's process id.
    pub(crate) fn id(&self) -> u32 {
        self.sender.id()
    }

    /// Ends the stream. The output of the sender.
    pub(crate) fn end(self) -> Output {
        drop(self.input);
        self.sender.wait_with_output().expect("it ends")
    }

    /// Sends this signal to the sender while its stream goes on. The output of the sender.
    ///
    /// If the stream ended first, its file might be complete before the signal is noticed.
    pub(crate) fn end_by(self, signal_name: &str) -> Output {
        signal(signal_name, self.id());
        let output = self.sender.wait_with_output().expect("it ends");
        drop(self.input);
        output
    }
}

/// True if a file in the directory is not empty.
fn has_bytes(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok())
        .any(|metadata| metadata.len() > 0)
}
