//! Kernel threads at two locks.

use super::{CHECKED_ENTRIES, Exclusive, LONG_RUN_NS, START, check_lock};
use crate::prelude::*;
use crate::threads::kind::UserThreads;
use crate::threads::two_locks::{BUSY, ENTRY, KernelLock, LOCK, PROCESSORS, STEPS, TwoLocks};
use crate::together::start_together;
use instrument::quantity::counted;
use platform::clock::{now_ns, process_cpu_ns};
use platform::lock::{CriticalSection, PthreadMutex, PthreadSpin, SlimLock};
use platform::placement::{parent_cpus, pin_to};
use std::sync::Mutex;
use std::thread;
use uthread_workload::Section;

/// As [`KernelLock::SpinningSection`] says.
const SPIN_COUNT: u32 = 4000;

impl UserThreads for TwoLocks {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Count(processors) = point.level(PROCESSORS)?;
        let Count(steps) = point.level(STEPS)?;
        let work = (processors, Section::Compute(steps));
        match point.level(LOCK)? {
            KernelLock::PthreadMutex => at_two(sampler, work, || PthreadMutex::new(1)),
            KernelLock::PthreadSpin => at_two(sampler, work, || PthreadSpin::new(1)),
            KernelLock::SlimLock => at_two(sampler, work, || SlimLock::new(1)),
            KernelLock::CriticalSection => at_two(sampler, work, || CriticalSection::new(1, 0)),
            KernelLock::SpinningSection => {
                at_two(sampler, work, || CriticalSection::new(1, SPIN_COUNT))
            }
            KernelLock::StdMutex => at_two(sampler, work, || Ok(Mutex::new(1))),
        }
    }
}

fn at_two<Lock: Exclusive>(
    sampler: &mut Sampler<'_>,
    (processors, section): (u64, Section),
    new: impl Fn() -> platform::Result<Lock>,
) -> Result<(), MeasureError> {
    let locks = [new()?, new()?];
    let cpus = parent_cpus()?;
    let half = processors as usize;
    let Some(unused) = cpus.len().checked_sub(half) else {
        return Err(MeasureError::Unsupported(format!(
            "this program may use {}",
            counted(cpus.len(), "processor")
        )));
    };
    pin_to(&cpus[unused..])?;
    let threads = 2 * half;
    let together = |entries: u64| {
        let enter = |thread: usize| {
            locks[thread / half].with(|value| section.enter(value, thread::yield_now));
        };
        let work = |thread| (0..entries).for_each(|_| enter(thread));
        start_together(threads, || (), work).map_err(MeasureError::system(START))
    };
    together(CHECKED_ENTRIES)?;
    for lock in &locks {
        check_lock(lock, section, processors)?;
    }
    let mut busy = Vec::new();
    sampler.long_runs(ENTRY, threads as f64, LONG_RUN_NS, |entries| {
        let (cpu_ns, begun_ns) = (process_cpu_ns()?, now_ns());
        together(entries)?;
        let cpu_ns = process_cpu_ns()?.saturating_sub(cpu_ns);
        let wall_ns = now_ns() - begun_ns;
        busy.push(cpu_ns as f64 / wall_ns.max(1) as f64);
        Ok(())
    })?;
    // The first runs only search for the number of entries.
    if let Some(last) = busy.last() {
        sampler.value(BUSY, *last);
    }
    Ok(())
}
