//! A worker between threads: accepting threads from others, and waiting.

use core::sync::atomic::{Ordering, fence};
use core::time::Duration;

use super::shared::Remote;
use super::state::Worker;
use crate::scheduler::Priority;
use crate::thread::Control;

impl Worker {
    /// Handles all events that can make threads ready.
    #[cold]
    pub(super) fn attend(&self) {
        if self.exposed() {
            self.admit_woken();
            self.admit_cancelled();
            self.admit_fresh();
        }
        self.expire_timers();
        let transfers = self.attend_driver();
        self.attention
            .set(self.exposed() || transfers || !self.timers.is_empty());
    }

    fn admit_woken(&self) {
        let remote = self.remote();
        if !remote.errands.is_empty() {
            remote.errands.run();
        }
        if !remote.inbox.is_empty() {
            // SAFETY: threads in the inbox are blocked on this worker, and alive.
            remote
                .inbox
                .take_all(|thread| self.make_ready(unsafe { &*thread }));
        }
        if remote.regroup.load(Ordering::Relaxed) && remote.regroup.swap(false, Ordering::Acquire) {
            self.scheduler.ready.regroup(|_| {});
        }
    }

    /// Makes one unstarted thread ready: the worker's own, if no ready thread has a higher
    /// priority, or one stolen from another worker, if this worker has nothing else to do.
    fn admit_fresh(&self) {
        let highest = self.scheduler.highest();
        // SAFETY: preemption is disabled whenever a worker attends.
        let mut thread = unsafe { self.remote().fresh.pop(highest.unwrap_or(Priority::Green)) };
        if thread.is_none() && highest.is_none() {
            let (before, after) = self.shared.remotes.split_at(self.index);
            // SAFETY: as above.
            thread = after
                .iter()
                .chain(before)
                .skip(1)
                .find_map(|victim| unsafe { victim.fresh.pop(Priority::Green) });
        }
        if let Some(thread) = thread {
            // SAFETY: taken out of the queue of unstarted threads, so it is alive and in no queue.
            unsafe {
                (*thread).set_home(self.index);
                // Same as in `cancel`.
                fence(Ordering::SeqCst);
                self.scheduler.ready.push_back(thread);
            }
            self.look_later();
        }
    }

    /// Handles finished transfers and submits new ones; `true` if any are in flight.
    fn attend_driver(&self) -> bool {
        let mut driver = self.driver.borrow_mut();
        let Some(driver) = driver.as_mut() else {
            return false;
        };
        driver.attend(self.armed.get(), |thread| {
            self.shared.external.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: a thread of this worker, blocked in its transfer, and only this code wakes
            // it.
            self.make_ready(unsafe { &*thread });
        });
        driver.in_flight() > 0
    }

    /// Waits until a thread may be ready; `false` if the runtime has ended.
    pub(super) fn idle(&self) -> bool {
        if self.exposed() {
            self.idle_among_others()
        } else {
            self.idle_alone()
        }
    }

    fn idle_alone(&self) -> bool {
        if self.live.get() == 0 {
            return false;
        }
        if self.shared.external.load(Ordering::Relaxed) == 0 {
            let _ = self.shared.failure.set(self.shared.deadlock());
            return false;
        }
        self.wait();
        true
    }

    pub(super) fn any_unstarted(&self) -> bool {
        let mut remotes = self.shared.remotes.iter();
        remotes.any(|remote| !remote.fresh.is_empty())
    }

    /// Spins for a short time: work often arrives soon, and a wake-up costs far more.
    fn comes_soon(&self) -> bool {
        const LOOKS: u32 = 1000;
        (0..LOOKS).any(|_| {
            core::hint::spin_loop();
            self.remote().has_mail() || self.any_unstarted()
        })
    }

    fn idle_among_others(&self) -> bool {
        if !self.shared.stop.load(Ordering::Acquire) && self.comes_soon() {
            return true;
        }
        let bell = &self.remote().bell;
        bell.announce_sleep();
        let mine = self.remote().has_mail() || self.any_unstarted();
        if !mine && !self.shared.stop.load(Ordering::Acquire) {
            self.publish_live();
            self.shared.idlers.begin(|| {
                // Handles of the outside may outlive all threads.
                if self.shared.live() == 0 {
                    self.shared.stop_all();
                    return;
                }
                if self.nothing_comes() {
                    let _ = self.shared.failure.set(self.shared.deadlock());
                    self.shared.stop_all();
                }
            });
            self.wait();
            self.shared.idlers.end();
        }
        bell.awake();
        !self.shared.stop.load(Ordering::Acquire)
    }

    /// True if no time limit, transfer or kernel thread outside can end a wait, and no thread is on its way to a worker.
    fn nothing_comes(&self) -> bool {
        let external = self.shared.external.load(Ordering::Acquire);
        let woken = || self.shared.remotes.iter().any(Remote::has_mail);
        external == 0 && !woken() && !self.any_unstarted()
    }

    /// True if nothing can happen in the runtime any more: the running thread `is_stuck`, the ready ones of this worker as
    /// well if they run meanwhile, all other threads wait, and nothing comes from outside. Preemption must be disabled.
    pub(crate) fn is_deadlock(&self, others_run: bool, is_stuck: fn(&Control) -> bool) -> bool {
        let are_stuck =
            || is_stuck(self.current()) && (!others_run || self.scheduler.ready.all(is_stuck));
        let verdict = || self.nothing_comes() && are_stuck();
        // Other workers can change the first answer, and none of them runs at the second.
        are_stuck() && self.shared.idlers.are_all_others(verdict)
    }

    /// Waits for a transfer, a timer or the bell.
    fn wait(&self) {
        let next_ns = self.timers.next_ns();
        let timeout = next_ns.map(|next_ns| {
            let now_ns = self.shared.clock.now_ns();
            Duration::from_nanos(next_ns.saturating_sub(now_ns))
        });
        if let Some(next_ns) = next_ns
            && self.shared.clock.skip_to(next_ns)
        {
            return;
        }
        let bell = self.remote().bell.event();
        match self.driver.borrow_mut().as_mut() {
            Some(driver) => driver.wait(timeout, bell, self.exposed()),
            None => bell.wait(timeout),
        }
        self.remote().bell.awake();
        // Most waits are shorter than a slice, and setting the timer twice in each wait would cost
        // as much as a transfer. So the timer stays armed until a tick finds no thread to run.
        if self.tick_due.replace(false) {
            self.disarm();
        }
    }
}
