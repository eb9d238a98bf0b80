//! Threads that contend for one lock.

use core::time::Duration;
use std::io;
use std::sync::Arc;

use super::{WorkloadError, compute, preemptive};
use uthread::{Barrier, Builder, JoinHandle, Lock, Runtime, SpinLock, Statistics, yield_now};

/// Threads that contend for one lock.
///
/// ```
/// use std::time::Duration;
/// use uthread_workload::{Contention, LockKind, Section};
///
/// let contention = Contention {
///     workers: 1,
///     slice: Duration::from_millis(1),
///     threads: 10,
///     lock: LockKind::Blocking,
///     section: Section::Add,
/// };
/// assert_eq!(contention.enter_together(100)?.value, 1001);
/// assert_eq!(contention.enter_once(3)?.value, 31);
/// # Ok::<_, uthread_workload::WorkloadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Contention {
    /// Kernel threads that run the threads.
    pub workers: usize,
    /// The time slice; zero for a cooperative runtime. There, holding a spin lock across a switch
    /// is a panic.
    pub slice: Duration,
    /// Number of threads.
    pub threads: usize,
    /// The lock that they take.
    pub lock: LockKind,
    /// The work inside the lock.
    pub section: Section,
}

/// Kind of the lock, and so the way in which threads wait.
///
/// ```
/// use uthread_workload::LockKind;
///
/// assert_ne!(LockKind::Blocking, LockKind::Spinning);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// A [`Lock::fifo`].
    Blocking,
    /// A plain [`SpinLock`].
    Spinning,
}

/// Operation inside the lock on the value, which starts at 1.
///
/// ```
/// use uthread_workload::Section;
///
/// assert_eq!(Section::Add.expected(10), 11);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Adds 1.
    Add,
    /// Adds 1 and yields before it unlocks.
    AddAndYield,
    /// Runs this many steps of [`compute`].
    Compute(u64),
}

impl Section {
    /// Applies the operation to `value`.
    ///
    /// ```
    /// use uthread_workload::Section;
    ///
    /// let mut value = 1;
    /// Section::AddAndYield.enter(&mut value, std::thread::yield_now);
    /// assert_eq!(value, 2);
    /// ```
    #[inline]
    pub fn enter(self, value: &mut u64, yield_turn: impl FnOnce()) {
        match self {
            Self::Add => *value += 1,
            Self::AddAndYield => {
                *value += 1;
                yield_turn();
            }
            Self::Compute(steps) => *value = compute(*value, steps),
        }
    }

    /// The value after this many entries, calculated without threads or locks.
    ///
    /// ```
    /// use uthread_workload::{Section, compute};
    ///
    /// assert_eq!(Section::Compute(100).expected(3), compute(1, 300));
    /// ```
    #[must_use]
    pub fn expected(self, entries: u64) -> u64 {
        match self {
            Self::Add | Self::AddAndYield => 1 + entries,
            Self::Compute(steps) => compute(1, steps * entries),
        }
    }
}

/// Result of a run.
///
/// ```
/// # use std::time::Duration;
/// # use uthread_workload::{Contention, LockKind, Section};
/// let contention = Contention {
///     workers: 1,
///     slice: Duration::ZERO,
///     threads: 3,
///     lock: LockKind::Blocking,
///     section: Section::Add,
/// };
/// let entered = contention.enter_once(1)?;
/// assert_eq!((entered.value, entered.statistics.preemptions), (4, 0));
/// # Ok::<_, uthread_workload::WorkloadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entered {
    /// The final value. Equals [`Section::expected`] of all entries if the lock excludes.
    pub value: u64,
    /// Counters of the run.
    pub statistics: Statistics,
}

/// The value behind the lock of either kind.
enum Guarded {
    Blocking(Lock<u64>),
    Spinning(SpinLock<u64>),
}

impl Guarded {
    #[inline]
    fn enter(&self, section: Section) {
        match self {
            Self::Blocking(lock) => {
                let mut value = lock.lock().expect("nobody panics");
                section.enter(&mut value, yield_now);
            }
            Self::Spinning(lock) => section.enter(&mut lock.lock(), yield_now),
        }
    }

    fn value(&self) -> u64 {
        match self {
            Self::Blocking(lock) => *lock.lock().expect("nobody panics"),
            Self::Spinning(lock) => *lock.lock(),
        }
    }
}

impl Contention {
    /// Starts the threads, lets each enter once, and joins them; repeats this `rounds` times.
    ///
    /// # Errors
    /// If the system has no resources for it or does not allow preemption.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uthread_workload::{Contention, LockKind, Section};
    /// let contention = Contention {
    ///     workers: 1,
    ///     slice: Duration::ZERO,
    ///     threads: 3,
    ///     lock: LockKind::Blocking,
    ///     section: Section::Add,
    /// };
    /// assert_eq!(contention.enter_once(10)?.value, 31);
    /// # Ok::<_, uthread_workload::WorkloadError>(())
    /// ```
    pub fn enter_once(&self, rounds: u64) -> Result<Entered, WorkloadError> {
        self.run(rounds, Guarded::enter)
    }

    /// Starts the threads. When the last one is ready, each enters `entries` times.
    ///
    /// # Errors
    /// If the system has no resources for it or does not allow preemption.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uthread_workload::{Contention, LockKind, Section};
    /// let contention = Contention {
    ///     workers: 1,
    ///     slice: Duration::ZERO,
    ///     threads: 3,
    ///     lock: LockKind::Blocking,
    ///     section: Section::Add,
    /// };
    /// assert_eq!(contention.enter_together(10)?.value, 31);
    /// # Ok::<_, uthread_workload::WorkloadError>(())
    /// ```
    pub fn enter_together(&self, entries: u64) -> Result<Entered, WorkloadError> {
        let barrier = Arc::new(Barrier::new(self.threads));
        let inside = Arc::clone(&barrier);
        self.run(1, move |guarded, section| {
            inside.wait();
            for _ in 0..entries {
                guarded.enter(section);
            }
        })
    }

    fn run(
        &self,
        rounds: u64,
        work: impl Fn(&Guarded, Section) + Send + Sync + 'static,
    ) -> Result<Entered, WorkloadError> {
        let builder = Runtime::builder().workers(self.workers).decay(false);
        let runtime = preemptive(builder, self.slice).build()?;
        let guarded = match self.lock {
            LockKind::Blocking => Guarded::Blocking(Lock::fifo(1)),
            LockKind::Spinning => Guarded::Spinning(SpinLock::new(1)),
        };
        // The shared data outlives the run, and the vector of handles has its full capacity. So no
        // code in the run allocates or frees memory.
        let shared = Arc::new((guarded, work));
        let mut handles: Vec<JoinHandle<()>> = Vec::with_capacity(self.threads);
        let section = self.section;
        let value = runtime.try_run(|| {
            for _ in 0..rounds {
                for _ in 0..self.threads {
                    let shared = Arc::clone(&shared);
                    let started = Builder::new().spawn(move || (shared.1)(&shared.0, section));
                    handles.push(started?);
                }
                for handle in handles.drain(..) {
                    handle.join().expect("nobody panics");
                }
            }
            Ok::<_, uthread::SpawnError>(shared.0.value())
        })?;
        Ok(Entered {
            value: value.map_err(io::Error::other)?,
            statistics: runtime.statistics(),
        })
    }
}
