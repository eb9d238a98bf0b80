//! The lock that running threads may take before those that wait.
//!
//! Unlocking frees the lock and wakes the first waiter, the *heir*. Until it comes, running threads
//! take the lock as if nobody waited: without a switch, and without another cache line. The heir looks
//! seldom, since each of its attempts would take the cache line from them. It gets the lock in one of
//! three ways. It takes the lock once no running thread does. After a number of passes, or after a
//! millisecond of them, the lock is handed over to it. Or it has looked long enough: then it waits
//! again, as the first of all, and the next unlocking hands over.

use core::ptr;

use super::owner::Claim;
use super::raw_lock::{RawLock, Refusal, address};
use crate::thread::{Control, Wait, Woken};
use crate::worker::Worker;

/// The heir looks at the lock at most this many times before it waits again, ...
const LOOKS: u32 = 16;
/// ... and spins this many times in between. Other threads of its worker may be ready.
const SPINS: u32 = 24;

impl RawLock {
    /// Frees the lock for running threads, and makes the first waiter the heir, which the caller
    /// wakes. The wait-for graph must be locked.
    pub(super) fn let_pass(&self, worker: &Worker, me: &Control) -> Option<&'static Control> {
        let Some(heir) = self.entry.pop_front() else {
            return self.pass_on(worker, me);
        };
        self.disown(worker, me);
        // SAFETY: a waiting thread is alive until woken.
        let heir = unsafe { &*heir };
        heir.blocked_on.set(ptr::null());
        self.owner.free_for_heir(heir, !self.entry.is_empty());
        Some(heir)
    }

    /// Hands the lock over to the heir, which is awake; `false` if there is none. The wait-for graph
    /// must be locked, and the previous owner disowned.
    pub(super) fn give_to_heir(&self, worker: &Worker) -> bool {
        let Some(heir) = self.owner.heir() else {
            return false;
        };
        // SAFETY: the heir has not had its turn, so it has not ended. Until it sees that it is the
        // owner, it does not use what changes here.
        self.endow(worker, unsafe { &*heir }, false);
        self.owner.give_to_heir(!self.entry.is_empty());
        true
    }

    /// Takes the lock after the wait on a condition variable, from which a notification brought the thread
    /// to the waiters here. The notification is used up, so this wait cannot end early.
    pub(super) fn take_turn_again(&self, worker: &Worker, me: &Control) {
        if self.barging {
            let block = || {
                worker.block(Wait::Lock);
                Woken::Granted
            };
            let _granted = self.take_turn(worker, me, || None, block);
        }
    }

    /// Takes the lock after a wait, which made this thread the owner or the heir, or waits again unless
    /// `refuse` has a reason against it.
    pub(super) fn take_turn(
        &self,
        worker: &Worker,
        me: &Control,
        refuse: impl Fn() -> Option<Refusal>,
        wait: impl Fn() -> Woken,
    ) -> Woken {
        loop {
            match self.claim_soon(worker, me) {
                Claim::Given => return Woken::Granted,
                Claim::Taken => {
                    self.endow(worker, me, false);
                    return Woken::Granted;
                }
                Claim::Refused => {}
            }
            // SAFETY: preemption is disabled, and all threads of this runtime pass the same `exposed`.
            let waits = unsafe {
                worker
                    .shared
                    .graph
                    .with(worker.exposed(), |()| self.wait_again(worker, me, &refuse))
            };
            match waits {
                Ok(false) => return Woken::Granted,
                Ok(true) => {}
                Err(refusal) => refusal.report(me),
            }
            let woken = wait();
            if woken != Woken::Granted {
                return woken;
            }
        }
    }

    /// Takes the lock as soon as no running thread takes it any more, or it is handed over.
    fn claim_soon(&self, worker: &Worker, me: &Control) -> Claim {
        let owner = &self.owner;
        if ptr::eq(owner.get(), me) {
            return Claim::Given;
        }
        if !worker.several {
            return owner.inherit(false, address(me));
        }
        let mut passes = owner.passes();
        for _ in 0..LOOKS {
            (0..SPINS).for_each(|_| core::hint::spin_loop());
            let before = core::mem::replace(&mut passes, owner.passes());
            if ptr::eq(owner.get(), me) {
                return Claim::Given;
            }
            if passes == before {
                let claim = owner.inherit(true, address(me));
                if claim != Claim::Refused {
                    return claim;
                }
            }
        }
        Claim::Refused
    }

    /// Puts the heir back to the front of the waiters; `false` if it owns the lock by now. The
    /// wait-for graph must be locked.
    fn wait_again(
        &self,
        worker: &Worker,
        me: &Control,
        refuse: impl Fn() -> Option<Refusal>,
    ) -> Result<bool, Refusal> {
        match self.owner.inherit_or_contend(worker.several, address(me)) {
            Claim::Given => return Ok(false),
            Claim::Taken => {
                self.endow(worker, me, false);
                return Ok(false);
            }
            Claim::Refused => {}
        }
        if let Some(refusal) = refuse() {
            return Err(refusal);
        }
        // SAFETY: a running thread is in no queue; it stays alive while it waits.
        unsafe { self.entry.push_front(me) };
        self.lend(worker, me);
        Ok(true)
    }
}
