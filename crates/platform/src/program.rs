//! Runs other programs from start to end: wall time, resource usage, exit.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process::{Exit, Finished};

pub use crate::os::process::Starter;

/// A program to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Program<'a> {
    /// Its name, which is looked up in `PATH` unless it contains a slash, and its arguments.
    pub words: &'a [String],
    /// Variables that it has, also in place of those of this process.
    pub environment: &'a [(&'a str, String)],
    /// Its working directory; that of this process if it is `None`.
    pub directory: Option<&'a Path>,
    /// It is killed if it takes longer.
    pub limit: Option<Duration>,
    /// Its standard input; an empty one if it is `None`.
    pub stdin: Option<&'a File>,
    /// Its standard output.
    pub stdout: Output<'a>,
    /// Its standard error.
    pub stderr: Output<'a>,
}

impl Program<'_> {
    /// The command that starts it, without its standard streams.
    pub(crate) fn command(&self) -> io::Result<Command> {
        let words = self.words.split_first();
        let (name, arguments) = words.ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(name);
        let variables = self.environment.iter();
        command
            .args(arguments)
            .envs(variables.map(|(name, value)| (name, value)));
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        Ok(command)
    }
}

/// The place for output of a program.
#[derive(Clone, Copy, Debug, Default)]
pub enum Output<'a> {
    /// It is discarded by the system.
    #[default]
    Null,
    /// It is read from a pipe, and discarded. Of standard error, the last 16 KiB are kept.
    Pipe,
    /// It goes where that of this process goes.
    Inherit,
    /// It goes where the standard error of this process goes.
    Errors,
    /// It goes to this file.
    File(&'a File),
}

/// A program that ran to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Wall time in ns, from before the start of the process until its exit is known.
    pub wall_ns: u64,
    /// Its exit, and the usage of it and of the children that it waited for.
    pub finished: Finished,
    /// Peak resident memory of the largest process among them, in bytes; on Windows of the program itself.
    /// See [`Starter::floor_bytes`].
    pub peak_bytes: u64,
    /// Bytes that they read from storage and wrote, as [`Consumption`](crate::usage::Consumption) counts them.
    pub moved_bytes: [u64; 2],
    /// The end of its standard error, if that is a pipe.
    pub stderr: String,
    /// True if it or this process was stopped for a while, as by Ctrl-Z: its time means nothing then.
    pub was_stopped: bool,
}

/// The reason why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It does not exist, or cannot be executed.
    #[error("it cannot be started: {0}")]
    Start(#[source] io::Error),
    /// It took longer than its limit. It is killed.
    #[error("it took longer than the time limit")]
    Limit,
    /// It uses the terminal, and was stopped. It is killed.
    #[error(
        "it uses the terminal, which belongs to another program: start oscope in the foreground, or \
         redirect the command's input and output"
    )]
    NoTerminal,
    /// It was stopped by this signal, and not continued. It is killed.
    #[error("{} stopped it, and it was not continued", Exit::Signal(*.0))]
    Stopped(i32),
    /// Its pipes failed, or its exit is not known.
    #[error("it cannot be waited for: {0}")]
    Io(#[from] io::Error),
}
