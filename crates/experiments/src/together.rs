//! Kernel threads that begin together, or not at all.

use instrument::experiment::MeasureError;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::quantity::counted;
use platform::placement::{allowed_cpus, parent_cpus, pin_to};
use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

/// The processors that a run with this setting may use, in ascending order.
pub(crate) fn usable_cpus(setting: &Setting) -> Vec<usize> {
    let allowed = allowed_cpus().unwrap_or_default();
    let most = setting.machine.topology.threads.unwrap_or(allowed.len());
    // The last ones: a limit leaves these, and most interrupts go to the first.
    allowed[allowed.len().saturating_sub(most)..].to_vec()
}

/// Processors for `threads` threads, each with its own: the last ones, since most interrupts go to the
/// first.
///
/// # Errors
/// If this program may not use as many.
pub(crate) fn cpus_for(threads: usize) -> Result<Vec<usize>, MeasureError> {
    let cpus = parent_cpus()?;
    if cpus.len() < threads {
        return Err(MeasureError::Unsupported(format!(
            "no more than {} may be used here",
            counted(cpus.len(), "processor")
        )));
    }
    Ok(cpus.into_iter().rev().take(threads).collect())
}

/// The need of experiments in which several processors work at once.
pub(crate) fn several_cpus(setting: &Setting) -> Need {
    Need::Several {
        count: usable_cpus(setting).len(),
        what: "processors that this program may use".into(),
    }
}

/// Threads wait here until all of them have been started, or one could not be.
///
/// A [`Barrier`](std::sync::Barrier) would keep those that were started waiting for ever, if the
/// system has no room for the others.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    /// `true` lets the waiting threads go in, `false` sends them away; `None` until that is known.
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

    /// Waits until all threads have started: `false` if one could not be.
    fn wait(&self) -> bool {
        self.change(|state| state.waiting += 1);
        self.wait_until(|state| state.open.is_some()).open == Some(true)
    }

    /// Lets all threads go in, or sends them away.
    fn decide(&self, open: bool) {
        self.change(|state| state.open = Some(open));
    }

    /// Starts a kernel thread for each of `numbers`, to wait here and then to `work` with it.
    ///
    /// # Errors
    /// If one of them cannot be started; then the others end without having worked.
    fn start<'scope, 'env, Number: Send + 'scope>(
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
    fn open(&self) {
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

/// Starts a thread on each of `cpus`, pinned to it, which makes its own state by `prepare`. Once all
/// are ready, calls `lead` with a function that has every thread do the same job with its state, all
/// from the same moment on, and returns when the last has ended.
///
/// # Errors
/// If a thread cannot be started or pinned, or cannot prepare, that error without a call of `lead`;
/// else the error of `lead`. A job that fails on one of the processors fails for all.
pub(crate) fn on_cpus<State, Job: Copy + Send, T>(
    cpus: &[usize],
    prepare: impl Fn(usize) -> Result<State, MeasureError> + Sync,
    work: impl Fn(&mut State, Job) -> Result<(), MeasureError> + Sync,
    lead: impl FnOnce(&dyn Fn(Job) -> Result<(), MeasureError>) -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    // `None` ends the threads.
    let next = Slot(Mutex::new(None));
    let failure = Slot(Mutex::new(None));
    let arrived = AtomicUsize::new(0);
    let [begin, end] = [(); 2].map(|()| Barrier::new(cpus.len() + 1));
    let fail = |error| failure.set(Some(error));
    let member = |cpu| {
        let pinned = pin_to(&[cpu]).map_err(MeasureError::from);
        let mut state = pinned.and_then(|()| prepare(cpu)).map_err(fail);
        end.wait();
        loop {
            begin.wait();
            let Some(job) = *next.lock() else { return };
            // The barrier wakes one thread after another: the early ones wait for the last.
            let place = arrived.fetch_add(1, Ordering::AcqRel) + 1;
            while arrived.load(Ordering::Acquire) < place.next_multiple_of(cpus.len()) {
                spin_loop();
            }
            if let Ok(state) = &mut state {
                work(state, job).unwrap_or_else(fail);
            }
            end.wait();
        }
    };
    let gate = Gate::default();
    thread::scope(|scope| {
        let started = gate.start(scope, cpus.iter().copied(), &member);
        started.map_err(MeasureError::system("start a thread"))?;
        gate.open();
        end.wait();
        let done = failure.outcome().and_then(|()| {
            lead(&|job| {
                next.set(Some(job));
                begin.wait();
                end.wait();
                failure.outcome()
            })
        });
        next.set(None);
        begin.wait();
        done
    })
}

/// A value that threads share, with a lock that a panic elsewhere does not spoil.
#[derive(Default)]
pub(crate) struct Slot<T>(Mutex<T>);

impl<T> Slot<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, value: T) {
        *self.lock() = value;
    }
}

impl Slot<Option<MeasureError>> {
    /// Takes the failure that a thread left; `Ok` if there is none.
    pub(crate) fn outcome(&self) -> Result<(), MeasureError> {
        self.lock().take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::{Gate, on_cpus, several_cpus, start_together, usable_cpus};
    use crate::made_up::setting;
    use instrument::experiment::MeasureError;
    use instrument::plan::Profile;
    use platform::placement::{allowed_cpus, current_cpu};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn threads_wait_for_the_first_step() {
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
    fn every_job_is_done_on_every_processor_before_the_next() {
        let cpus = allowed_cpus().expect("this system has them");
        let done = AtomicUsize::new(0);
        let prepare = |cpu| {
            assert_eq!(current_cpu(), Some(cpu));
            Ok(0)
        };
        let work = |sum: &mut usize, job: usize| {
            *sum += job;
            done.fetch_add(*sum, Ordering::SeqCst);
            Ok(())
        };
        let counts = on_cpus(&cpus, prepare, work, |pass| {
            let after = |job| pass(job).map(|()| done.load(Ordering::SeqCst) / cpus.len());
            Ok([after(1)?, after(10)?])
        });
        assert_eq!(counts.expect("they can be pinned"), [1, 12]);
    }

    #[test]
    fn a_job_that_fails_somewhere_fails_and_the_next_is_done() {
        let cpus = allowed_cpus().expect("this system has them");
        let work = |cpu: &mut usize, is_bad: bool| {
            let is_well = !is_bad || *cpu != cpus[0];
            let no_luck = || MeasureError::Unsupported("no luck".into());
            is_well.then_some(()).ok_or_else(no_luck)
        };
        let outcome = on_cpus(&cpus, Ok, work, |pass| {
            let failed = pass(true).expect_err("one fails").to_string();
            pass(false).map(|()| failed)
        });
        assert_eq!(outcome.expect("the second job is done"), "no luck");
    }

    #[test]
    fn no_more_processors_are_usable_than_a_limit_leaves() {
        let mut setting = setting(Profile::Quick);
        let allowed = allowed_cpus().expect("this system has them");
        assert_eq!(usable_cpus(&setting), allowed);
        setting.machine.topology.threads = Some(1);
        assert_eq!(usable_cpus(&setting), allowed[allowed.len() - 1..]);
        let missing = several_cpus(&setting).missing(&setting);
        assert!(missing.is_some_and(|it| it.contains("fewer than two processors")));
    }

    #[test]
    fn a_thread_that_cannot_prepare_fails_all() {
        let prepare = |_| Err(MeasureError::Unsupported("no room".into()));
        let work = |(): &mut (), (): ()| unreachable!("nothing is prepared");
        let cpus = allowed_cpus().expect("this system has them");
        let outcome = on_cpus(&cpus, prepare, work, |_| Ok(()));
        assert_eq!(outcome.expect_err("no room").to_string(), "no room");
        let nowhere = on_cpus(&[100_000], |_| Ok(()), work, |_| Ok(()));
        nowhere.expect_err("there is no such processor");
    }

    #[test]
    fn a_closed_gate_releases_threads_without_work() {
        let gate = Gate::default();
        std::thread::scope(|scope| {
            let early = scope.spawn(|| gate.wait());
            gate.decide(false);
            assert!(!early.join().expect("it does not panic"));
            assert!(!scope.spawn(|| gate.wait()).join().expect("nor does it"));
        });
    }
}
