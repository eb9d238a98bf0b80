//! Kernel threads that begin together, or not at all.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

/// Where threads wait until it is known whether all of them could be started.
///
/// A [`Barrier`](std::sync::Barrier) would keep those that were started waiting for ever, if the
/// system has no room for the others.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    /// Whether those who wait may go in; before that is known, nothing.
    open: Option<bool>,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait_until(&self, condition: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let guard = self.lock();
        let waited = self.changed.wait_while(guard, |state| !condition(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is known whether all are there: `false` if not all will come.
    fn wait(&self) -> bool {
        self.change(|state| state.waiting += 1);
        self.wait_until(|state| state.open.is_some()).open == Some(true)
    }

    /// Lets those who wait and will wait go in, or sends them away.
    fn decide(&self, open: bool) {
        self.change(|state| state.open = Some(open));
    }

    /// Starts a kernel thread for each of `numbers`, to wait here and then to `work` with it.
    ///
    /// # Errors
    /// If one of them cannot be started; then the others end without having worked.
    pub(crate) fn start<'scope, 'env, Number: Send + 'scope>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        numbers: impl IntoIterator<Item = Number>,
        work: &'env (impl Fn(Number) + Sync),
    ) -> io::Result<()> {
        let started = numbers.into_iter().try_for_each(|number| {
            let enter = move || {
                if self.wait() {
                    work(number);
                }
            };
            thread::Builder::new().spawn_scoped(scope, enter).map(drop)
        });
        started.inspect_err(|_| self.decide(false))
    }

    /// Lets the threads go in that were started.
    pub(crate) fn open(&self) {
        self.decide(true);
    }
}

/// Starts `threads` kernel threads, which wait until all are there; does `first`, and then lets each
/// do `work` with its number. Returns when all have ended.
///
/// # Errors
/// If one of them cannot be started; then the others end without having worked.
pub(crate) fn start_together<T>(
    threads: usize,
    first: impl FnOnce() -> T,
    work: impl Fn(usize) + Sync,
) -> io::Result<T> {
    let gate = Gate::default();
    thread::scope(|scope| {
        gate.start(scope, 0..threads, &work)?;
        drop(gate.wait_until(|state| state.waiting == threads));
        let outcome = first();
        gate.open();
        Ok(outcome)
    })
}

#[cfg(test)]
mod tests {
    use super::{Gate, start_together};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_wait_for_what_comes_first() {
        let (done, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let before = start_together(
            10,
            || done.load(Ordering::SeqCst),
            |index| {
                done.fetch_add(1, Ordering::SeqCst);
                sum.fetch_add(index, Ordering::SeqCst);
            },
        );
        assert_eq!(before.expect("ten threads can be started"), 0);
        assert_eq!(done.into_inner(), 10);
        assert_eq!(sum.into_inner(), 45);
    }

    #[test]
    fn a_gate_that_is_shut_lets_nobody_in_and_holds_nobody() {
        let gate = Gate::default();
        std::thread::scope(|scope| {
            let early = scope.spawn(|| gate.wait());
            gate.decide(false);
            assert!(!early.join().expect("it does not panic"));
            assert!(!scope.spawn(|| gate.wait()).join().expect("nor does it"));
        });
    }
}
