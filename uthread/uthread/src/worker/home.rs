//! The runtime to which a synchronization object belongs.

use crate::atomic::{AtomicU32, Ordering};

use super::local::{current_worker, enter, leave};
use super::number::{nobody, stayed_in_parent};
use super::registry::live;
use super::shared::Shared;
use super::state::Worker;
use super::visit::{Visit, visit};

/// The runtime that owns a synchronization object: the first whose threads use it. In a runtime
/// with one worker, its operations then need no locked instruction.
pub(crate) struct Home(AtomicU32);

impl Home {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The home of an object that a thread of `runtime` makes for it.
    pub(crate) fn of(runtime: &Shared) -> Self {
        Self(AtomicU32::new(runtime.id()))
    }

    /// Checks that the object belongs to `runtime`, or claims it if its runtime has ended. If that stayed in the
    /// parent at a fork, `forget_waiters` removes its threads from the object, which nobody uses at that time.
    #[inline]
    pub(crate) fn check(&self, runtime: &Shared, operation: &str, forget_waiters: impl FnOnce()) {
        if !self.admits(runtime, forget_waiters) {
            refuse(operation, true);
        }
    }

    /// True if the object belongs to `runtime`, as after [`check`](Self::check).
    #[inline]
    pub(crate) fn admits(&self, runtime: &Shared, forget_waiters: impl FnOnce()) -> bool {
        self.is_known(runtime) || self.claim(runtime, forget_waiters)
    }

    /// True if the object belongs to `runtime`, or did so before a fork that `runtime` goes on after.
    #[inline]
    pub(crate) fn go_on(&self, runtime: &Shared, forget_waiters: impl FnOnce()) -> bool {
        if self.is_known(runtime) {
            return true;
        }
        let goes_on = stayed_in_parent(self.0.load(Ordering::Relaxed)) && runtime.is_inherited();
        goes_on && self.claim(runtime, forget_waiters)
    }

    /// Works with the object on a kernel thread where none of its runtime's threads runs. `forget_waiters` as in
    /// [`check`](Self::check).
    pub(crate) fn visit<R>(
        &self,
        operation: &str,
        forget_waiters: impl FnOnce(),
        work: impl FnOnce(&Visit<'_>) -> R,
    ) -> R {
        match self.try_visit(forget_waiters, work) {
            Some(result) => result,
            None => refuse(operation, current_worker().is_some()),
        }
    }

    /// The same; `None` if others may not use the object.
    pub(crate) fn try_visit<R>(
        &self,
        forget_waiters: impl FnOnce(),
        work: impl FnOnce(&Visit<'_>) -> R,
    ) -> Option<R> {
        let home = || self.0.load(Ordering::Relaxed);
        visit(home, |visit| {
            if visit.runtime().is_none() {
                if stayed_in_parent(home()) {
                    forget_waiters();
                }
                // Those who wait from here on are forgotten only after another fork.
                self.0.store(nobody(), Ordering::Release);
            }
            work(visit)
        })
    }

    /// True if the object is known to belong to `runtime`.
    #[inline]
    pub(crate) fn is_known(&self, runtime: &Shared) -> bool {
        self.0.load(Ordering::Acquire) == runtime.id()
    }

    /// True if the object is known to belong to the runtime of `worker`, which has no other workers.
    #[inline]
    pub(crate) fn is_of_lone(&self, worker: &Worker) -> bool {
        self.0.load(Ordering::Relaxed) == worker.lone_id()
    }

    /// Becomes the same as another home.
    #[inline]
    pub(crate) fn follow(&self, other: &Self) {
        self.0
            .store(other.0.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// True if the object belongs to `runtime`. If not, a thread that claims it later sees all that the
    /// caller did before. Preemption must be disabled.
    #[inline]
    pub(crate) fn is(&self, runtime: &Shared) -> bool {
        self.is_known(runtime) || self.is_by_now(runtime)
    }

    /// True if threads wait for the object, as `look` finds, or may wait for it in a runtime that the caller
    /// is not in.
    pub(crate) fn is_awaited(&self, look: impl FnOnce(&Worker) -> bool) -> bool {
        enter();
        let awaited = match current_worker() {
            Some(worker) if self.is(&worker.shared) => look(worker),
            _ => live().contains(self.0.load(Ordering::Relaxed)),
        };
        leave();
        awaited
    }

    /// Looks again under the lock: another worker may claim the object at the same time.
    #[cold]
    fn is_by_now(&self, runtime: &Shared) -> bool {
        let _live = live();
        self.0.load(Ordering::Relaxed) == runtime.id()
    }

    #[cold]
    fn claim(&self, runtime: &Shared, forget_waiters: impl FnOnce()) -> bool {
        enter();
        let claimed = {
            let live = live();
            let home = self.0.load(Ordering::Relaxed);
            let free = home == runtime.id() || !live.contains(home);
            if free {
                if stayed_in_parent(home) {
                    forget_waiters();
                }
                self.0.store(runtime.id(), Ordering::Release);
            }
            free
        };
        leave();
        claimed
    }
}

/// Panics at a use by a thread of another runtime, or outside all.
#[cold]
#[inline(never)]
pub(crate) fn refuse(operation: &str, inside: bool) -> ! {
    assert!(
        !inside,
        "{operation}: the object belongs to the threads of another runtime"
    );
    panic!(
        "{operation} was called outside a uthread runtime, which `uthread::external` has not opened to others"
    );
}

/// True while threads of a run may still run.
pub(crate) fn is_live(runtime: u32) -> bool {
    enter();
    let is_live = live().contains(runtime);
    leave();
    is_live
}
