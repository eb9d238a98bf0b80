//! Helpers that several tests share.

use oscope_instrument::clock::Clock;
use platform::usage::Usage;
use std::cell::Cell;
use std::rc::Rc;

/// A clock that advances only where a test says so, and by the cost of each reading; its clones show the same time.
#[derive(Clone, Default)]
pub(crate) struct MockClock {
    now_ns: Rc<Cell<u64>>,
    cost_ns: u64,
}

impl MockClock {
    pub(crate) fn of_cost(cost_ns: u64) -> Self {
        Self {
            cost_ns,
            ..Self::default()
        }
    }

    pub(crate) fn advance(&self, ns: i64) {
        self.now_ns.set(self.now_ns.get().saturating_add_signed(ns));
    }
}

impl Clock for MockClock {
    fn now_ns(&self) -> u64 {
        let now_ns = self.now_ns.get();
        self.now_ns.set(now_ns + self.cost_ns);
        now_ns
    }

    fn usage(&self) -> platform::Result<Usage> {
        Ok(Usage::default())
    }
}
