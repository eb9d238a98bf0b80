//! The rest of a worker that does not look for work by itself: others must wake it, or make it tick.

use crate::atomic::{AtomicU32, Ordering, fence};

/// The reasons not to look for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It sleeps, or is about to.
    Asleep = 1,
    /// It runs a thread and gets no ticks.
    Quiet = 2,
}

/// Either the one who publishes work finds that its worker rests, or the worker finds the work.
pub(crate) struct Slumber(AtomicU32);

const AWAKE: u32 = 0;

impl Slumber {
    /// `awake` is zero.
    pub(crate) const fn new(awake: AtomicU32) -> Self {
        Self(awake)
    }

    /// Announces a rest. The caller must look for work after this, before it rests.
    pub(crate) fn announce(&self, rest: Rest) {
        self.0.store(rest as u32, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Withdraws the announcement.
    pub(crate) fn withdraw(&self) {
        self.0.store(AWAKE, Ordering::Relaxed);
    }

    /// The rest that the worker has announced, for one caller. Call this after publishing the work.
    ///
    /// The state of a worker that is awake stays in the caches of all others: this only reads it.
    pub(crate) fn end(&self) -> Option<Rest> {
        fence(Ordering::SeqCst);
        if self.0.load(Ordering::Relaxed) == AWAKE {
            return None;
        }
        let rest = self.0.swap(AWAKE, Ordering::Relaxed);
        [Rest::Asleep, Rest::Quiet]
            .into_iter()
            .find(|one| *one as u32 == rest)
    }

    /// True if the worker has announced this rest, for one caller; a fence, as in [`Slumber::end`], must be between this
    /// and publishing the work.
    pub(crate) fn end_if(&self, rest: Rest) -> bool {
        self.0.load(Ordering::Relaxed) == rest as u32 && {
            let (now, awake) = (Ordering::Relaxed, AWAKE);
            let ended = self.0.compare_exchange(rest as u32, awake, now, now);
            ended.is_ok()
        }
    }
}
