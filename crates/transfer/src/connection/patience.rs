//! Waiting for a peer, with a limit.

use crate::Limits;
use crate::error::{Error, Result};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A peer that moves fewer bytes per second than this counts as silent.
const SLOWEST: u64 = 256;

/// Decides after a failed call if it should be retried.
pub(super) type Retry<'r> = &'r mut dyn FnMut(io::Error) -> io::Result<()>;

/// Waits for a peer, with a limit.
pub(crate) struct Patience {
    limits: Limits,
    /// Total waiting time since enough bytes last moved.
    waited: Duration,
    /// Bytes moved since then.
    bytes: u64,
    /// Time at which the peer is given up, no matter how many bytes move.
    pub(crate) deadline: Option<Instant>,
    life: Arc<Life>,
    /// Number of times the peer had said that it is at work when this was last asked.
    heard: u64,
    /// True if this side does nothing else while it waits here.
    is_listener: bool,
}

impl Patience {
    pub(super) fn new(limits: Limits, life: Arc<Life>) -> Self {
        Self {
            limits,
            waited: Duration::ZERO,
            bytes: 0,
            deadline: None,
            heard: life.heard.load(Ordering::Relaxed),
            life,
            is_listener: false,
        }
    }

    /// Waits for what the peer sends, and does nothing else.
    pub(super) fn of_listener(limits: Limits, life: Arc<Life>) -> Self {
        Self {
            is_listener: true,
            ..Self::new(limits, life)
        }
    }

    /// From now on, waits without an end, while other threads are at work.
    pub(crate) fn listen_during_work(&mut self) {
        self.limits.patience = Duration::MAX;
        self.is_listener = false;
    }

    /// The same, for another kind of wait.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.limits, Arc::clone(&self.life))
    }

    /// The peer says that it is at work.
    pub(super) fn hear(&mut self) {
        self.life.heard.fetch_add(1, Ordering::Relaxed);
        self.waited = Duration::ZERO;
    }

    /// Bytes of the peer came.
    pub(super) fn came(&mut self, bytes: usize) {
        self.life.has_come.store(true, Ordering::Relaxed);
        self.moved(bytes);
    }

    /// True if the program was asked to stop. A call that never waits does not check this itself.
    pub(crate) fn shall_stop(&self) -> bool {
        self.limits.stop.load(Ordering::Acquire)
    }

    /// Counts moved bytes. Enough of them restart the waiting time.
    pub(crate) fn moved(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if self.bytes >= SLOWEST.saturating_mul(self.limits.patience.as_secs().max(1)) {
            self.waited = Duration::ZERO;
            self.bytes = 0;
        }
    }

    /// Repeats a call until it succeeds or must be given up.
    pub(super) fn until_done<T>(&mut self, call: impl FnMut() -> io::Result<T>) -> Result<T> {
        if !self.is_listener {
            return self.repeat(call);
        }
        self.life.is_listening.store(true, Ordering::Relaxed);
        let done = self.repeat(call);
        self.life.is_listening.store(false, Ordering::Relaxed);
        done
    }

    fn repeat<T>(&mut self, mut call: impl FnMut() -> io::Result<T>) -> Result<T> {
        loop {
            let began = Instant::now();
            // Checked before each call: a slow trickle of bytes keeps calls from ever failing.
            if self.shall_stop() {
                return Err(Error::Interrupted);
            }
            if self.deadline.is_some_and(|deadline| began >= deadline) {
                return Err(Error::Late);
            }
            match call() {
                Ok(done) => return Ok(done),
                Err(error) => self.after_failure(error, began.elapsed())?,
            }
        }
    }

    /// Makes a call that retries by itself when asked to.
    pub(super) fn retrying<T>(
        &mut self,
        call: impl FnOnce(Retry<'_>) -> io::Result<T>,
    ) -> Result<T> {
        let mut given_up = None;
        let mut began = Instant::now();
        let mut retry = |error| {
            let waited = began.elapsed();
            began += waited;
            self.after_failure(error, waited).map_err(|error| {
                given_up = Some(error);
                io::ErrorKind::Other.into()
            })
        };
        call(&mut retry).map_err(|error| given_up.unwrap_or_else(|| Error::network(error)))
    }

    /// Decides if a call that waited this long and failed should be retried. An error gives the
    /// connection up.
    pub(crate) fn after_failure(&mut self, error: io::Error, waited: Duration) -> Result<()> {
        if self.shall_stop() {
            return Err(Error::Interrupted);
        }
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                let heard = self.life.heard.load(Ordering::Relaxed);
                if heard != self.heard {
                    self.heard = heard;
                    self.waited = Duration::ZERO;
                }
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

/// Knowledge that the two directions of a connection share about both sides.
#[derive(Default)]
pub(super) struct Life {
    /// Number of times the peer has said that it is at work.
    heard: AtomicU64,
    /// True while this side only waits for the peer.
    pub(super) is_listening: AtomicBool,
    /// True if bytes of the peer came since this was last set to false.
    pub(super) has_come: AtomicBool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn patience() -> Patience {
        static STOP: AtomicBool = AtomicBool::new(false);
        let limits = Limits {
            patience: 10 * SECOND,
            stop: &STOP,
        };
        Patience::new(limits, Arc::default())
    }

    fn silence(patience: &mut Patience, seconds: u32) -> crate::Result<()> {
        patience.after_failure(io::ErrorKind::WouldBlock.into(), seconds * SECOND)
    }

    #[test]
    fn patience_ends_after_the_limit_in_any_number_of_calls() {
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
    fn only_enough_bytes_restart_the_wait() {
        let mut patience = patience();
        silence(&mut patience, 9).unwrap();
        patience.moved(SLOWEST as usize * 10);
        silence(&mut patience, 9).unwrap();
        patience.moved(SLOWEST as usize * 10 - 1);
        silence(&mut patience, 1).unwrap_err();
    }

    #[test]
    fn a_peer_at_work_is_waited_for() {
        let mut patience = patience();
        for _ in 0..10 {
            silence(&mut patience, 9).unwrap();
            patience.life.heard.fetch_add(1, Ordering::Relaxed);
        }
        silence(&mut patience, 9).unwrap();
        silence(&mut patience, 1).unwrap_err();
    }

    #[test]
    fn interrupted_calls_do_not_count_as_waiting() {
        let mut patience = patience();
        for _ in 0..100 {
            let interrupted = io::ErrorKind::Interrupted.into();
            patience.after_failure(interrupted, SECOND).unwrap();
        }
    }
}
