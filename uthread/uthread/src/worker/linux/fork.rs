//! The child of a fork: the calling user thread and its worker go on, all others stay in the parent.
//!
//! The memory of the others is still there, but nothing frees it, since they may have been using it. Objects that they
//! use forget them when the child first uses the object; see [`Home`](crate::worker::Home).

use core::cell::{OnceCell, RefCell};
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::sync::{Arc, OnceLock};

use crate::preempt;
use crate::renew::renew;
use crate::scheduler::Ready;
use crate::spin::SpinCell;
use crate::stack::POOL;
use crate::thread::{DETACHED, leave_orphans_to_parent};
use crate::worker::cancellations::Cancellations;
use crate::worker::errand::Errands;
use crate::worker::fresh::Fresh;
use crate::worker::inbox::Inbox;
use crate::worker::local::current_worker;
use crate::worker::registry;
use crate::worker::state::Worker;
use crate::worker::timers::Timers;

/// Registers what the child of a fork does first, once per process.
pub(crate) fn prepare_for_forks() -> io::Result<()> {
    static PREPARED: OnceLock<Result<(), i32>> = OnceLock::new();
    // SAFETY: the handler has this type, and stays.
    let prepare = || match unsafe { libc::pthread_atfork(None, None, Some(in_child)) } {
        0 => Ok(()),
        error => Err(error),
    };
    PREPARED
        .get_or_init(prepare)
        .map_err(io::Error::from_raw_os_error)
}

/// Makes only calls that are async-signal-safe: other kernel threads may have held any lock. It waits for none.
unsafe extern "C" fn in_child() {
    let worker = current_worker();
    // SAFETY: the child has one kernel thread. That is in a call of fork, so it uses nothing of this library.
    unsafe {
        let id = registry::leave_to_parent(worker.is_some());
        leave_orphans_to_parent();
        POOL.leave_to_parent();
        preempt::leave_to_parent();
        if let Some(worker) = worker {
            worker.go_on_alone(id);
        }
    }
}

impl Worker {
    /// Makes the running thread the only one of the runtime, and this worker the only one that is not idle.
    ///
    /// # Safety
    /// Same as [`renew`].
    unsafe fn go_on_alone(&self, id: u32) {
        let (me, shared, order) = (self.current(), &self.shared, Ordering::Relaxed);
        shared.id.store(id, order);
        shared.inherited.store(true, order);
        if !self.several {
            self.lone_id.set(id);
        }
        me.runtime.set(id);
        self.root.runtime.set(id);
        if me.joiner.load(order) != DETACHED {
            me.joiner.store(ptr::null_mut(), order);
        }
        if let Some(driver) = &*self.driver.borrow() {
            driver.leave_to_parent();
        }
        // SAFETY: the caller's contract.
        unsafe {
            renew(&self.scheduler.ready, Ready::new());
            renew(&self.driver, RefCell::new(None));
            renew(&self.watch, OnceCell::new());
            renew(&self.timers, Timers::default());
            renew(&*shared.graph, SpinCell::new(AtomicBool::new(false), ()));
            shared.idlers.leave_to_parent();
            for remote in &shared.remotes {
                renew(&remote.inbox, Inbox::new());
                renew(&remote.cancellations, Cancellations::default());
                renew(&remote.errands, Errands::new());
                renew(&*remote.fresh, Fresh::new());
                remote.regroup.store(false, order);
                remote.counters.live.store(0, order);
                remote.bell.leave_to_parent();
            }
            if let Some(ticker) = self.ticker.get() {
                ticker.leave_to_parent();
                let bell = &self.remote().bell;
                bell.set_ticker(Some(Arc::clone(ticker)));
                // No tick comes by itself.
                bell.announce_quiet();
            }
        }
        self.armed.set(false);
        shared.external.store(0, order);
        self.live.set(1);
        self.publish_live();
    }
}

#[cfg(test)]
mod tests {
    use super::{POOL, registry};
    use std::sync::mpsc::channel;

    #[test]
    fn locks_that_other_kernel_threads_hold_are_free_in_the_child() {
        // Makes a stack for the pool to visit.
        crate::run(|| ());
        let (held, is_held) = channel();
        let (free, is_free) = channel::<()>();
        let holder = std::thread::spawn(move || {
            let _live = registry::live();
            POOL.for_each(|_| {
                let _ = held.send(());
                // Returns when the other end is dropped.
                let _ = is_free.recv();
            });
        });
        is_held.recv().expect("the pool has a stack");
        // SAFETY: the child uses only what a fork leaves in a defined state.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: the default action of the signal ends the process.
            unsafe { libc::alarm(60) };
            let run = || crate::run(|| crate::spawn(|| 7).join().is_ok_and(|value| value == 7));
            let done = std::panic::catch_unwind(run);
            // SAFETY: it ends the process, and runs no destructors.
            unsafe { libc::_exit(i32::from(!done.is_ok_and(|done| done))) };
        }
        let mut status = 1;
        // SAFETY: the pointer is to a local.
        let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
        drop(free);
        holder.join().expect("it only waits");
        assert_eq!((ended, status), (child, 0));
    }
}
