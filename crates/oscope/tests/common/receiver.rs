//! `oscope receive` in a process of its own.

use super::program;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A receiver in a process of its own, killed when it is dropped.
pub struct Receiver {
    child: Option<Child>,
    /// Where it listens.
    pub address: String,
}

impl Receiver {
    /// One that receives in `directory`.
    pub fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::by(Command::new(program()), directory, arguments)
    }

    /// The same, started by `command`.
    pub fn by(mut command: Command, directory: &Path, arguments: &[&str]) -> Self {
        fs::create_dir_all(directory).expect("a directory");
        let mut child = command
            .args(["receive", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .arg(directory)
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
        // Somebody has to read what else it says.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self {
            child: Some(child),
            address,
        }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// What it said when it ended by itself.
    pub fn end(mut self) -> Output {
        let child = self.child.take().expect("it runs");
        child.wait_with_output().expect("it ends")
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
