//! The use of a runtime's objects by kernel threads that are not its workers.

use super::local::{enter, leave};
use super::registry::live;
use super::shared::Shared;
use crate::thread::Control;

/// The permission to use the objects of a runtime under their spin locks, or objects that belong to no runtime now.
pub(crate) struct Visit<'a>(Option<&'a Shared>);

/// Calls `work` with the permission for a live runtime, or for what no live runtime owns. Until it returns, no runtime
/// claims an object or ends. `None` if the runtime is not open to others.
#[cold]
pub(crate) fn visit<R>(
    runtime: impl FnOnce() -> u32,
    work: impl FnOnce(&Visit<'_>) -> R,
) -> Option<R> {
    enter();
    let live = live();
    let result = match live.get(runtime()) {
        Some(None) => None,
        Some(Some(shared)) => Some(work(&Visit(Some(shared)))),
        None => Some(work(&Visit(None))),
    };
    drop(live);
    leave();
    result
}

impl Visit<'_> {
    /// The runtime, if it is live.
    pub(crate) fn runtime(&self) -> Option<&Shared> {
        self.0
    }

    /// Makes a blocked thread ready. No other thread may wake the same thread.
    pub(crate) fn wake(&self, thread: &Control) {
        match self.0 {
            Some(shared) => shared.wake(thread),
            // No user thread waits for an object that no runtime owns.
            None => thread.unpark(),
        }
    }
}
