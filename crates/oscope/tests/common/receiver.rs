//! `oscope receive` in its own process.

use super::program;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;

/// A receiver in its own process, killed when dropped.
pub struct Receiver {
    child: Option<Child>,
    /// Reads the rest of its standard error.
    said: Option<JoinHandle<Vec<u8>>>,
    /// The address it listens on.
    pub address: String,
}

impl Receiver {
    /// A receiver for files in `directory`.
    pub fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::by(Command::new(program()), directory, arguments)
    }

    /// The same, started by `command`.
    pub fn by(command: Command, directory: &Path, arguments: &[&str]) -> Self {
        fs::create_dir_all(directory).expect("a directory");
        let directory = directory.to_str().expect("a plain path");
        Self::with(command, &[arguments, &[directory]].concat())
    }

    /// A receiver with only these arguments.
    pub fn with(mut command: Command, arguments: &[&str]) -> Self {
        let mut child = command
            .args(["receive", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut said = String::new();
        let address = loop {
            let start = said.len();
            let count = stderr.read_line(&mut said).expect("it speaks");
            assert!(count > 0, "it never listened: {said}");
            if let Some(address) = said[start..].trim().strip_prefix("listening on ") {
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
            child: Some(child),
            said: Some(said),
            address,
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Its output, after it ended by itself.
    pub fn end(mut self) -> Output {
        let child = self.child.take().expect("it runs");
        let mut output = child.wait_with_output().expect("it ends");
        let said = self.said.take().expect("it is asked once").join();
        output.stderr = said.expect("it only reads");
        output
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
