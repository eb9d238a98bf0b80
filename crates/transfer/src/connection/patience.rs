//! Waiting for a peer, but not forever.

use crate::Limits;
use crate::error::{Error, Result};
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A peer that gives or takes fewer bytes a second counts as silent.
const SLOWEST: u64 = 256;

/// Asked after a failed call whether to try again.
pub(super) type Retry<'r> = &'r mut dyn FnMut(io::Error) -> io::Result<()>;

/// Waits for a peer, but not forever.
pub(crate) struct Patience {
    limits: Limits,
    /// How long calls have waited since enough bytes went through.
    waited: Duration,
    /// How many went through since.
    bytes: u64,
    /// When everything has to be over, whatever goes through.
    deadline: Option<Instant>,
}

impl Patience {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            waited: Duration::ZERO,
            bytes: 0,
            deadline: None,
        }
    }

    /// From now on silence is borne for so long.
    pub(crate) fn set_limit(&mut self, limit: Duration) {
        self.limits.patience = limit;
        self.waited = Duration::ZERO;
    }

    /// From now on a peer is given up at `deadline`, whatever goes through.
    pub(super) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    pub(super) fn shall_stop(&self) -> bool {
        self.limits.stop.load(Ordering::Acquire)
    }

    /// Bytes went through: enough of them, and the waiting begins anew.
    pub(crate) fn moved(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if self.bytes >= SLOWEST.saturating_mul(self.limits.patience.as_secs().max(1)) {
            self.waited = Duration::ZERO;
            self.bytes = 0;
        }
    }

    /// Makes a call until it succeeds or there is no more reason to try.
    pub(super) fn until_done<T>(&mut self, mut call: impl FnMut() -> io::Result<T>) -> Result<T> {
        loop {
            let began = Instant::now();
            // Also where calls never fail since bytes drip all the time.
            if self.shall_stop() {
                return Err(Error::Interrupted);
            }
            if self.deadline.is_some_and(|deadline| began >= deadline) {
                return Err(Error::Late);
            }
            match call() {
                Ok(done) => return Ok(done),
                Err(error) => self.bear(error, began.elapsed())?,
            }
        }
    }

    /// Makes a call that tries again by itself when it is told to.
    pub(super) fn retrying<T>(
        &mut self,
        call: impl FnOnce(Retry<'_>) -> io::Result<T>,
    ) -> Result<T> {
        let mut given_up = None;
        let mut began = Instant::now();
        let mut retry = |error| {
            let waited = began.elapsed();
            began += waited;
            self.bear(error, waited).map_err(|error| {
                given_up = Some(error);
                io::ErrorKind::Other.into()
            })
        };
        call(&mut retry).map_err(|error| given_up.unwrap_or_else(|| Error::network(error)))
    }

    /// A call failed after it had waited for so long: whether to try again.
    pub(crate) fn bear(&mut self, error: io::Error, waited: Duration) -> Result<()> {
        if self.shall_stop() {
            return Err(Error::Interrupted);
        }
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                self.waited += waited;
                if self.waited >= self.limits.patience {
                    return Err(Error::Silent(self.limits.patience));
                }
                Ok(())
            }
            _ => Err(Error::network(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Patience, SLOWEST};
    use crate::{Error, Limits};
    use std::io;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    fn patience() -> Patience {
        static STOP: AtomicBool = AtomicBool::new(false);
        Patience::new(Limits {
            patience: 10 * SECOND,
            stop: &STOP,
        })
    }

    fn silence(patience: &mut Patience, seconds: u32) -> crate::Result<()> {
        patience.bear(io::ErrorKind::WouldBlock.into(), seconds * SECOND)
    }

    #[test]
    fn it_ends_after_so_much_waiting_in_however_many_calls() {
        for call in [1, 2, 5] {
            let mut patience = patience();
            for _ in 1..10 / call {
                silence(&mut patience, call).unwrap();
            }
            let error = silence(&mut patience, call).unwrap_err();
            assert!(matches!(error, Error::Silent(_)), "{error}");
        }
    }

    #[test]
    fn only_enough_bytes_make_it_new() {
        let mut patience = patience();
        silence(&mut patience, 9).unwrap();
        patience.moved(SLOWEST as usize * 10);
        silence(&mut patience, 9).unwrap();
        patience.moved(SLOWEST as usize * 10 - 1);
        silence(&mut patience, 1).unwrap_err();
    }

    #[test]
    fn what_was_interrupted_has_not_waited() {
        let mut patience = patience();
        for _ in 0..100 {
            let interrupted = io::ErrorKind::Interrupted.into();
            patience.bear(interrupted, SECOND).unwrap();
        }
    }
}
