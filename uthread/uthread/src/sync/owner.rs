//! The owner of a lock, with flags about its waiters in the same word.

use core::cell::Cell;
use core::ptr;

use crate::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Threads wait, so unlocking takes the slow path.
const CONTENDED: usize = 1;
/// Unlocking must hand the lock over: no thread may overtake the waiters now.
const HANDOVER: usize = 2;
/// A waiter of a barging lock, the heir, was woken and is about to take the lock.
const WOKEN: usize = 4;
const FLAGS: usize = CONTENDED | HANDOVER | WOKEN;

/// The first waiter of a barging lock is overtaken for at most this time, as with Go's mutex.
const MOST_NS: u64 = 1_000_000;

/// Result of an attempt to take the lock as the heir.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Another thread holds it.
    Refused,
    /// It was free, and is the heir's now.
    Taken,
    /// It has been handed over to the heir.
    Given,
}

/// The owner of a lock. Some methods need the queues locked: then no other thread changes a flag or
/// hands the lock over, but it may still be taken while it is free, and freed by its owner.
///
/// In a runtime that does not have `several` workers, disabled preemption excludes all others.
///
/// Running threads overtake the first waiter of a barging lock at most `MOST_PASSES` times, and not after
/// [`MOST_NS`].
pub(crate) struct Owner<T, const MOST_PASSES: u32> {
    word: AtomicPtr<T>,
    /// The waiter on its way, valid while `WOKEN` is set; protected by the lock of the queues.
    heir: Cell<*const T>,
    /// Number of times that running threads have overtaken the waiters. Only the owner changes it.
    passes: AtomicU32,
    /// The time of the first of them. Only the owner uses it.
    passed_since_ns: Cell<u64>,
}

// SAFETY: the comments of the cells say who may use them.
unsafe impl<T, const MOST_PASSES: u32> Sync for Owner<T, MOST_PASSES> {}
// SAFETY: as above.
unsafe impl<T, const MOST_PASSES: u32> Send for Owner<T, MOST_PASSES> {}

fn owner_of<T>(word: *mut T) -> *mut T {
    word.map_addr(|address| address & !FLAGS)
}

fn with_flags<T>(owner: *mut T, flags: usize) -> *mut T {
    owner.map_addr(|address| address | flags)
}

impl<T, const MOST_PASSES: u32> Owner<T, MOST_PASSES> {
    pub(crate) const fn new(free: AtomicPtr<T>, passes: AtomicU32) -> Self {
        Self {
            word: free,
            heir: Cell::new(ptr::null()),
            passes,
            passed_since_ns: Cell::new(0),
        }
    }

    /// The owner, or null.
    #[inline]
    pub(crate) fn get(&self) -> *mut T {
        owner_of(self.word.load(Ordering::Acquire))
    }

    fn flags(&self) -> usize {
        self.word.load(Ordering::Relaxed).addr() & FLAGS
    }

    #[inline]
    fn replace(&self, several: bool, old: *mut T, new: *mut T, order: Ordering) -> bool {
        if several {
            return self
                .word
                .compare_exchange(old, new, order, Ordering::Relaxed)
                .is_ok();
        }
        let found = self.word.load(Ordering::Relaxed) == old;
        if found {
            self.word.store(new, Ordering::Relaxed);
        }
        found
    }

    /// Takes the lock if it is free and no thread waits.
    ///
    /// A thread that takes the lock also publishes what it wrote before (`AcqRel`): others that find it as the
    /// owner read its control block.
    #[inline]
    pub(crate) fn try_own(&self, several: bool, me: *mut T) -> bool {
        // An attempt to write would take the cache line from the owner for nothing.
        self.word.load(Ordering::Relaxed).is_null()
            && self.replace(several, ptr::null_mut(), me, Ordering::AcqRel)
    }

    /// Frees the lock if no thread waits.
    #[inline]
    pub(crate) fn try_free(&self, several: bool, me: *mut T) -> bool {
        // As above: where threads wait, the attempt would fail.
        self.word.load(Ordering::Relaxed) == me
            && self.replace(several, me, ptr::null_mut(), Ordering::Release)
    }

    /// [`try_own`](Self::try_own) without several workers.
    #[inline]
    pub(crate) fn try_own_alone(&self, me: *mut T) -> bool {
        let is_free = self.word.load(Ordering::Relaxed).is_null();
        if is_free {
            self.word.store(me, Ordering::Relaxed);
        }
        is_free
    }

    /// [`try_free`](Self::try_free) without several workers.
    #[inline]
    pub(crate) fn try_free_alone(&self, me: *mut T) -> bool {
        let is_mine = self.word.load(Ordering::Relaxed) == me;
        if is_mine {
            self.word.store(ptr::null_mut(), Ordering::Relaxed);
        }
        is_mine
    }

    /// Takes the lock if it is free, even if threads wait.
    pub(crate) fn barge(&self, several: bool, me: *mut T) -> bool {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if !owner_of(word).is_null() {
                return false;
            }
            let mine = with_flags(me, word.addr());
            if self.replace(several, word, mine, Ordering::AcqRel) {
                return true;
            }
        }
    }

    /// Frees the lock for anybody if the heir is about to come; `false` if the heir has been
    /// overtaken too often or for too long, or there is none.
    pub(crate) fn leave_to_heir(&self, several: bool, now_ns: impl FnOnce() -> u64) -> bool {
        if self.flags() & (WOKEN | HANDOVER) != WOKEN {
            return false;
        }
        let passes = self.passes() + 1;
        if passes >= MOST_PASSES || self.is_overdue(passes, now_ns) {
            return false;
        }
        self.passes.store(passes, Ordering::Relaxed);
        loop {
            let word = self.word.load(Ordering::Relaxed);
            let flags = word.addr() & FLAGS;
            if flags & (WOKEN | HANDOVER) != WOKEN {
                return false;
            }
            let free = with_flags(ptr::null_mut(), flags);
            if self.replace(several, word, free, Ordering::Release) {
                return true;
            }
        }
    }

    /// True if running threads have overtaken the heir for [`MOST_NS`]. Reads the clock at the passes 1, 2, 4
    /// and so on: reading it each time would cost more than the pass.
    fn is_overdue(&self, passes: u32, now_ns: impl FnOnce() -> u64) -> bool {
        if !passes.is_power_of_two() {
            return false;
        }
        let now_ns = now_ns();
        if passes == 1 {
            self.passed_since_ns.set(now_ns);
        }
        now_ns.saturating_sub(self.passed_since_ns.get()) >= MOST_NS
    }

    /// Number of times that running threads have overtaken the waiters.
    pub(crate) fn passes(&self) -> u32 {
        self.passes.load(Ordering::Relaxed)
    }

    /// The heir takes the lock if it is free, or was handed over to it.
    pub(crate) fn inherit(&self, several: bool, me: *mut T) -> Claim {
        loop {
            let word = self.word.load(Ordering::Acquire);
            let owner = owner_of(word);
            if ptr::eq(owner, me) {
                return Claim::Given;
            }
            if !owner.is_null() {
                return Claim::Refused;
            }
            let mine = with_flags(me, word.addr() & !WOKEN);
            if self.replace(several, word, mine, Ordering::AcqRel) {
                self.forget_passes();
                return Claim::Taken;
            }
        }
    }

    /// Takes the lock if it is free. Otherwise tells its owner that a thread waits. The queues must
    /// be locked.
    pub(crate) fn own_or_contend(&self, several: bool, me: *mut T) -> bool {
        loop {
            if self.barge(several, me) {
                return true;
            }
            let word = self.word.load(Ordering::Relaxed);
            let held = !owner_of(word).is_null();
            let marked = with_flags(word, CONTENDED);
            if held && (word == marked || self.replace(several, word, marked, Ordering::Relaxed)) {
                return false;
            }
        }
    }

    /// Takes the lock like [`Owner::inherit`]. Otherwise the heir must wait again, as the first of
    /// all, and its owner is asked to hand the lock over. The queues must be locked.
    pub(crate) fn inherit_or_contend(&self, several: bool, me: *mut T) -> Claim {
        loop {
            let claim = self.inherit(several, me);
            if claim != Claim::Refused {
                return claim;
            }
            let word = self.word.load(Ordering::Relaxed);
            let held = !owner_of(word).is_null();
            let marked = word.map_addr(|address| (address & !WOKEN) | CONTENDED | HANDOVER);
            if held && self.replace(several, word, marked, Ordering::Relaxed) {
                return Claim::Refused;
            }
        }
    }

    /// Notes that threads wait. The caller owns the lock, and the queues must be locked.
    pub(crate) fn contend(&self, hand_over: bool) {
        let flags = CONTENDED | if hand_over { HANDOVER } else { 0 };
        let word = self.word.load(Ordering::Relaxed);
        self.word.store(with_flags(word, flags), Ordering::Relaxed);
    }

    /// Hands the lock over to `next`. Other threads may wait, and some of them must get it before
    /// all that come. The caller owns the lock, and the queues must be locked.
    #[inline]
    pub(crate) fn give(&self, next: *mut T, others_wait: bool, hand_over: bool) {
        let waiting = if others_wait { CONTENDED } else { 0 };
        let urgent = if hand_over { HANDOVER } else { 0 };
        let flags = waiting | urgent | (self.flags() & WOKEN);
        self.word.store(with_flags(next, flags), Ordering::Release);
    }

    /// The heir, if there is one. The caller owns the lock, and the queues must be locked.
    pub(crate) fn heir(&self) -> Option<*const T> {
        (self.flags() & WOKEN != 0).then(|| self.heir.get())
    }

    /// Hands the lock over to the heir, which is awake. The caller owns the lock, and the queues must
    /// be locked.
    pub(crate) fn give_to_heir(&self, others_wait: bool) {
        self.forget_passes();
        let flags = if others_wait { CONTENDED } else { 0 };
        let heir = self.heir.get().cast_mut();
        self.word.store(with_flags(heir, flags), Ordering::Release);
    }

    /// The first waiter has got the lock: counting begins anew.
    pub(crate) fn forget_passes(&self) {
        self.passes.store(0, Ordering::Relaxed);
    }

    /// True if the next unlocking may let running threads overtake the waiters. The caller owns the
    /// lock, and the queues must be locked.
    pub(crate) fn may_be_passed(&self) -> bool {
        self.flags() & (HANDOVER | WOKEN) == 0 && self.passes() <= MOST_PASSES
    }

    /// Frees the lock for anybody; the caller wakes `heir`. Other threads may wait. The caller owns
    /// the lock, and the queues must be locked.
    pub(crate) fn free_for_heir(&self, heir: *const T, others_wait: bool) {
        self.heir.set(heir);
        let flags = WOKEN | if others_wait { CONTENDED } else { 0 };
        let free = with_flags(ptr::null_mut(), flags);
        self.word.store(free, Ordering::Release);
    }

    /// Nobody waits any more. No other thread may use the lock at this time.
    pub(crate) fn forget_waiters(&self) {
        self.forget_passes();
        self.word.store(self.get(), Ordering::Relaxed);
    }

    /// Frees the lock, for which nobody waits. The caller owns it, and the queues must be locked.
    pub(crate) fn free(&self) {
        self.forget_passes();
        self.word.store(ptr::null_mut(), Ordering::Release);
    }
}
