//! The rules: strict priorities, round-robin within each, one priority lower at the end of a slice,
//! and a periodic boost of all threads.

use core::cell::Cell;

use super::{Priority, Ready, Schedulable};

/// The rules that a runtime's builder can change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// A thread that uses up its slice loses one priority level, unless it holds a lock.
    pub(crate) decay: bool,
    /// After this many ticks, every thread returns to the priority that the program gave it; 0
    /// means never.
    pub(crate) boost_every: u32,
}

/// Consequence of a tick for the running thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No other thread is ready: ticks are not needed.
    Alone,
    /// Only threads of lower priority are ready.
    Continue,
    /// The thread was switched in at an unknown time since the last tick: its slice ends half a
    /// slice from now. (Reading the clock at each switch would cost more than the switch.)
    Grace,
    /// The slice is over, and another thread runs.
    Switch,
}

/// The ready threads of one worker and the rules.
#[derive(Debug)]
pub(crate) struct Scheduler<T> {
    pub(crate) ready: Ready<T>,
    policy: Policy,
    ticks_to_boost: Cell<u32>,
    fallen: Cell<bool>,
    /// The running thread was switched in after the last tick, by a voluntary switch.
    fresh: Cell<bool>,
}

impl<T: Schedulable> Scheduler<T> {
    pub(crate) fn new(policy: Policy) -> Self {
        Self {
            ready: Ready::new(),
            policy,
            ticks_to_boost: Cell::new(policy.boost_every),
            fallen: Cell::new(false),
            fresh: Cell::new(true),
        }
    }

    /// Notes a voluntary switch.
    #[inline]
    pub(crate) fn switched(&self) {
        self.fresh.set(true);
    }

    /// True if the running thread was switched in after the last tick, for one caller.
    pub(crate) fn has_just_begun(&self) -> bool {
        self.fresh.replace(false)
    }

    /// Notes that the slice began at a tick: a virtual tick needs no grace period.
    pub(crate) fn slice_began_at_a_tick(&self) {
        self.fresh.set(false);
    }

    /// True if a ready thread takes precedence over `current` before its slice ends.
    #[inline]
    pub(crate) fn outranked(&self, current: &T) -> bool {
        self.ready.highest() > Some(current.rank().effective())
    }

    /// Takes the thread to which `current` yields, if there is one of at least its priority, and
    /// makes `current` ready.
    ///
    /// # Safety
    /// Same as [`Ready::push_back`].
    #[expect(clippy::inline_always, reason = "a call would cost as much as it does")]
    #[inline(always)]
    pub(crate) unsafe fn exchange(&self, current: &T) -> Option<*const T> {
        let (highest, own) = (self.ready.highest()?, current.rank().effective());
        if highest < own {
            return None;
        }
        // SAFETY: the caller's contract.
        unsafe {
            if highest == own {
                return self.ready.exchange(current, own);
            }
            let next = self.ready.pop();
            self.ready.push_back(current);
            next
        }
    }

    /// Handles a tick of the timer while `current` runs.
    pub(crate) fn tick(&self, current: &T) -> Verdict {
        self.count_to_boost(current);
        if self.ready.is_empty() {
            return Verdict::Alone;
        }
        let is_fresh = self.fresh.replace(false);
        if is_fresh && !self.outranked(current) {
            return Verdict::Grace;
        }
        if self.policy.decay && !is_fresh && current.locks_held() == 0 {
            let base = current.rank().base();
            if base.lower() != base {
                current.rank().set_base(base.lower());
                self.fallen.set(true);
            }
        }
        if self.ready.highest() < Some(current.rank().effective()) {
            return Verdict::Continue;
        }
        Verdict::Switch
    }

    fn count_to_boost(&self, current: &T) {
        let left = self.ticks_to_boost.get();
        if left > 1 {
            self.ticks_to_boost.set(left - 1);
        } else if left == 1 {
            self.ticks_to_boost.set(self.policy.boost_every);
            if self.fallen.replace(false) {
                let boost = |thread: &T| thread.rank().set_base(thread.rank().assigned());
                boost(current);
                self.ready.regroup(boost);
            }
        }
    }

    /// Boosts a thread that was blocked during the last boost.
    #[inline]
    pub(crate) fn woken(&self, thread: &T) {
        if thread.rank().has_fallen() {
            self.fallen.set(true);
        }
    }

    /// Moves a ready thread to the queue of its priority, which may have changed.
    ///
    /// # Safety
    /// `thread` must be one of the ready threads.
    pub(crate) unsafe fn replace(&self, thread: *const T) {
        // SAFETY: the caller's contract.
        unsafe {
            if (*thread).level().get() != (*thread).rank().effective() {
                self.ready.remove(thread);
                self.ready.push_back(thread);
            }
        }
    }

    /// The first ready thread of highest priority.
    #[inline]
    pub(crate) fn pop(&self) -> Option<*const T> {
        self.ready.pop()
    }

    /// Highest priority among the ready threads.
    #[inline]
    pub(crate) fn highest(&self) -> Option<Priority> {
        self.ready.highest()
    }
}
