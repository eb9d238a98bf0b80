//! Helpers that several tests share.

use oscope_instrument::clock::Clock;
use platform::usage::Usage;
use std::cell::Cell;
use std::rc::Rc;

/// A clock that advances only when told to; its clones show the same time.
#[derive(Clone, Default)]
pub(crate) struct MockClock(Rc<Cell<u64>>);

impl MockClock {
    pub(crate) fn advance(&self, ns: i64) {
        self.0.set(self.0.get().saturating_add_signed(ns));
    }
}

impl Clock for MockClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    fn usage(&self) -> platform::Result<Usage> {
        Ok(Usage::default())
    }
}
