//! `oscope send` and `oscope receive` as a user sees them.

mod endings;
mod methods;
mod network;
mod protection;

use crate::common::{Place, signal, wait_until};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{ChildStdin, Output, Stdio};
use testing::{Command, Process};

const TOKEN: &str = "a token of some length\n";

/// Makes a file of `len` bytes without a pattern. Its path.
fn file(place: &Place, name: &str, len: usize) -> String {
    let mut state = len as u64 | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        (state >> 33) as u8
    };
    let bytes: Vec<u8> = (0..len).map(|_| next()).collect();
    place.file(name, bytes)
}

/// Checks that a file arrived in the directory `to` as it was sent.
fn assert_arrived(place: &Place, to: &str, name: &str) {
    let [there, here] = [&format!("{to}/{name}"), name].map(|path| fs::read(place.path(path)));
    assert!(
        there.expect("it arrived") == here.expect("it is there"),
        "{name}"
    );
}

/// A sender of a stream, which goes on until the test ends it.
struct Stream {
    sender: Process,
    input: ChildStdin,
}

impl Stream {
    /// `program` sends what the test writes to a receiver at this address, under `name`.
    fn start(mut program: Command, to: &str, name: &str, options: &[&str]) -> Self {
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
    fn write(&mut self, byte: u8, mib: usize) {
        let bytes = vec![byte; mib << 20];
        self.input.write_all(&bytes).expect("it reads");
    }

    /// Writes 4 MiB, and waits until some of them have arrived in the directory `to`. The stream is not
    /// complete, so its file is a partial one.
    fn write_some_to(&mut self, to: &Path) {
        self.write(7, 4);
        let partial = to.join(".oscope-partial");
        wait_until("some of it", || has_bytes(&partial));
    }

    /// The sender's process id.
    fn id(&self) -> u32 {
        self.sender.id()
    }

    /// Ends the stream. The output of the sender.
    fn end(self) -> Output {
        drop(self.input);
        self.sender.wait_with_output().expect("it ends")
    }

    /// Sends this signal to the sender while its stream goes on. The output of the sender.
    ///
    /// If the stream ended first, its file might be complete before the signal is noticed.
    fn end_by(self, signal_name: &str) -> Output {
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
