//! A wait that can end without what it waits for.

use core::cell::Cell;
use std::panic::resume_unwind;
use std::thread::panicking;

/// The wait of a thread was cancelled by [`Thread::cancel`](super::Thread::cancel).
///
/// ```
/// uthread::run(|| {
///     let thread = uthread::spawn(|| uthread::suspend());
///     thread.cancel();
///     assert!(thread.join().unwrap_err().is::<uthread::Cancelled>());
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the wait was cancelled")]
pub struct Cancelled;

/// The cause of the end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the thread may have nothing of what it waited for"]
pub(crate) enum Woken {
    /// The thread has what it waited for.
    Granted,
    TimedOut,
    Cancelled,
}

impl Woken {
    /// True if the thread has what it waited for, and `false` if its time was up. Unwinds the thread
    /// if its wait was cancelled.
    #[inline]
    pub(crate) fn in_time(self) -> bool {
        if self == Self::Cancelled {
            unwind_cancelled();
        }
        self == Self::Granted
    }
}

/// Ends the running thread with [`Cancelled`], unless it catches that.
#[cold]
#[inline(never)]
pub(crate) fn unwind_cancelled() -> ! {
    resume_unwind(Box::new(Cancelled))
}

/// The wait of a blocked thread, on that thread's stack.
pub(crate) struct Waiting<'a> {
    /// Takes the thread out of what it waits for; `false` if another thread has woken it, or is
    /// about to. So it is woken exactly once.
    withdraw: &'a dyn Fn() -> bool,
    /// False in a destructor of a thread that unwinds: it must not unwind twice.
    cancellable: bool,
    woken: Cell<Woken>,
}

impl<'a> Waiting<'a> {
    #[inline]
    pub(crate) fn new(withdraw: &'a dyn Fn() -> bool) -> Self {
        Self {
            withdraw,
            cancellable: !panicking(),
            woken: Cell::new(Woken::Granted),
        }
    }

    #[inline]
    pub(crate) fn woken(&self) -> Woken {
        self.woken.get()
    }

    /// Ends the wait early; `false` if it has ended, or is about to.
    pub(super) fn end(&self, cause: Woken) -> bool {
        let refused = cause == Woken::Cancelled && !self.cancellable;
        let ends = !refused && self.woken.get() == Woken::Granted && (self.withdraw)();
        if ends {
            self.woken.set(cause);
        }
        ends
    }
}
