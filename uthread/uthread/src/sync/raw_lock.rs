//! The lock without its value: ownership, waiting, handover.

use core::fmt::Write as _;
use core::ptr;
use core::time::Duration;

use super::Protocol;
use super::homed::Homed;
use super::owner::Owner;
use crate::atomic::{AtomicPtr, AtomicU32};
use crate::scheduler::{Priority, Schedulable, Tally, Waiters};
use crate::thread::{Control, Wait, Woken};
use crate::worker::{Home, Worker, current_worker, enter, leave, leave_blocking, require_worker};

/// The first waiter of a barging lock is overtaken at most this many times.
const MOST_PASSES: u32 = 256;

/// A lock with an owner and two queues: one for entering threads, and an urgent queue for threads
/// that were inside before, which is served first. The lock of the wait-for graph protects the
/// queues.
pub(crate) struct RawLock {
    pub(super) owner: Owner<Control, MOST_PASSES>,
    pub(super) home: Home,
    /// The home that a lock without a ceiling had when it was last taken slowly, in a runtime with one worker. So one look
    /// finds whether it may be taken quickly.
    pub(super) quick: Home,
    pub(super) protocol: Protocol,
    /// Running threads may overtake those that wait.
    pub(super) barging: bool,
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
        if self.stayed_in_parent() {
            return None;
        }
        let lock = RawLock::awaited_by(self)?;
        if self.has_time_limit.get() {
            None
        } else {
            lock.owner()
        }
    }
}

/// Reason that a thread may not wait for a lock.
pub(super) enum Refusal {
    Recursive,
    Cycle(String),
}

impl Refusal {
    pub(super) fn report(&self, me: &Control) -> ! {
        leave();
        match self {
            Self::Recursive => panic!("{} locks a lock that it holds", me.label()),
            Self::Cycle(cycle) => panic!("deadlock: {cycle}"),
        }
    }
}

/// The address of a thread, as the owner of a lock.
#[inline]
pub(super) fn address(thread: &Control) -> *mut Control {
    ptr::from_ref(thread).cast_mut()
}

impl Homed for RawLock {
    #[inline]
    fn home(&self) -> &Home {
        &self.home
    }

    /// Leaves the owner as it is: a thread that does not run any more holds the lock for good.
    #[cold]
    fn forget_waiters(&self) {
        self.entry.forget();
        self.urgent.forget();
        self.owner.forget_waiters();
        if self.is_mine()
            && let Some(me) = self.owner()
        {
            me.heirs.take_back(&self.lent);
            me.rank().set_inherited(me.heirs.highest());
        }
        self.lent.take_back(&self.lent);
    }
}

impl RawLock {
    /// The lock that a thread waits for. The wait-for graph must be locked.
    pub(super) fn awaited_by(thread: &Control) -> Option<&Self> {
        // SAFETY: only `lend` sets it, to a lock that the thread borrows while it waits.
        unsafe { thread.blocked_on.get().cast::<Self>().as_ref() }
    }

    pub(super) const fn new(protocol: Protocol, barging: bool) -> Self {
        Self {
            owner: Owner::new(AtomicPtr::new(ptr::null_mut()), AtomicU32::new(0)),
            home: Home::new(),
            quick: Home::new(),
            protocol,
            barging,
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
        // SAFETY: an owner is alive until it has unlocked, even if its guard was forgotten.
        unsafe { self.owner.get().as_ref() }
    }

    /// The worker, for an operation on this lock that may block. Preemption is disabled afterwards.
    #[inline]
    pub(super) fn enter(&self, operation: &str) -> &'static Worker {
        let worker = require_worker(operation);
        self.check(worker, operation);
        worker.enter_blocking(operation);
        worker
    }

    /// Takes the lock if it is free, before threads that wait.
    pub(super) fn barge(&self, worker: &Worker, me: &Control) -> bool {
        self.barging && self.owner.barge(worker.several, address(me))
    }

    /// Frees the lock of the running thread, if a thread that waits for it is about to come.
    pub(super) fn let_heir_come(&self, worker: &Worker, me: &Control) -> bool {
        self.barging
            && self.is_of(me)
            && self.owner.leave_to_heir(worker.several, || worker.now_ns())
    }

    /// True if the thread owns the lock.
    #[inline]
    pub(super) fn is_of(&self, thread: &Control) -> bool {
        ptr::eq(self.owner.get(), thread)
    }

    /// True if the running thread owns the lock.
    #[inline]
    pub(super) fn is_mine(&self) -> bool {
        current_worker().is_some_and(|worker| self.is_of(worker.current()))
    }

    /// Waits for the lock, but not longer than `limit`; `false` if that has passed.
    #[cold]
    pub(super) fn lock_within(&self, operation: &str, limit: Option<Duration>) -> bool {
        let worker = self.enter(operation);
        let me = worker.current();
        if let Protocol::Ceiling(ceiling) = self.protocol
            && me.rank().assigned() > ceiling
        {
            above_ceiling(me, ceiling);
        }
        let woken = if self.owner.try_own(worker.several, address(me)) {
            self.endow_new(worker, me);
            Woken::Granted
        } else {
            self.wait_for(worker, me, limit)
        };
        leave_blocking();
        woken.in_time()
    }

    #[inline]
    pub(super) fn try_lock(&self) -> bool {
        let worker = require_worker("Lock::try_lock");
        self.check(worker, "Lock::try_lock");
        enter();
        let me = worker.current();
        if let Protocol::Ceiling(ceiling) = self.protocol
            && me.rank().assigned() > ceiling
        {
            above_ceiling(me, ceiling);
        }
        let owned = self.own_if_free(worker, me);
        leave();
        owned
    }

    /// Takes the lock if it is free, also before threads that wait if that is allowed.
    #[inline]
    pub(super) fn own_if_free(&self, worker: &Worker, me: &Control) -> bool {
        let owned = self.owner.try_own(worker.several, address(me)) || self.barge(worker, me);
        if owned {
            self.endow_new(worker, me);
        }
        owned
    }

    /// The lock was free, so no thread has lent its priority.
    #[inline]
    fn endow_new(&self, worker: &Worker, me: &Control) {
        match self.protocol {
            Protocol::None | Protocol::Inheritance => {
                me.locks.take();
                if !worker.several {
                    self.quick.follow(&self.home);
                }
            }
            Protocol::Ceiling(_) => self.endow(worker, me, false),
        }
    }

    #[cold]
    fn wait_for(&self, worker: &Worker, me: &Control, limit: Option<Duration>) -> Woken {
        if self.barge(worker, me) {
            self.endow_new(worker, me);
            return Woken::Granted;
        }
        let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
        // SAFETY: preemption is disabled, and all threads of this runtime pass the same `exposed`.
        let refusal = unsafe {
            worker.shared.graph.with(worker.exposed(), |()| {
                if self.owner.own_or_contend(worker.several, address(me)) {
                    self.endow(worker, me, false);
                    return None;
                }
                let refusal = self.refuse(me, limit.is_some());
                if refusal.is_none() {
                    self.entry.push_back(me);
                    me.has_time_limit.set(limit.is_some());
                    self.lend(worker, me);
                    return Some(Ok(()));
                }
                refusal.map(Err)
            })
        };
        match refusal {
            None => Woken::Granted,
            // The unlocking thread makes this thread the owner before it wakes it.
            Some(Ok(())) => {
                let withdraw = || self.withdraw(worker, me);
                let wait = || worker.block_until(Wait::Lock, deadline_ns, withdraw);
                let mut woken = wait();
                if woken == Woken::Granted && self.barging {
                    let refuse = || self.refuse(me, limit.is_some());
                    woken = self.take_turn(worker, me, refuse, wait);
                }
                // Later waits, as for the lock after a condition variable, have no limit.
                me.has_time_limit.set(false);
                woken
            }
            Some(Err(refusal)) => refusal.report(me),
        }
    }

    /// Ends the wait of a thread whose time is up; `false` if it owns the lock by now.
    pub(super) fn withdraw(&self, worker: &Worker, thread: &Control) -> bool {
        // SAFETY: same as in `wait_for`; the thread waits here or did so last.
        unsafe {
            worker.shared.graph.with(worker.exposed(), |()| {
                let withdrawn = self.entry.withdraw(thread);
                if withdrawn {
                    self.take_back(worker, thread);
                }
                withdrawn
            })
        }
    }

    /// Follows the chain of owners. If it leads back to `me`, waiting would never end, unless a
    /// thread of the chain waits with a time limit.
    pub(super) fn refuse(&self, me: &Control, has_time_limit: bool) -> Option<Refusal> {
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

    #[cold]
    pub(super) fn unlock_within(&self) {
        let worker = require_worker("Lock::unlock");
        enter();
        let me = worker.current();
        if self.owner.try_free(worker.several, address(me)) {
            match self.protocol {
                Protocol::None | Protocol::Inheritance => me.locks.release(),
                Protocol::Ceiling(_) => self.disown(worker, me),
            }
        } else {
            self.unlock_contended(worker, me);
        }
        leave();
    }

    #[cold]
    fn unlock_contended(&self, worker: &Worker, me: &Control) {
        if !self.is_of(me) {
            leave();
            panic!("{} unlocks a lock that it does not hold", me.label());
        }
        // The thread may hold the lock since before a fork.
        self.check(worker, "Lock::unlock");
        if self.let_heir_come(worker, me) {
            me.locks.release();
            return;
        }
        // SAFETY: same as in `wait_for`.
        let next = unsafe {
            worker.shared.graph.with(worker.exposed(), |()| {
                if self.barging && self.owner.may_be_passed() {
                    self.let_pass(worker, me)
                } else {
                    self.pass_on(worker, me)
                }
            })
        };
        if let Some(next) = next {
            worker.wake(next);
        }
    }

    /// Gives the lock to the first waiter, or frees it. The wait-for graph must be locked.
    #[inline]
    pub(super) fn pass_on(&self, worker: &Worker, me: &Control) -> Option<&'static Control> {
        self.disown(worker, me);
        let urgent = self.urgent.pop_front();
        if self.barging && urgent.is_none() {
            if self.give_to_heir(worker) {
                return None;
            }
            self.owner.forget_passes();
        }
        let Some(next) = urgent.or_else(|| self.entry.pop_front()) else {
            self.owner.free();
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
        let urgent = !self.urgent.is_empty();
        let others_wait = urgent || !self.entry.is_empty();
        self.owner.give(address(next), others_wait, urgent);
        next.blocked_on.set(ptr::null());
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
        self.owner.contend(ptr::eq(queue, &raw const self.urgent));
    }

    /// Gives the lock to a thread that waited on a condition variable, which the caller wakes, or moves it to
    /// the lock's waiters. The wait-for graph must be locked.
    pub(super) fn admit<'a>(&self, worker: &Worker, thread: &'a Control) -> Option<&'a Control> {
        if self.owner.own_or_contend(worker.several, address(thread)) {
            self.endow(worker, thread, false);
            return Some(thread);
        }
        // SAFETY: as above.
        unsafe { self.entry.push_back(thread) };
        self.lend(worker, thread);
        None
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
