//! Exit codes.

use platform::signal::Signal;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Something could not be measured or done.
    Incomplete,
    /// Wrong use.
    WrongUse,
    /// A comparison found what `--fail-on` names.
    Found,
    /// Stopped by a signal.
    Stopped(Signal),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Incomplete => 1,
            Exit::WrongUse => 2,
            Exit::Found => 3,
            // As shells report a program that a signal ended.
            Exit::Stopped(signal) => 128 + signal.number() as u8,
        })
    }
}

/// Something that the user asked for and that does not exist or makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

/// The exit code of an error.
pub fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<WrongUse>() {
        Exit::WrongUse
    } else {
        Exit::Incomplete
    }
}
