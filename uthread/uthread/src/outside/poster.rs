//! Permits from signal handlers.

use core::fmt;
use std::sync::Arc;

use super::external::{External, external};
use crate::preempt::Errno;
use crate::sync::Semaphore;
use crate::worker::{Errand, require_worker};

/// The run has ended, so no thread waits for the permit. Or the poster is from before a fork, and this is the child.
///
/// ```
/// use std::sync::Arc;
/// use uthread::{Poster, RuntimeEnded, Semaphore};
///
/// let poster = uthread::run(|| Poster::new(Arc::new(Semaphore::new(0))));
/// assert_eq!(poster.post(), Err(RuntimeEnded));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the runtime has ended")]
pub struct RuntimeEnded;

/// Releases permits of a semaphore from anywhere, also from a signal handler. While it exists, threads that all wait are
/// no deadlock, as with [`External`].
///
/// ```
/// use std::sync::Arc;
/// use uthread::{Poster, Semaphore};
///
/// uthread::run(|| {
///     let semaphore = Arc::new(Semaphore::new(0));
///     let poster = Poster::new(Arc::clone(&semaphore));
///     std::thread::spawn(move || poster.post().unwrap());
///     semaphore.acquire();
/// });
/// ```
pub struct Poster {
    errand: Arc<Errand>,
    /// The worker on which it was made adds the permits.
    worker: usize,
    external: External,
}

impl Poster {
    /// A poster for a semaphore of the caller's runtime.
    ///
    /// # Panics
    /// Outside a runtime, and if the semaphore belongs to another one.
    #[must_use = "it only posts when asked"]
    pub fn new(semaphore: Arc<Semaphore>) -> Self {
        semaphore.claim("Poster::new");
        let work = move |permits| semaphore.add(permits);
        Self {
            errand: Errand::new(work),
            worker: require_worker("Poster::new").index,
            external: external(),
        }
    }

    /// Releases one permit. Async-signal-safe: it neither locks nor allocates, and leaves `errno` as it was. A worker
    /// that runs threads adds the permit at its next switch or tick; one that sleeps is woken by a single system call. If
    /// the semaphore has `usize::MAX` permits by then, the new one is lost.
    ///
    /// # Errors
    /// If the run has ended. A permit that comes at that moment may be lost.
    pub fn post(&self) -> Result<(), RuntimeEnded> {
        if self.external.has_ended() {
            return Err(RuntimeEnded);
        }
        let _errno = Errno::keep();
        let remote = &self.external.shared().remotes[self.worker];
        remote.errands.ask(&self.errand);
        remote.bell.ring();
        Ok(())
    }
}

impl Clone for Poster {
    fn clone(&self) -> Self {
        Self {
            errand: Arc::clone(&self.errand),
            worker: self.worker,
            external: self.external.clone(),
        }
    }
}

impl fmt::Debug for Poster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poster").finish_non_exhaustive()
    }
}
