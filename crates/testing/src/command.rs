use std::ffi::OsStr;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};

use crate::LONGEST_WAIT;
use crate::process::Process;
use crate::signals::set_default_signals;

/// As [`std::process::Command`], for programs that start with default signals and end: see [`Process`].
#[derive(Debug)]
pub struct Command {
    inner: process::Command,
    /// The streams that the test has given, which `output` keeps.
    given: [bool; 3],
}

impl Command {
    /// As [`std::process::Command::new`].
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        set_default_signals();
        Self {
            inner: process::Command::new(program),
            given: [false; 3],
        }
    }

    /// As [`std::process::Command::arg`].
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.inner.arg(argument);
        self
    }

    /// As [`std::process::Command::args`].
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.inner.args(arguments);
        self
    }

    /// As [`std::process::Command::env`].
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.inner.env(name, value);
        self
    }

    /// As [`std::process::Command::env_remove`].
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.inner.env_remove(name);
        self
    }

    /// As [`std::process::Command::current_dir`].
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Self {
        self.inner.current_dir(directory);
        self
    }

    /// As [`std::process::Command::stdin`].
    pub fn stdin(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.inner.stdin(stream);
        self.given[0] = true;
        self
    }

    /// As [`std::process::Command::stdout`].
    pub fn stdout(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.inner.stdout(stream);
        self.given[1] = true;
        self
    }

    /// As [`std::process::Command::stderr`].
    pub fn stderr(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.inner.stderr(stream);
        self.given[2] = true;
        self
    }

    /// As [`std::process::Command::spawn`].
    pub fn spawn(&mut self) -> io::Result<Process> {
        Process::start(&mut self.inner, LONGEST_WAIT)
    }

    /// As [`std::process::Command::status`].
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.wait()
    }

    /// As [`std::process::Command::output`].
    pub fn output(&mut self) -> io::Result<Output> {
        let [stdin, stdout, stderr] = self.given;
        if !stdin {
            self.inner.stdin(Stdio::null());
        }
        if !stdout {
            self.inner.stdout(Stdio::piped());
        }
        if !stderr {
            self.inner.stderr(Stdio::piped());
        }
        self.spawn()?.wait_with_output()
    }
}

impl Deref for Command {
    type Target = process::Command;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl DerefMut for Command {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

impl From<Command> for process::Command {
    fn from(command: Command) -> Self {
        command.inner
    }
}
