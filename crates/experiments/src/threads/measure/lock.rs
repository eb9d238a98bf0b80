//! User threads and kernel threads that contend for one lock. That of user threads is the report's, which is
//! handed over in the order of coming (`uthread::Lock::fifo`).

use super::{CHECKED_ENTRIES, Exclusive, LONG_RUN_NS, START, check, check_lock, refused};
use crate::prelude::*;
use crate::threads::kind::UserThreads;
use crate::threads::lock::{
    BODY, Body, ENTRY, LOCK, LONG_SLICE_US, LONG_STEPS, Lock, LockType, PAIR, RUN, SHORT_SLICE_US,
    SLICE, THREADS, TURNS_TAKEN,
};
use crate::together::start_together;
use platform::lock::{PthreadMutex, PthreadSpin};
use platform::placement::{parent_cpus, pin_to};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use uthread_workload::{Contention, Entered, LockKind, Section, WorkloadError};

/// For a pair of threads, shorter runs are enough.
const RUN_OF_A_PAIR_NS: u64 = 10_000_000;

impl UserThreads for Lock {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Count(threads) = point.level(THREADS)?;
        let section = match point.level(BODY)? {
            Body::Simple => Section::Add,
            Body::SimpleYield => Section::AddAndYield,
            Body::Complex { steps } => Section::Compute(steps),
        };
        let slice = point.get(SLICE.name());
        let chosen_slice = slice.map(|_| point.level(SLICE)).transpose()?;
        let work = Work {
            threads,
            section,
            chosen_slice,
        };
        let (blocking, spinning) = (LockKind::Blocking, LockKind::Spinning);
        match point.level(LOCK)? {
            LockType::Lock => user(sampler, work, blocking, 1),
            LockType::SpinLock => user(sampler, work, spinning, 1),
            LockType::LockOnAllCores => user(sampler, work, blocking, all_processors()?),
            LockType::SpinLockOnAllCores => user(sampler, work, spinning, all_processors()?),
            LockType::PthreadMutex => kernel(sampler, work, &PthreadMutex::new(1)?),
            LockType::PthreadSpin => kernel(sampler, work, &PthreadSpin::new(1)?),
            LockType::StdMutex => kernel(sampler, work, &Mutex::new(1)),
        }
    }
}

/// The threads, and what each does inside the lock.
#[derive(Clone, Copy)]
struct Work {
    threads: u64,
    section: Section,
    /// The slice in µs, where it is not the usual one.
    chosen_slice: Option<Count>,
}

/// Lets this process use all processors that the program may, and returns their number.
fn all_processors() -> Result<usize, MeasureError> {
    let cpus = parent_cpus()?;
    pin_to(&cpus)?;
    Ok(cpus.len())
}

fn user(
    sampler: &mut Sampler<'_>,
    work: Work,
    lock: LockKind,
    workers: usize,
) -> Result<(), MeasureError> {
    let (threads, section) = (work.threads, work.section);
    let yields = section == Section::AddAndYield;
    let contention = |usual_us| Contention {
        workers,
        slice: Duration::from_micros(work.chosen_slice.map_or(usual_us, |Count(us)| us)),
        threads: threads as usize,
        lock,
        section,
    };
    let long_run = contention(SHORT_SLICE_US);
    let run = if yields {
        long_run
    } else {
        contention(LONG_SLICE_US)
    };
    let take = |outcome: Result<Entered, WorkloadError>| outcome.map_err(refused);

    let burns_slices = yields && lock == LockKind::Spinning && threads > 1;
    let is_long = matches!(section, Section::Compute(steps) if steps > LONG_STEPS);
    if workers == 1 && (burns_slices || is_long) {
        let mut runs = Vec::new();
        let enter = || {
            runs.push(take(run.enter_once(1))?);
            Ok(())
        };
        sampler.once(RUN, 1.0, |_| Ok(()), enter)?;
        for entered in runs {
            check(entered.value, section, threads)?;
            sampler.value(TURNS_TAKEN, entered.statistics.preemptions as f64);
        }
        return Ok(());
    }
    let entered = take(long_run.enter_together(CHECKED_ENTRIES))?;
    check(entered.value, section, threads * CHECKED_ENTRIES)?;
    if workers == 1 {
        sampler.repeat(RUN, 1.0, |rounds| take(run.enter_once(rounds)).map(drop))?;
    }
    let together = |entries| take(long_run.enter_together(entries)).map(drop);
    // If threads compute inside, slices end there too.
    let slices_matter = threads > 1 && matches!(section, Section::Compute(_));
    if workers > 1 || slices_matter {
        sampler.long_runs(ENTRY, threads as f64, LONG_RUN_NS, together)
    } else {
        sampler.repeat(ENTRY, threads as f64, together)
    }
}

fn kernel(
    sampler: &mut Sampler<'_>,
    work: Work,
    lock: &impl Exclusive,
) -> Result<(), MeasureError> {
    if work.chosen_slice.is_some() {
        return Err(unsupported("the slice of kernel threads cannot be chosen"));
    }
    all_processors()?;
    let (threads, section) = (work.threads, work.section);
    let enter = || lock.with(|value| section.enter(value, thread::yield_now));
    let together = |entries: u64| {
        let work = |_| (0..entries).for_each(|_| enter());
        start_together(threads as usize, || (), work).map_err(MeasureError::system(START))
    };
    together(CHECKED_ENTRIES)?;
    check_lock(lock, section, threads)?;
    let least_ns = if threads == PAIR.0 {
        RUN_OF_A_PAIR_NS
    } else {
        LONG_RUN_NS
    };
    sampler.long_runs(ENTRY, threads as f64, least_ns, together)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{count, sampled, values};
    use crate::threads::lock::{Body, point};

    #[test]
    fn every_spinner_loses_its_turn_once_for_each_that_goes_before_it() {
        let point = point(Body::SimpleYield, LockType::SpinLock, Count(5));
        let samples = sampled(&Lock, &point, &[TURNS_TAKEN]);
        assert_eq!(count(&samples, ENTRY), 0);
        // On a busy machine a tick may be late, and strike twice as well as not at all.
        let turns = values(&samples, TURNS_TAKEN);
        assert!(turns.iter().all(|turns| *turns >= 4.0), "{turns:?}");
    }

    #[test]
    fn a_chosen_slice_is_what_spinners_burn() {
        let point = point(Body::SimpleYield, LockType::SpinLock, Count(3));
        let samples = sampled(&Lock, &point.at(SLICE, Count(4000)), &[RUN]);
        // Three slices are burnt: 12 ms.
        let of_run = samples.iter().filter(|sample| sample.metric == RUN.name);
        let mut costs = of_run.flat_map(|sample| sample.reading.costs());
        assert!(costs.all(|cost| cost.raw_ns > 8e6));
    }
}
