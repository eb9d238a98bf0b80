//! A test program that starts itself in a role and checks what becomes of that process.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::io::Write;
use testing::Command;

pub type Check = (&'static str, fn());

/// The functions with their names.
macro_rules! checks {
    ($($check:path),* $(,)?) => {
        &[$((stringify!($check), $check)),*]
    };
}

/// Plays the role that the command line names, or checks everything.
pub fn main(checks: &[Check], play: fn(&[String])) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("role") => play(&arguments[1..]),
        // The query of test runners for the list of tests.
        Some("--list") => checks.iter().for_each(|(name, _)| println!("{name}: test")),
        _ => {
            for (name, check) in checks {
                check();
                println!("{name}: ok");
            }
        }
    }
}

/// This program in a role.
pub fn command(arguments: &[&str]) -> Command {
    let own = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(own);
    command.arg("role").args(arguments);
    command
}

/// Prints a line for the parent.
pub fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("the parent reads");
}

/// True if the process with this id has not exited. A zombie, which no process has waited for
/// yet, counts as exited, like a process without an entry.
#[cfg(target_os = "linux")]
pub fn runs(process: &str) -> bool {
    state(process).is_some_and(|state| state != 'Z')
}

#[cfg(windows)]
pub fn runs(process: &str) -> bool {
    let programs = oscope_platform::programs::running();
    programs.iter().any(|it| it.id.to_string() == process)
}

#[cfg(target_os = "linux")]
pub fn is_stopped(process: &str) -> bool {
    state(process) == Some('T')
}

#[cfg(target_os = "linux")]
fn state(process: &str) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// A process in a role.
#[cfg(target_os = "linux")]
pub mod linux {
    use std::io::{BufRead, BufReader};
    use std::process::{ChildStdout, Stdio};

    use rustix::process::{Pid, Signal, kill_process};
    use testing::{Command, Process};

    pub struct Role {
        pub process: Process,
        heard: Option<BufReader<ChildStdout>>,
    }

    impl Role {
        pub fn command(arguments: &[&str]) -> Command {
            let mut command = super::command(arguments);
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            command
        }

        pub fn spawn(mut command: Command) -> Self {
            let mut process = command.spawn().expect("this program can be started");
            let heard = process.stdout.take().map(BufReader::new);
            Self { process, heard }
        }

        /// Starts it, and waits for its first line.
        pub fn start(command: Command) -> (Self, String) {
            let mut role = Self::spawn(command);
            let line = role.hear();
            (role, line)
        }

        pub fn hear(&mut self) -> String {
            let mut line = String::new();
            let heard = self.heard.as_mut().expect("it is open");
            heard.read_line(&mut line).expect("it can be read");
            line.trim_end().to_owned()
        }

        pub fn stop_hearing(&mut self) {
            self.heard = None;
        }

        pub fn id(&self) -> String {
            self.process.id().to_string()
        }

        pub fn send(&self, signal: Signal) {
            let id = self.id().parse().ok().and_then(Pid::from_raw);
            kill_process(id.expect("it has an id"), signal).expect("it runs");
        }
    }
}
