//! Requests to stop.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{Result, os};

pub use crate::os::signal::{ignore_sigpipe, ignore_sigxfsz, pauses, restore_default_sigpipe};

/// A request to stop, with its number in POSIX (kill(1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The terminal was closed (SIGHUP).
    HangUp = 1,
    /// Ctrl-C on the terminal (SIGINT).
    Interrupt = 2,
    /// Ctrl-\ on the terminal (SIGQUIT).
    Quit = 3,
    /// This process writes to a pipe without a reader (SIGPIPE).
    ClosedPipe = 13,
    /// Request of another process to terminate (SIGTERM).
    Terminate = 15,
}

impl Signal {
    /// Its number, for the shells' exit code 128 + number.
    pub fn number(self) -> i32 {
        self as i32
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::HangUp => "SIGHUP",
            Self::ClosedPipe => "SIGPIPE",
            Self::Interrupt => "SIGINT",
            Self::Quit => "SIGQUIT",
            Self::Terminate => "SIGTERM",
        })
    }
}

/// A signal that comes again within this time of the first counts as the same request: Ctrl-C held down a moment too
/// long, or a terminal and `timeout` that both send it.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// True if a signal that has come after `first_ns` and again after `now_ns` is a second request.
pub(crate) fn asks_again(first_ns: u64, now_ns: u64) -> bool {
    now_ns.saturating_sub(first_ns) >= SAME_REQUEST.as_nanos() as u64
}

/// The flag for requests to stop.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt {
    _installed: (),
}

impl Interrupt {
    /// From now on, the first SIGINT, SIGQUIT, SIGTERM or SIGHUP only sets a flag, for the whole
    /// process. The same signal again has its default effect if it comes a second later or more, so that a
    /// user can still end the process. Each SIGPIPE sets the flag, and the write fails with
    /// [`BrokenPipe`](std::io::ErrorKind::BrokenPipe). An ignored signal (e.g. under `nohup`) stays
    /// ignored. Interrupted system calls are restarted.
    ///
    /// On Windows, Ctrl-C counts as SIGINT, Ctrl-Break as SIGTERM, and a closed console as SIGHUP, after
    /// which the system ends the process within 5 s. A closed pipe sets no flag.
    pub fn install() -> Result<Self> {
        os::signal::install()?;
        Ok(Self { _installed: () })
    }

    /// As [`Interrupt::install`]. In addition, the first signal has its default effect if the
    /// process still runs after `patience`: some system calls take seconds, such as a write of a
    /// large block. This uses SIGALRM.
    pub fn install_for(patience: Duration) -> Result<Self> {
        os::signal::lose_patience_after(patience)?;
        Self::install()
    }

    /// True if the process was asked to stop.
    pub fn is_set(self) -> bool {
        self.flag().load(Ordering::Acquire)
    }

    /// The signal that asked to stop.
    pub fn signal(self) -> Option<Signal> {
        os::signal::received()
    }

    /// The flag itself, for loops without knowledge of signals.
    pub fn flag(self) -> &'static AtomicBool {
        os::signal::flag()
    }
}

#[cfg(test)]
mod tests {
    use super::asks_again;

    #[test]
    fn a_signal_asks_again_a_second_after_the_first() {
        for (now_ns, again) in [(7, false), (1_000_000_006, false), (1_000_000_007, true)] {
            assert_eq!(asks_again(7, now_ns), again, "{now_ns}");
        }
    }
}
