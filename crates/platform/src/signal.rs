//! Being asked to stop.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{Result, os};

/// A request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C on the terminal (SIGINT).
    Interrupt,
    /// Another process asks for the end (SIGTERM).
    Terminate,
    /// The terminal is gone (SIGHUP).
    HangUp,
    /// Nobody reads what this process writes any more (SIGPIPE).
    ClosedPipe,
}

impl Signal {
    /// Its number, for the exit code 128 + number that shells expect.
    pub fn number(self) -> i32 {
        // The numbers that POSIX gives them in kill(1).
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::ClosedPipe => 13,
            Self::Terminate => 15,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::HangUp => "SIGHUP",
            Self::ClosedPipe => "SIGPIPE",
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        })
    }
}

/// Whether this process was asked to stop.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt {
    _installed: (),
}

impl Interrupt {
    /// From now on a first SIGINT, SIGTERM or SIGHUP only sets a flag, for the whole process; a
    /// second one has its usual effect, so that an impatient person can still end it. SIGPIPE sets the
    /// flag as often as it comes, and the write fails with
    /// [`BrokenPipe`](std::io::ErrorKind::BrokenPipe). A signal that was ignored (under `nohup`, say)
    /// stays ignored. Interrupted system calls go on.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn install() -> Result<Self> {
        os::signal::install()?;
        Ok(Self { _installed: () })
    }

    /// As [`Interrupt::install`], and the first signal has its usual effect, too, if the process is still
    /// there so long after it: some calls go on for seconds, such as a write of a large block. SIGALRM is
    /// taken for that.
    ///
    /// # Errors
    /// As [`Interrupt::install`].
    pub fn install_for(patience: Duration) -> Result<Self> {
        os::signal::lose_patience_after(patience)?;
        Self::install()
    }

    /// Whether the process was asked to stop.
    pub fn is_set(self) -> bool {
        self.flag().load(Ordering::Acquire)
    }

    /// By which signal.
    pub fn signal(self) -> Option<Signal> {
        os::signal::received()
    }

    /// The flag itself, for loops that know nothing of signals.
    pub fn flag(self) -> &'static AtomicBool {
        os::signal::flag()
    }
}

/// Lets a write to a closed pipe end this process quietly, as other programs do, instead of
/// failing: `oscope list | head -1`.
pub fn restore_default_sigpipe() {
    os::signal::restore_default_sigpipe();
}

/// Lets a write beyond the limit on the size of files (`ulimit -f`) fail with
/// [`FileTooLarge`](std::io::ErrorKind::FileTooLarge) instead of ending this process.
pub fn ignore_sigxfsz() {
    os::signal::ignore_sigxfsz();
}

/// Lets a write to a connection or pipe that nobody reads any more fail with
/// [`BrokenPipe`](std::io::ErrorKind::BrokenPipe) instead of ending this process. Of the calls that
/// move a file into a connection, neither `sendfile` nor `splice` can be asked for that one by one.
pub fn ignore_sigpipe() {
    os::signal::ignore_sigpipe();
}
