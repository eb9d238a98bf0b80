//! Kernel threads that begin together, or not at all, and those that run next to a timed thread.

use instrument::experiment::MeasureError;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::quantity::{Count, counted};
use platform::machine::Machine;
use platform::placement::{allowed_cpus, cpus_of_core, parent_cpus, pin_to};
use std::collections::HashSet;
use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, RwLock, mpsc};
use std::thread;

/// The processors that a run with this setting may use, in ascending order.
pub(crate) fn usable_cpus(setting: &Setting) -> Vec<usize> {
    let allowed = allowed_cpus().unwrap_or_default();
    let most = setting.machine.topology.threads.unwrap_or(allowed.len());
    // The last ones: a limit leaves these, and most interrupts go to the first.
    allowed[allowed.len().saturating_sub(most)..].to_vec()
}

/// Processors for `threads` threads, each with its own: the last ones, since most interrupts go to the
/// first, and each on a core of its own while there are cores.
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
    let mut cpus = by_core(&cpus, cpus_of_core);
    cpus.truncate(threads);
    Ok(cpus)
}

/// One of `cpus` of each core, the last first, and then those whose core is among them already. `core` returns all
/// processors of the same core.
fn by_core(cpus: &[usize], core: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut cores = HashSet::new();
    let cpus = cpus.iter().rev().copied();
    let (mut first, second): (Vec<_>, Vec<_>) = cpus.partition(|cpu| cores.insert(core(*cpu)));
    first.extend(second);
    first
}

/// True if each of `threads` threads can have a core of its own, as far as the cores of `machine` are known.
pub(crate) fn have_cores(machine: &Machine, threads: Count) -> bool {
    let cores = machine.topology.cores;
    cores.is_none_or(|cores| threads.0 <= cores as u64)
}

/// The need of experiments in which several processors work at once.
pub(crate) fn several_cpus(setting: &Setting) -> Need {
    Need::Several {
        count: usable_cpus(setting).len(),
        what: "processors that this program may use".into(),
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
    start(0..threads, first, work, |outcome| outcome)
}

/// As [`start_together`], with a thread for each of `numbers`. While they work, does `meanwhile` with the outcome of
/// `first`.
fn start<T, U>(
    numbers: impl ExactSizeIterator<Item = usize>,
    first: impl FnOnce() -> T,
    work: impl Fn(usize) + Sync,
    meanwhile: impl FnOnce(T) -> U,
) -> io::Result<U> {
    // Threads can read it when all of them are there, or one could not be started. At a barrier those that were
    // started would wait for ever, if the system has no room for the others.
    let gate = RwLock::new(false);
    let (arrive, arrived) = mpsc::channel();
    thread::scope(|scope| {
        let mut is_open = gate.write().unwrap_or_else(PoisonError::into_inner);
        let threads = numbers.len();
        for number in numbers {
            let (arrive, gate, work) = (arrive.clone(), &gate, &work);
            let enter = move || {
                // The receiver outlives all threads.
                let _ = arrive.send(());
                if gate.read().is_ok_and(|is_open| *is_open) {
                    work(number);
                }
            };
            thread::Builder::new().spawn_scoped(scope, enter)?;
        }
        arrived.iter().take(threads).for_each(drop);
        let outcome = first();
        *is_open = true;
        drop(is_open);
        Ok(meanwhile(outcome))
    })
}

/// Starts a thread on each of `cpus`, pinned to it, which makes its own state by `prepare`. Once all
/// are ready, each runs `other` with its state next to `work`, which runs on the calling thread. The
/// flag that `other` gets is set when `work` has ended.
///
/// # Errors
/// If a thread cannot be started or pinned, or cannot prepare, that error without a call of `other` or
/// `work`; else the error of `work`.
pub(crate) fn next_to<State, T>(
    cpus: &[usize],
    prepare: impl Fn(usize) -> Result<State, MeasureError> + Sync,
    other: impl Fn(State, &AtomicBool) + Sync,
    work: impl FnOnce() -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    let is_over = AtomicBool::new(false);
    let failure = Slot(Mutex::new(None));
    let ready = Barrier::new(cpus.len() + 1);
    let member = |cpu| {
        let pinned = pin_to(&[cpu]).map_err(MeasureError::from);
        let state = pinned.and_then(|()| prepare(cpu));
        let state = state.map_err(|error| failure.set(Some(error)));
        ready.wait();
        // Between the two, the calling thread learns if all could prepare.
        ready.wait();
        if let Ok(state) = state
            && !is_over.load(Ordering::Acquire)
        {
            other(state, &is_over);
        }
    };
    let lead = |()| {
        ready.wait();
        let prepared = failure.outcome();
        is_over.store(prepared.is_err(), Ordering::Release);
        ready.wait();
        // Also if `work` panics: this thread then waits for the others.
        let _over = AtEnd(|| is_over.store(true, Ordering::Release));
        prepared.and_then(|()| work())
    };
    let done = start(cpus.iter().copied(), || (), member, lead);
    done.map_err(MeasureError::system("start a thread"))?
}

/// Runs `work` next to a thread on `cpu` that does `step` repeatedly.
///
/// # Errors
/// Those of [`next_to`].
pub(crate) fn next_to_computing<T>(
    cpu: usize,
    step: impl Fn() + Sync,
    work: impl FnOnce() -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    let compute = |(), is_over: &AtomicBool| {
        while !is_over.load(Ordering::Relaxed) {
            step();
        }
    };
    next_to(&[cpu], |_| Ok(()), compute, work)
}

/// Starts a thread on each of `cpus` as [`next_to`] does. Calls `lead` with a function that has every
/// thread do the same job with its state, all from the same moment on, and returns when the last has
/// ended.
///
/// # Errors
/// Those of [`next_to`], without a call of `lead`; else the error of `lead`. A job that fails on one of
/// the processors fails for all.
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
    let follow = |mut state: State, _: &AtomicBool| {
        loop {
            begin.wait();
            let Some(job) = *next.lock() else { return };
            // The barrier wakes one thread after another: the early ones wait for the last.
            let place = arrived.fetch_add(1, Ordering::AcqRel) + 1;
            while arrived.load(Ordering::Acquire) < place.next_multiple_of(cpus.len()) {
                spin_loop();
            }
            work(&mut state, job).unwrap_or_else(|error| failure.set(Some(error)));
            end.wait();
        }
    };
    next_to(cpus, prepare, follow, || {
        let _over = AtEnd(|| {
            next.set(None);
            begin.wait();
        });
        lead(&|job| {
            next.set(Some(job));
            begin.wait();
            end.wait();
            failure.outcome()
        })
    })
}

/// Does something when it is dropped, also by a panic.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        self.0();
    }
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
    use super::{
        by_core, next_to, next_to_computing, on_cpus, several_cpus, start_together, usable_cpus,
    };
    use crate::made_up::setting;
    use instrument::experiment::MeasureError;
    use instrument::plan::Profile;
    use platform::placement::{allowed_cpus, current_cpu};
    use std::hint::spin_loop;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use testing::wait_until;

    #[test]
    fn threads_have_cores_of_their_own_while_there_are_cores() {
        let adjacent = |cpu: usize| vec![cpu & !1, cpu | 1];
        assert_eq!(by_core(&[0, 1, 2, 3, 4, 5], adjacent), [5, 3, 1, 4, 2, 0]);
        let far = |cpu: usize| vec![cpu % 3, cpu % 3 + 3];
        assert_eq!(by_core(&[0, 1, 2, 3, 4, 5], far), [5, 4, 3, 2, 1, 0]);
        assert_eq!(by_core(&[0, 2, 3, 4], far), [4, 3, 2, 0]);
        assert_eq!(by_core(&[1, 2, 3], |cpu| vec![cpu]), [3, 2, 1]);
    }

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
    fn others_run_next_to_the_work_until_it_ends() {
        let cpus = allowed_cpus().expect("this system has them");
        let (running, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let other = |cpu, is_over: &AtomicBool| {
            assert_eq!(current_cpu(), Some(cpu));
            running.fetch_add(1, Ordering::SeqCst);
            wait_until("the end of the work", || is_over.load(Ordering::SeqCst));
            ended.fetch_add(1, Ordering::SeqCst);
        };
        let ended_before = next_to(&cpus, Ok, other, || {
            let are_running = || running.load(Ordering::SeqCst) == cpus.len();
            wait_until("the other threads", are_running);
            Ok(ended.load(Ordering::SeqCst))
        });
        assert_eq!(ended_before.expect("they can be pinned"), 0);
        assert_eq!(ended.into_inner(), cpus.len());
    }

    #[test]
    fn none_begins_if_one_of_several_cannot_prepare() {
        let cpus = allowed_cpus().expect("this system has them");
        let no_room = || MeasureError::Unsupported("no room".into());
        let prepare = |cpu| (cpu != cpus[0]).then_some(()).ok_or_else(no_room);
        let work = |(): &mut (), (): ()| unreachable!("not all are prepared");
        let outcome = on_cpus(&cpus, prepare, work, |_| Ok(()));
        assert_eq!(outcome.expect_err("no room").to_string(), "no room");
        let nowhere = on_cpus(&[100_000], |_| Ok(()), work, |_| Ok(()));
        nowhere.expect_err("there is no such processor");
    }

    #[test]
    fn threads_that_are_not_let_in_end_without_work() {
        let worked = AtomicUsize::new(0);
        let work = |_| {
            worked.fetch_add(1, Ordering::SeqCst);
        };
        let first: fn() = || panic!("nobody is let in");
        let started = AssertUnwindSafe(|| start_together(3, first, work));
        catch_unwind(started).expect_err("it panics");
        assert_eq!(worked.into_inner(), 0);
    }

    #[test]
    fn threads_end_if_the_work_next_to_them_panics() {
        let cpus = &allowed_cpus().expect("this system has them")[..1];
        let next_to_panic = || next_to_computing::<()>(cpus[0], spin_loop, || panic!("no work"));
        catch_unwind(next_to_panic).expect_err("it panics");
        let leading = || {
            on_cpus::<_, (), ()>(
                cpus,
                |_| Ok(()),
                |(): &mut (), ()| Ok(()),
                |job| {
                    job(())?;
                    panic!("no lead")
                },
            )
        };
        catch_unwind(leading).expect_err("it panics");
    }
}
