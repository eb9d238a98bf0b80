//! What a lock does against priority inversion.

use super::RawLock;
use crate::scheduler::{Priority, Schedulable};
use crate::thread::Control;
use crate::trace::Kind;
use crate::worker::Worker;

/// What a lock does to the priority of its owner.
///
/// Both remedies are those of Sha, Rajkumar and Lehoczky, *Priority Inheritance Protocols* (IEEE
/// Transactions on Computers 39, 1990); the ceiling is the immediate one that POSIX calls
/// `PTHREAD_PRIO_PROTECT`.
///
/// ```
/// use uthread::{Lock, Protocol};
///
/// let lock = Lock::with_protocol(0, Protocol::Inheritance);
/// assert_eq!(lock.protocol(), Protocol::Inheritance);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Nothing: a thread of middle priority can keep one of high priority waiting for a lock that
    /// one of low priority holds.
    #[default]
    None,
    /// The owner has at least the priority of every thread that waits, also through a chain of
    /// locks.
    Inheritance,
    /// The owner has at least this priority. Locking by a thread of a higher one is a panic.
    Ceiling(Priority),
}

/// Makes a change to the priority of a thread and carries it on: to the queue in which the thread
/// is ready, or along the chain of locks for which it waits. The graph must be held.
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
        // SAFETY: a lock for which a thread waits is borrowed by it.
        let Some(lock) = (unsafe { thread.blocked_on.get().as_ref() }) else {
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
    /// The owner, if it inherits.
    #[inline]
    fn heir_counting_owner(&self) -> Option<&Control> {
        if self.protocol() == Protocol::Inheritance {
            self.owner()
        } else {
            None
        }
    }

    /// `thread` begins to wait for this lock. The graph must be held.
    #[inline]
    pub(super) fn lend(&self, worker: &Worker, thread: &Control) {
        thread.blocked_on.set(self);
        if let Some(owner) = self.heir_counting_owner() {
            let priority = thread.rank().effective();
            self.lent.add(priority);
            owner.heirs.add(priority);
            inherit(worker, owner);
        }
    }

    /// The owner gives the lock up: what was lent to it for this lock is gone, and its ceiling. The
    /// graph must be held, if others wait.
    #[inline]
    pub(super) fn disown(&self, worker: &Worker, owner: &Control) {
        owner.locks.set(owner.locks.get() - 1);
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

    /// `thread`, which may have waited for the lock, has become its owner. The graph must be held,
    /// if others wait.
    #[inline]
    pub(super) fn endow(&self, worker: &Worker, thread: &Control, waited: bool) {
        thread.locks.set(thread.locks.get() + 1);
        match self.protocol() {
            Protocol::None => {}
            Protocol::Inheritance => {
                if waited {
                    self.lent.remove(thread.rank().effective());
                }
                thread.blocked_on.set(core::ptr::null());
                thread.heirs.add_all(&self.lent);
                inherit(worker, thread);
            }
            Protocol::Ceiling(ceiling) => {
                thread.ceilings.add(ceiling);
                thread.rank().set_ceiling(thread.ceilings.highest());
            }
        }
        thread.blocked_on.set(core::ptr::null());
    }
}

fn inherit(worker: &Worker, owner: &Control) {
    reprioritize(worker, owner, |owner| {
        owner.rank().set_inherited(owner.heirs.highest());
    });
}
