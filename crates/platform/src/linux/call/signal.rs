use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::failed;
use crate::error::Result;

/// No other part of this program uses this signal.
const SIGNAL: libc::c_int = libc::SIGUSR1;

static DELIVERED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: libc::c_int) {
    DELIVERED.fetch_add(1, Ordering::Relaxed);
}

/// A handler of a signal (SIGUSR1) that only counts, and the thread that installed it. The handler
/// stays until this value is dropped.
pub struct SignalProbe {
    action: libc::sigaction,
    before: libc::sigaction,
    process: libc::pid_t,
    thread: libc::pid_t,
    /// Signals go to the thread that created the probe.
    not_send: PhantomData<*const ()>,
}

impl SignalProbe {
    /// Installs the handler.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn new() -> Result<Self> {
        // SAFETY: zeros are a valid `sigaction`: no flags and an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = count as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        let mut before = MaybeUninit::uninit();
        // SAFETY: the handler has the right type for an action without SA_SIGINFO and only adds to
        // an atomic; `before` has room for the old action.
        if unsafe { libc::sigaction(SIGNAL, &raw const action, before.as_mut_ptr()) } != 0 {
            return failed("install a handler of a signal");
        }
        Ok(Self {
            action,
            // SAFETY: the call succeeded, so all of it was written.
            before: unsafe { before.assume_init() },
            // SAFETY: these take no arguments and cannot fail.
            process: unsafe { libc::getpid() },
            // SAFETY: as above.
            thread: unsafe { libc::gettid() },
            not_send: PhantomData,
        })
    }

    /// Installs the same handler again: one `sigaction`.
    ///
    /// # Errors
    /// If the system does not allow it.
    #[inline]
    pub fn install(&self) -> Result<()> {
        // SAFETY: as in `new`.
        match unsafe { libc::sigaction(SIGNAL, &raw const self.action, ptr::null_mut()) } {
            0 => Ok(()),
            _ => failed("install a handler of a signal"),
        }
    }

    /// Sends the signal to this thread, which handles it before this call returns: one `tgkill`,
    /// the handler, and the return from it.
    ///
    /// # Errors
    /// If the system does not allow it.
    #[inline]
    pub fn deliver(&self) -> Result<()> {
        // SAFETY: the handler is installed. The signal goes to the thread that created the probe,
        // which is this one: the type is not `Send`.
        match unsafe { libc::syscall(libc::SYS_tgkill, self.process, self.thread, SIGNAL) } {
            0 => Ok(()),
            _ => failed("send a signal"),
        }
    }
}

impl Drop for SignalProbe {
    fn drop(&mut self) {
        // SAFETY: it restores the previous action.
        unsafe { libc::sigaction(SIGNAL, &raw const self.before, ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_is_delivered_before_the_call_returns() {
        let probe = SignalProbe::new().unwrap();
        for number in 1..=100 {
            probe.install().unwrap();
            let before = DELIVERED.load(Ordering::Relaxed);
            probe.deliver().unwrap();
            let delivered = DELIVERED.load(Ordering::Relaxed) - before;
            assert_eq!(delivered, 1, "signal {number}");
        }
    }
}
