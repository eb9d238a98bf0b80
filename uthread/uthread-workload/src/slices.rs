//! Two threads that compute in turn, and the length of each turn.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use super::{WorkloadError, preemptive};
use uthread::{Builder, JoinHandle, Runtime, SpawnError};

/// Two threads that only compute, so that ticks alone end their turns. Both run on one worker.
///
/// ```
/// use std::time::Duration;
/// use uthread_workload::Slices;
///
/// let slices = Slices { slice: Duration::from_millis(1), count: 10 };
/// assert!(slices.run()?.len() >= 10);
/// # Ok::<_, uthread_workload::WorkloadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    /// The time slice.
    pub slice: Duration,
    /// The least number of slices to observe.
    pub count: usize,
}

/// One slice as a thread saw it, and the tick after it.
///
/// ```
/// use std::time::Duration;
/// use uthread_workload::Slices;
///
/// let slices = Slices { slice: Duration::from_millis(1), count: 10 };
/// assert!(slices.run()?.iter().all(|turn| turn.slice_ns > 0.0 && turn.tick_ns > 0.0));
/// # Ok::<_, uthread_workload::WorkloadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Time from a thread's first instruction after one tick to its last before the next.
    pub slice_ns: f64,
    /// Time from one thread's last instruction to the other's first: the signal, the handler, the
    /// choice of the next thread and the switch.
    pub tick_ns: f64,
}

/// A [`Turn`] in counts of the processor's counter.
struct Counted {
    slice: u64,
    tick: u64,
}

/// State that both threads see.
#[derive(Default)]
struct Stage {
    /// The latest reading of each thread.
    latest: [AtomicU64; 2],
    is_over: AtomicBool,
}

/// The processor's counter. It is read without a call: a tick inside a library is deferred.
#[inline]
fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction, and Linux allows it.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: the instruction only reads the counter, and Linux allows it.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack));
        }
        count
    }
}

impl Stage {
    /// Reads the counter without end, and publishes each reading. If the other thread has published one
    /// since the last look, it ran in between.
    ///
    /// Fills `turns` up to its capacity, so it allocates nothing.
    fn watch(&self, me: usize, mut turns: Vec<Counted>) -> Vec<Counted> {
        let (mine, theirs) = (&self.latest[me], &self.latest[1 - me]);
        let mut began = counter();
        let mut before = began;
        let mut others = theirs.load(Ordering::Relaxed);
        while turns.len() < turns.capacity() && !self.is_over.load(Ordering::Relaxed) {
            let now = counter();
            mine.store(now, Ordering::Relaxed);
            let latest = theirs.load(Ordering::Relaxed);
            if latest != others {
                // The tick came after `now` was read, or before.
                let (ended, resumed) = if now < latest {
                    (now, counter())
                } else {
                    (before, now)
                };
                turns.push(Counted {
                    slice: ended.saturating_sub(began),
                    tick: resumed.saturating_sub(latest),
                });
                (began, others) = (resumed, latest);
            }
            before = now;
        }
        self.is_over.store(true, Ordering::Relaxed);
        turns
    }
}

impl Slices {
    /// Runs both threads until one has seen its half of the slices. The first slice of each is left out:
    /// it does not start at a tick.
    ///
    /// # Errors
    /// If the system has no resources for it or does not allow preemption.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uthread_workload::Slices;
    ///
    /// let short = Slices { slice: Duration::from_nanos(1), count: 10 };
    /// assert!(short.run().is_err());
    /// ```
    pub fn run(&self) -> Result<Vec<Turn>, WorkloadError> {
        let builder = Runtime::builder().decay(false);
        let runtime = preemptive(builder, self.slice).build()?;
        // Of the slower thread, the first turn and one more may be missing.
        let each = self.count.div_ceil(2) + 2;
        // All of it is allocated before the run and freed after it.
        let stage = Arc::new(Stage::default());
        let [first, second] = [(); 2].map(|()| Vec::with_capacity(each));
        let start = |me, turns| -> Result<JoinHandle<Vec<Counted>>, SpawnError> {
            let stage = Arc::clone(&stage);
            Builder::new().spawn(move || stage.watch(me, turns))
        };
        let (instant, count) = (Instant::now(), counter());
        let seen = runtime.try_run(|| {
            let threads = [start(0, first)?, start(1, second)?];
            Ok::<_, SpawnError>(threads.map(|thread| thread.join().expect("nobody panics")))
        })?;
        let counts_in_ns =
            counter().saturating_sub(count) as f64 / instant.elapsed().as_nanos() as f64;
        let ns = |counts: u64| counts as f64 / counts_in_ns;
        let turns = seen.map_err(io::Error::other)?.into_iter();
        let started_at_a_tick = turns.flat_map(|turns| turns.into_iter().skip(1));
        Ok(started_at_a_tick
            .map(|turn| Turn {
                slice_ns: ns(turn.slice),
                tick_ns: ns(turn.tick),
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Slices;
    use core::time::Duration;

    // Windows has no ticks.
    #[cfg(target_os = "linux")]
    #[test]
    fn turns_fill_the_time_and_do_not_overlap() {
        let slices = Slices {
            slice: Duration::from_micros(200),
            count: 20,
        };
        let run = || {
            let begin = std::time::Instant::now();
            let turns = slices.run().expect("threads can be preempted here");
            let took_ns = begin.elapsed().as_nanos() as f64;
            assert!(turns.len() >= 20, "{} turns", turns.len());
            let spent_ns = |turn: &super::Turn| turn.slice_ns + turn.tick_ns;
            (turns.iter().map(spent_ns).sum::<f64>(), took_ns)
        };
        // The counter and the clock are read at slightly different moments.
        let fits = |&(all_ns, took_ns): &(f64, f64)| 0.0 < all_ns && all_ns < 1.01 * took_ns;
        // Both threads count the time in which the kernel takes the processor away between two readings.
        let found: Vec<_> = (0..50)
            .map(|_| run())
            .take_while(|run| !fits(run))
            .collect();
        assert!(found.len() < 50, "{found:?}");
    }
    #[cfg(windows)]
    #[test]
    fn a_system_without_ticks_refuses() {
        use crate::WorkloadError::Build;
        use uthread::BuildError::NoPreemption;

        let slices = Slices {
            slice: Duration::from_micros(200),
            count: 20,
        };
        assert!(matches!(slices.run(), Err(Build(NoPreemption))));
    }
}
