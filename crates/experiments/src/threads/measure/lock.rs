//! Threads of either kind that want one lock.

use super::super::lock::{
    BODY, ENTRY, LOCK, LOCK_ALL, LOCK_ONE, LONG_SLICE_US, PAIR, PTHREAD_MUTEX, PTHREAD_SPIN, RUN,
    SHORT_SLICE_US, SIMPLE, SIMPLE_YIELD, SPIN_ALL, SPIN_ONE, STD_MUTEX, THREADS, TURNS_TAKEN,
    complex_steps,
};
use super::{START, all_processors, refused, unknown};
use crate::together::start_together;
use instrument::experiment::MeasureError;
use instrument::point::Point;
use instrument::sampler::Sampler;
use platform::lock::{PthreadMutex, PthreadSpin};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use uthread::workload::{Contention, Entered, LockKind, Section, WorkloadError};

/// Threads that lose their turn inside the lock now and then run for so many ns at least: on several
/// processors, where the kernel takes one away every few milliseconds, and where slices end while they
/// compute. Only runs that see that many times tell what it costs.
const LONG_RUN_NS: u64 = 40_000_000;
/// A pair of threads need not wait for that.
const RUN_OF_A_PAIR_NS: u64 = 10_000_000;

/// Entries of each thread in the run whose result is checked.
const CHECKED_ENTRIES: u64 = 3;

pub(in super::super) fn lock(point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
    let threads = point.number(THREADS)?;
    let section = match point.choice(BODY)? {
        SIMPLE => Section::Add,
        SIMPLE_YIELD => Section::AddAndYield,
        other => match complex_steps(other) {
            Some(steps) => Section::Compute(steps),
            None => return Err(unknown("body", other)),
        },
    };
    let lock = point.choice(LOCK)?;
    let workers = match lock {
        LOCK_ONE | SPIN_ONE => 1,
        _ => all_processors()?,
    };
    match lock {
        LOCK_ONE | LOCK_ALL => user(sampler, workers, threads, LockKind::Blocking, section),
        SPIN_ONE | SPIN_ALL => user(sampler, workers, threads, LockKind::Spinning, section),
        PTHREAD_MUTEX => kernel(sampler, threads, section, &PthreadMutex::new(1)?),
        PTHREAD_SPIN => kernel(sampler, threads, section, &PthreadSpin::new(1)?),
        STD_MUTEX => kernel(sampler, threads, section, &Mutex::new(1)),
        other => Err(unknown("lock", other)),
    }
}

fn user(
    sampler: &mut Sampler<'_>,
    workers: usize,
    threads: u64,
    lock: LockKind,
    section: Section,
) -> Result<(), MeasureError> {
    let yields = section == Section::AddAndYield;
    let contention = |slice_us| Contention {
        workers,
        slice: Duration::from_micros(slice_us),
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

    if yields && lock == LockKind::Spinning && threads > 1 {
        let mut turns = Vec::new();
        sampler.once(
            RUN,
            1.0,
            |_| Ok(()),
            || {
                let entered = take(run.enter_once(1))?;
                turns.push(entered.statistics.preemptions);
                check(entered.value, section, threads)
            },
        )?;
        return turns
            .into_iter()
            .try_for_each(|turns| sampler.value(TURNS_TAKEN, turns as f64));
    }
    let entered = take(long_run.enter_together(CHECKED_ENTRIES))?;
    check(entered.value, section, threads * CHECKED_ENTRIES)?;
    if workers == 1 {
        sampler.repeat(RUN, 1.0, |rounds| take(run.enter_once(rounds)).map(drop))?;
    }
    let together = |entries| take(long_run.enter_together(entries)).map(drop);
    // Where threads compute inside, slices end there, too.
    let slices_matter = threads > 1 && matches!(section, Section::Compute(_));
    if workers > 1 || slices_matter {
        sampler.long_runs(ENTRY, threads as f64, LONG_RUN_NS, together)
    } else {
        sampler.repeat(ENTRY, threads as f64, together)
    }
}

/// A lock of kernel threads around the shared number.
trait Exclusive: Sync {
    fn with(&self, work: impl FnOnce(&mut u64));
}

impl Exclusive for PthreadMutex<u64> {
    fn with(&self, work: impl FnOnce(&mut u64)) {
        self.with(work);
    }
}

impl Exclusive for PthreadSpin<u64> {
    fn with(&self, work: impl FnOnce(&mut u64)) {
        self.with(work);
    }
}

impl Exclusive for Mutex<u64> {
    fn with(&self, work: impl FnOnce(&mut u64)) {
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn kernel(
    sampler: &mut Sampler<'_>,
    threads: u64,
    section: Section,
    lock: &impl Exclusive,
) -> Result<(), MeasureError> {
    let enter = || lock.with(|value| section.enter(value, thread::yield_now));
    let together = |entries: u64| {
        start_together(
            threads as usize,
            || (),
            |_| (0..entries).for_each(|_| enter()),
        )
        .map_err(MeasureError::system(START))
    };
    together(CHECKED_ENTRIES)?;
    let mut found = 0;
    lock.with(|value| found = *value);
    check(found, section, threads * CHECKED_ENTRIES)?;
    let least_ns = if threads == PAIR {
        RUN_OF_A_PAIR_NS
    } else {
        LONG_RUN_NS
    };
    sampler.long_runs(ENTRY, threads as f64, least_ns, together)
}

/// Makes sure that all entries were made, one at a time, and that each computed.
fn check(found: u64, section: Section, entries: u64) -> Result<(), MeasureError> {
    if found == section.expected(entries) {
        Ok(())
    } else {
        Err(MeasureError::Unsupported(format!(
            "the lock did not exclude: {found} is not what {entries} entries give"
        )))
    }
}
