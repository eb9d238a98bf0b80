//! `oscope receive` in its own process.

use super::start;
use std::io::{BufRead, BufReader, Read};
use std::process::Output;
use std::thread::JoinHandle;
use testing::{Command, Process, joined};

/// A receiver in its own process, killed when dropped.
pub struct Receiver {
    child: Process,
    /// Reads the rest of its standard error.
    said: JoinHandle<Vec<u8>>,
    /// The address it listens on.
    pub address: String,
}

impl Receiver {
    /// A receiver at any free port, started by `command`.
    pub fn start(mut command: Command, arguments: &[&str]) -> Self {
        let command = command.args(["receive", "--listen", "127.0.0.1:0"]);
        let mut child = start(command.args(arguments));
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut said = String::new();
        let address = loop {
            let before = said.len();
            let count = stderr.read_line(&mut said).expect("it speaks");
            assert!(count > 0, "it never listened: {said}");
            if let Some(address) = said[before..].trim().strip_prefix("listening on ") {
                break address.to_owned();
            }
        };
        // The pipe must be drained, or the receiver would block.
        let said = std::thread::spawn(move || {
            let mut said = Vec::new();
            // An error ends the output.
            let _ = stderr.read_to_end(&mut said);
            said
        });
        Self {
            child,
            said,
            address,
        }
    }

    /// Its output, after it ended by itself.
    pub fn end(self) -> Output {
        let mut output = self.child.wait_with_output().expect("it ends");
        output.stderr = joined("the end of the receiver's messages", self.said);
        output
    }
}
