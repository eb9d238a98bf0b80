//! Work that signal handlers and kernel threads ask a worker to do.

use std::sync::Arc;

use super::inbox::Inbox;
use crate::atomic::{AtomicUsize, Ordering};
use crate::scheduler::{Linked, Links};

/// Work that others ask for any number of times before the worker does it, with that number.
pub(crate) struct Errand {
    links: Links<Self>,
    /// Above zero, it is in an inbox or about to be.
    times: AtomicUsize,
    work: Box<dyn Fn(usize) + Send + Sync>,
}

// SAFETY: the links belong to the one who has made `times` more than zero, then to the inbox.
unsafe impl Send for Errand {}
// SAFETY: as above.
unsafe impl Sync for Errand {}

impl Linked for Errand {
    fn links(&self) -> &Links<Self> {
        &self.links
    }
}

impl Errand {
    pub(crate) fn new(work: impl Fn(usize) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            links: Links::new(),
            times: AtomicUsize::new(0),
            work: Box::new(work),
        })
    }
}

/// The errands of one worker.
pub(crate) struct Errands(Inbox<Errand>);

impl Errands {
    pub(crate) fn new() -> Self {
        Self(Inbox::new())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Asks for an errand once more. Async-signal-safe: it neither locks nor allocates. Ring the worker's bell afterwards.
    pub(crate) fn ask(&self, errand: &Arc<Errand>) {
        if errand.times.fetch_add(1, Ordering::AcqRel) == 0 {
            let errand = Arc::into_raw(Arc::clone(errand));
            // SAFETY: the first one to ask finds it in no inbox, and the inbox has a reference of its own.
            unsafe { self.0.push(errand) };
        }
    }

    /// Does all errands that others have asked for.
    pub(crate) fn run(&self) {
        self.take_all(|errand| {
            // From here on, others may put it into an inbox again.
            let times = errand.times.swap(0, Ordering::AcqRel);
            (errand.work)(times);
        });
    }

    fn take_all(&self, each: impl Fn(Arc<Errand>)) {
        self.0.take_all(|errand| {
            // SAFETY: the reference of `ask`.
            each(unsafe { Arc::from_raw(errand) });
        });
    }
}

impl Drop for Errands {
    /// Errands that others asked for at the end of the runtime are not done.
    fn drop(&mut self) {
        self.take_all(drop);
    }
}
