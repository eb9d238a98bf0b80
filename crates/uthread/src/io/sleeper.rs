//! The order in which sleeping threads wake.

use core::cmp::Ordering as Order;

use crate::thread::Control;

/// A sleeping thread. The greatest in the order wakes first.
pub(crate) struct Sleeper {
    pub(crate) deadline_ns: u64,
    pub(crate) thread: *const Control,
    id: u64,
}

impl Sleeper {
    /// `thread` sleeps until `deadline_ns` on the runtime's clock.
    pub(super) fn new(thread: &Control, deadline_ns: u64) -> Self {
        Self {
            deadline_ns,
            thread,
            id: thread.id,
        }
    }

    fn key(&self) -> (u64, u64) {
        (self.deadline_ns, self.id)
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> Order {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Sleeper {}
