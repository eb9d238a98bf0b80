//! Arming the timer, and handling ticks.

use std::io;

use super::local::{self, set_depth, set_pending};
use super::shared::count;
use super::state::Worker;
use crate::io::Driver;
use crate::preempt::{Errno, Exceptions, Watch};
use crate::scheduler::{Schedulable, Verdict};
use crate::thread::State;
use crate::trace::Kind;

impl Worker {
    #[inline]
    pub(crate) fn arm(&self) {
        if self.armed.get() {
            return;
        }
        if let Some(ticker) = self.ticker.get() {
            self.armed.set(true);
            ticker.arm();
            // The next tick comes by itself, and others need not cut the slice short.
            self.remote().bell.withdraw();
        }
    }

    /// Lets a tick come at the first deadline, if other threads run until then and their slice ends later.
    pub(super) fn arm_by(&self, deadline_ns: u64) {
        let is_first = self.timers.next_ns() == Some(deadline_ns);
        if let Some(ticker) = self.ticker.get()
            && is_first
            && !self.scheduler.ready.is_empty()
        {
            let left_ns = deadline_ns.saturating_sub(self.now_ns());
            if left_ns < self.shared.slice_ns() {
                self.armed.set(true);
                ticker.arm_first(left_ns);
                self.remote().bell.withdraw();
                return;
            }
        }
        self.arm();
    }

    /// Sets the next tick a whole slice away.
    fn rearm(&self) {
        if let Some(ticker) = self.ticker.get() {
            ticker.arm();
        }
    }

    /// Stops the ticks if the running thread has been alone since the last one. A thread that waits often costs less with
    /// ticks than by stopping and starting them, unless a time limit asks for an exact one. `false` if there is something to
    /// do by now.
    pub(super) fn rest_unless_it_waits_often(&self) -> bool {
        let waits_often = self.scheduler.has_just_begun() && self.timers.is_empty();
        waits_often || self.rest()
    }

    /// Stops the ticks while nothing but the running thread is ready. The next one comes when a time limit passes, or
    /// when others have something for this worker. `false` if there is something by now: then ticks go on.
    ///
    /// A tick may do this in library code, with preemption enabled: nothing here allocates or takes a lock.
    fn rest(&self) -> bool {
        let Some(ticker) = self.ticker.get() else {
            return true;
        };
        let now_ns = || self.shared.clock.now_ns();
        let left_ns = self
            .timers
            .next_ns()
            .map(|next_ns| next_ns.saturating_sub(now_ns()));
        // The timer comes first: a tick that others make after the announcement stays.
        match left_ns {
            None => ticker.disarm(),
            Some(0) => return false,
            Some(left_ns) => ticker.arm_first(left_ns),
        }
        self.armed.set(false);
        let bell = &self.remote().bell;
        bell.announce_quiet();
        let mut driver = self.driver.borrow_mut();
        let watched = driver.as_mut().is_none_or(Driver::is_watched);
        if watched && !(self.exposed() && (self.remote().has_mail() || self.any_unstarted())) {
            return true;
        }
        self.arm();
        false
    }

    /// Makes finished requests of the driver tick.
    pub(crate) fn watch(&self, driver: &mut Driver) -> io::Result<()> {
        let Some(ticker) = self.ticker.get() else {
            return Ok(());
        };
        driver.watch(|event| {
            let watch = Watch::new(event, ticker)?;
            let _ = self.watch.set(watch);
            Ok(())
        })
    }

    pub(super) fn disarm(&self) {
        if self.armed.get()
            && let Some(ticker) = self.ticker.get()
        {
            ticker.disarm();
            // Not earlier: a tick in between would have set it again.
            self.armed.set(false);
        }
    }

    /// Handles a request that a tick or a more important thread made while preemption was disabled.
    pub(super) fn take_deferred(&self, in_allocator: bool) {
        if self.dice.get().is_some() {
            if !in_allocator {
                set_depth(1);
                self.roll();
                self.look();
                set_depth(0);
            }
            return;
        }
        while local::pending() || self.tick_due.get() {
            set_depth(1);
            set_pending(false);
            self.look();
            set_depth(0);
        }
    }

    /// Virtual ticks occur at one in four of the possible points, at random.
    fn roll(&self) {
        let Some(state) = self.dice.get() else { return };
        let mut random = state;
        let strike = splitmix(&mut random).is_multiple_of(4);
        self.dice.set(Some(random));
        if strike {
            self.shared.clock.tick(self.shared.slice_ns());
            self.scheduler.slice_began_at_a_tick();
            self.tick_due.set(true);
            count(&self.remote().counters.taken);
        }
    }

    fn look(&self) {
        if self.attention.get() {
            self.attend();
        }
        let me = self.current();
        if self.tick_due.replace(false) {
            self.trace(Kind::Tick, me);
            if self.retries.end() {
                // No retry is needed: this code handles the request.
                self.rearm();
            }
            let before = me.rank().effective();
            let verdict = self.scheduler.tick(me);
            if me.rank().effective() != before {
                self.trace(Kind::Priority(me.rank().effective()), me);
            }
            match verdict {
                Verdict::Alone => {
                    if let Some(driver) = self.driver.borrow_mut().as_mut() {
                        driver.submit();
                    }
                    self.rest_unless_it_waits_often();
                }
                Verdict::Grace => {
                    if let Some(ticker) = self.ticker.get() {
                        ticker.arm_first(self.shared.slice_ns() / 2);
                    }
                }
                Verdict::Switch => self.preempt(false),
                Verdict::Continue => {}
            }
        } else if self.scheduler.outranked(me) {
            self.preempt(true);
        }
    }

    /// Preempts the running thread. If it was `outranked`, it goes to the front of its queue; if
    /// its slice was over, to the back.
    fn preempt(&self, outranked: bool) {
        let me = self.current();
        let Some(next) = self.scheduler.pop() else {
            return;
        };
        count(&self.remote().counters.preemptions);
        self.trace(Kind::Preempt, me);
        me.set_state(State::Ready);
        // SAFETY: the running thread is in no queue; `next` was ready.
        unsafe {
            if outranked {
                self.scheduler.ready.push_front(me);
                self.scheduler.switched();
            } else {
                self.scheduler.ready.push_back(me);
            }
            let _back_at_the_end = (Exceptions::put_aside(), Errno::keep());
            self.switch_to(next);
        }
    }
}

/// The generator `SplitMix64` (Steele, Lea and Flood, 2014).
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
