//! The lock without its value: ownership, waiting, handover.

use core::fmt::Write as _;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use core::time::Duration;

use super::Protocol;
use crate::scheduler::{Priority, Schedulable, Tally, Waiters};
use crate::thread::{Control, Wait};
use crate::worker::{Home, Worker, enter, leave, require_worker};

/// A flag in the owner word: threads wait, so unlocking must hand over the lock.
const CONTENDED: usize = 1;

/// A lock with an owner and two queues: one for entering threads, and an urgent queue for threads
/// that were inside before, which is served first. The lock of the wait-for graph protects the
/// queues.
pub(crate) struct RawLock {
    owner: AtomicPtr<Control>,
    home: Home,
    protocol: Protocol,
    pub(super) entry: Waiters<Control>,
    pub(super) urgent: Waiters<Control>,
    /// Priorities of all waiters, if the owner inherits them.
    pub(super) lent: Tally,
}

// SAFETY: the queues are used only with the wait-for graph locked, and the rest is `Sync`.
unsafe impl Sync for RawLock {}
// SAFETY: a lock that can be moved is not borrowed, hence no thread waits for it.
unsafe impl Send for RawLock {}

impl Control {
    /// The owner of the lock that the thread waits for, if it does so without a time limit. The
    /// wait-for graph must be locked.
    fn waits_for(&self) -> Option<&Self> {
        let lock = RawLock::awaited_by(self)?;
        if self.has_time_limit.get() {
            None
        } else {
            lock.owner()
        }
    }
}

/// Reason that a thread may not wait for a lock.
enum Refusal {
    Recursive,
    Cycle(String),
}

impl RawLock {
    /// The lock that a thread waits for. The wait-for graph must be locked.
    pub(super) fn awaited_by(thread: &Control) -> Option<&Self> {
        // SAFETY: only `lend` sets it, to a lock that the thread borrows while it waits.
        unsafe { thread.blocked_on.get().cast::<Self>().as_ref() }
    }

    pub(super) const fn new(protocol: Protocol) -> Self {
        Self {
            owner: AtomicPtr::new(ptr::null_mut()),
            home: Home::new(),
            protocol,
            entry: Waiters::new(),
            urgent: Waiters::new(),
            lent: Tally::new(),
        }
    }

    #[inline]
    pub(super) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The owner; stable only while the wait-for graph is locked and a thread waits.
    #[inline]
    pub(super) fn owner(&self) -> Option<&Control> {
        let owner = self
            .owner
            .load(Ordering::Acquire)
            .map_addr(|a| a & !CONTENDED);
        // SAFETY: an owner is alive until it has unlocked, even if its guard was forgotten.
        unsafe { owner.as_ref() }
    }

    /// The worker, for an operation on this lock that may block. Preemption is disabled afterwards.
    #[inline]
    pub(super) fn enter(&self, operation: &str) -> &'static Worker {
        let worker = require_worker(operation);
        self.home.check(&worker.shared, operation);
        worker.enter_blocking(operation);
        worker
    }

    #[inline]
    fn try_own(&self, several: bool, me: &Control) -> bool {
        let me = ptr::from_ref(me).cast_mut();
        if several {
            let free = ptr::null_mut();
            // An attempt to write would take the cache line from the owner for nothing.
            return self.owner.load(Ordering::Relaxed).is_null()
                && self
                    .owner
                    .compare_exchange(free, me, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok();
        }
        let free = self.owner.load(Ordering::Relaxed).is_null();
        if free {
            self.owner.store(me, Ordering::Relaxed);
        }
        free
    }

    #[inline]
    pub(super) fn lock(&self) {
        self.lock_within("Lock::lock", None);
    }

    /// Waits for the lock, but not longer than `limit`; `false` if that has passed.
    #[inline]
    pub(super) fn lock_within(&self, operation: &str, limit: Option<Duration>) -> bool {
        let worker = self.enter(operation);
        let me = worker.current();
        if let Protocol::Ceiling(ceiling) = self.protocol
            && me.rank().assigned() > ceiling
        {
            above_ceiling(me, ceiling);
        }
        let owned = if self.try_own(worker.several, me) {
            self.endow_new(worker, me);
            true
        } else {
            self.wait_for(worker, me, limit)
        };
        leave();
        owned
    }

    #[inline]
    pub(super) fn try_lock(&self) -> bool {
        let worker = require_worker("Lock::try_lock");
        self.home.check(&worker.shared, "Lock::try_lock");
        enter();
        let me = worker.current();
        if let Protocol::Ceiling(ceiling) = self.protocol
            && me.rank().assigned() > ceiling
        {
            above_ceiling(me, ceiling);
        }
        let owned = self.try_own(worker.several, me);
        if owned {
            self.endow_new(worker, me);
        }
        leave();
        owned
    }

    /// The lock was free, so no thread has lent its priority.
    #[inline]
    fn endow_new(&self, worker: &Worker, me: &Control) {
        match self.protocol {
            Protocol::None | Protocol::Inheritance => me.locks.set(me.locks.get() + 1),
            Protocol::Ceiling(_) => self.endow(worker, me, false),
        }
    }

    #[cold]
    fn wait_for(&self, worker: &Worker, me: &Control, limit: Option<Duration>) -> bool {
        me.has_time_limit.set(limit.is_some());
        let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
        // SAFETY: preemption is disabled, and all threads of this runtime pass the same `several`.
        let refusal = unsafe {
            worker.shared.graph.with(worker.several, |()| {
                if self.own_or_contend(worker.several, me) {
                    self.endow(worker, me, false);
                    return None;
                }
                let refusal = self.refuse(me, limit.is_some());
                if refusal.is_none() {
                    self.entry.push_back(me);
                    self.lend(worker, me);
                    return Some(Ok(()));
                }
                refusal.map(Err)
            })
        };
        match refusal {
            None => true,
            // The unlocking thread makes this thread the owner before it wakes it.
            Some(Ok(())) => {
                let withdraw = || self.withdraw(worker, me);
                worker.block_until(Wait::Lock, deadline_ns, withdraw)
            }
            Some(Err(refusal)) => {
                leave();
                match refusal {
                    Refusal::Recursive => panic!("{} locks a lock that it holds", me.label()),
                    Refusal::Cycle(cycle) => panic!("deadlock: {cycle}"),
                }
            }
        }
    }

    /// Ends the wait of a thread whose time is up; `false` if it owns the lock by now.
    fn withdraw(&self, worker: &Worker, thread: &Control) -> bool {
        // SAFETY: same as in `wait_for`; the thread waits here or did so last.
        unsafe {
            worker.shared.graph.with(worker.several, |()| {
                let withdrawn = self.entry.withdraw(thread);
                if withdrawn {
                    self.take_back(worker, thread);
                }
                withdrawn
            })
        }
    }

    /// Takes the lock if it is free by now. Otherwise tells its owner that a thread waits.
    fn own_or_contend(&self, several: bool, me: &Control) -> bool {
        loop {
            if self.try_own(several, me) {
                return true;
            }
            let owner = self.owner.load(Ordering::Relaxed);
            if owner.is_null() {
                continue;
            }
            let marked = owner.map_addr(|a| a | CONTENDED);
            if owner == marked {
                return false;
            }
            if !several {
                self.owner.store(marked, Ordering::Relaxed);
                return false;
            }
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            if self
                .owner
                .compare_exchange(owner, marked, success, failure)
                .is_ok()
            {
                return false;
            }
        }
    }

    /// Follows the chain of owners. If it leads back to `me`, waiting would never end, unless a
    /// thread of the chain waits with a time limit.
    fn refuse(&self, me: &Control, has_time_limit: bool) -> Option<Refusal> {
        let mut owner = self.owner()?;
        if ptr::eq(owner, me) {
            return Some(Refusal::Recursive);
        }
        if has_time_limit {
            return None;
        }
        while let Some(next) = owner.waits_for() {
            if ptr::eq(next, me) {
                return Some(Refusal::Cycle(self.cycle(me)));
            }
            owner = next;
        }
        None
    }

    /// Describes the chain that leads back to `me`.
    #[cold]
    fn cycle(&self, me: &Control) -> String {
        let mut words = format!("{} waits for a lock", me.label());
        let mut owner = self.owner();
        while let Some(thread) = owner {
            let _ = write!(words, " of {}", thread.label());
            if ptr::eq(thread, me) {
                break;
            }
            words.push_str(", which waits for one");
            owner = thread.waits_for();
        }
        words
    }

    #[inline]
    pub(super) fn unlock(&self) {
        let worker = require_worker("Lock::unlock");
        enter();
        let me = worker.current();
        if self.try_free(worker.several, me) {
            match self.protocol {
                Protocol::None | Protocol::Inheritance => me.locks.set(me.locks.get() - 1),
                Protocol::Ceiling(_) => self.disown(worker, me),
            }
        } else {
            self.unlock_contended(worker, me);
        }
        leave();
    }

    #[inline]
    fn try_free(&self, several: bool, me: &Control) -> bool {
        let me = ptr::from_ref(me).cast_mut();
        if several {
            let free = ptr::null_mut();
            return self
                .owner
                .compare_exchange(me, free, Ordering::Release, Ordering::Relaxed)
                .is_ok();
        }
        let alone = self.owner.load(Ordering::Relaxed) == me;
        if alone {
            self.owner.store(ptr::null_mut(), Ordering::Relaxed);
        }
        alone
    }

    #[cold]
    fn unlock_contended(&self, worker: &Worker, me: &Control) {
        if !self.owner().is_some_and(|owner| ptr::eq(owner, me)) {
            leave();
            panic!("{} unlocks a lock that it does not hold", me.label());
        }
        // SAFETY: same as in `wait_for`.
        let next = unsafe {
            worker
                .shared
                .graph
                .with(worker.several, |()| self.pass_on(worker, me))
        };
        if let Some(next) = next {
            worker.wake(next);
        }
    }

    /// Gives the lock to the first waiter, or frees it. The wait-for graph must be locked.
    #[inline]
    pub(super) fn pass_on(&self, worker: &Worker, me: &Control) -> Option<&'static Control> {
        self.disown(worker, me);
        let next = self.urgent.pop_front().or_else(|| self.entry.pop_front());
        let Some(next) = next else {
            self.owner.store(ptr::null_mut(), Ordering::Release);
            return None;
        };
        // SAFETY: a waiting thread is alive until woken.
        let next = unsafe { &*next };
        self.give_to(worker, next, true);
        Some(next)
    }

    /// Makes `next` the owner. The wait-for graph must be locked, and the previous owner disowned.
    #[inline]
    pub(super) fn give_to(&self, worker: &Worker, next: &Control, waited: bool) {
        let contended = !self.urgent.is_empty() || !self.entry.is_empty();
        let owner = ptr::from_ref(next).cast_mut();
        let owner = owner.map_addr(|a| if contended { a | CONTENDED } else { a });
        self.owner.store(owner, Ordering::Release);
        self.endow(worker, next, waited);
    }

    /// Moves a thread that waited on a condition variable to the lock's waiters. The wait-for graph
    /// must be locked, and the lock must have an owner.
    pub(super) fn enqueue(
        &self,
        worker: &Worker,
        queue: &Waiters<Control>,
        thread: *const Control,
    ) {
        // SAFETY: it was taken out of the queue of the condition variable, and is alive until
        // woken.
        unsafe {
            queue.push_back(thread);
            self.lend(worker, &*thread);
        }
        // The owner is the caller, so no other thread changes it.
        let owner = self.owner.load(Ordering::Relaxed);
        self.owner
            .store(owner.map_addr(|a| a | CONTENDED), Ordering::Relaxed);
    }
}

#[cold]
#[inline(never)]
fn above_ceiling(me: &Control, ceiling: Priority) -> ! {
    leave();
    let own = me.rank().assigned();
    panic!(
        "{} of priority {own} locks a lock whose ceiling is {ceiling}",
        me.label()
    )
}
