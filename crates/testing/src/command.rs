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
pub struct Command(process::Command);

/// Methods of [`std::process::Command`] that describe what is to be started.
macro_rules! describing {
    ($($method:ident($($name:ident: $kind:ty),*);)*) => {
        $(
            #[doc = concat!("As [`std::process::Command::", stringify!($method), "`].")]
            pub fn $method(&mut self, $($name: $kind),*) -> &mut Self {
                self.0.$method($($name),*);
                self
            }
        )*
    };
}

impl Command {
    /// As [`std::process::Command::new`].
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        set_default_signals();
        Self(process::Command::new(program))
    }

    describing! {
        arg(argument: impl AsRef<OsStr>);
        args(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>);
        env(name: impl AsRef<OsStr>, value: impl AsRef<OsStr>);
        env_remove(name: impl AsRef<OsStr>);
        current_dir(directory: impl AsRef<Path>);
        stdin(stream: impl Into<Stdio>);
        stdout(stream: impl Into<Stdio>);
        stderr(stream: impl Into<Stdio>);
    }

    /// As [`std::process::Command::spawn`].
    pub fn spawn(&mut self) -> io::Result<Process> {
        Process::start(&mut self.0, LONGEST_WAIT)
    }

    /// As [`std::process::Command::status`].
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.wait()
    }

    /// As [`std::process::Command::output`], with no input.
    pub fn output(&mut self) -> io::Result<Output> {
        self.stdin(Stdio::null());
        self.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.spawn()?.wait_with_output()
    }
}

impl Deref for Command {
    type Target = process::Command;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Command {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl From<Command> for process::Command {
    fn from(command: Command) -> Self {
        command.0
    }
}
