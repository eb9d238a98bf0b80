//! Priorities that go along with locks.

use core::ptr;

use super::protocol::Protocol;
use super::raw_lock::RawLock;
use crate::scheduler::Schedulable;
use crate::thread::Control;
use crate::trace::Kind;
use crate::worker::Worker;

/// Changes the priority of a thread and propagates it: to the queue that contains the thread while
/// it is ready, or along the chain of locks that it waits for. The wait-for graph must be locked.
pub(crate) fn reprioritize(worker: &Worker, thread: &Control, change: impl FnOnce(&Control)) {
    let mut before = thread.rank().effective();
    change(thread);
    let mut thread = thread;
    loop {
        let after = thread.rank().effective();
        if after == before {
            return;
        }
        worker.trace(Kind::Priority(after), thread);
        worker.rank_changed(thread);
        let Some(lock) = RawLock::awaited_by(thread) else {
            return;
        };
        let Some(owner) = lock.heir_counting_owner() else {
            return;
        };
        lock.lent.remove(before);
        lock.lent.add(after);
        owner.heirs.remove(before);
        owner.heirs.add(after);
        before = owner.rank().effective();
        owner.rank().set_inherited(owner.heirs.highest());
        thread = owner;
    }
}

impl RawLock {
    /// The owner, if it inherits priorities: by the protocol, and because it runs in this process.
    #[inline]
    fn heir_counting_owner(&self) -> Option<&Control> {
        if self.protocol() == Protocol::Inheritance {
            self.owner().filter(|owner| !owner.stayed_in_parent())
        } else {
            None
        }
    }

    /// `thread` begins to wait for this lock. The wait-for graph must be locked.
    #[inline]
    pub(super) fn lend(&self, worker: &Worker, thread: &Control) {
        thread.blocked_on.set(ptr::from_ref(self).cast());
        if let Some(owner) = self.heir_counting_owner() {
            let priority = thread.rank().effective();
            self.lent.add(priority);
            owner.heirs.add(priority);
            inherit(worker, owner);
        }
    }

    /// `thread` stops waiting for this lock. The wait-for graph must be locked.
    pub(super) fn take_back(&self, worker: &Worker, thread: &Control) {
        thread.blocked_on.set(ptr::null());
        if let Some(owner) = self.heir_counting_owner() {
            let priority = thread.rank().effective();
            self.lent.remove(priority);
            owner.heirs.remove(priority);
            inherit(worker, owner);
        }
    }

    /// The owner releases the lock. It loses the priorities lent through this lock and the lock's
    /// ceiling. If other threads wait, the wait-for graph must be locked.
    #[inline]
    pub(super) fn disown(&self, worker: &Worker, owner: &Control) {
        owner.locks.release();
        match self.protocol() {
            Protocol::None => {}
            Protocol::Inheritance => {
                owner.heirs.remove_all(&self.lent);
                inherit(worker, owner);
            }
            Protocol::Ceiling(ceiling) => {
                owner.ceilings.remove(ceiling);
                let left = owner.ceilings.highest();
                if left < ceiling {
                    owner.rank().set_ceiling(left);
                    worker.look_later();
                }
            }
        }
    }

    /// `thread`, which may have waited for the lock and waits no more, is now its owner. If other threads
    /// wait, the wait-for graph must be locked.
    #[inline]
    pub(super) fn endow(&self, worker: &Worker, thread: &Control, waited: bool) {
        thread.locks.take();
        match self.protocol() {
            Protocol::None => {}
            Protocol::Inheritance => {
                if waited {
                    self.lent.remove(thread.rank().effective());
                }
                thread.heirs.add_all(&self.lent);
                inherit(worker, thread);
            }
            Protocol::Ceiling(ceiling) => {
                thread.ceilings.add(ceiling);
                thread.rank().set_ceiling(thread.ceilings.highest());
            }
        }
    }
}

fn inherit(worker: &Worker, owner: &Control) {
    reprioritize(worker, owner, |owner| {
        owner.rank().set_inherited(owner.heirs.highest());
    });
}
