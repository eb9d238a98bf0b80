//! Three threads of three priorities. The lowest and the highest share a lock.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use super::{WorkloadError, compute, preemptive};
use uthread::Priority::{Green, Orange, Red};
use uthread::{Builder, JoinHandle, Lock, Protocol, Runtime, Semaphore, SpawnError, current};

/// A low thread (GREEN) holds a lock and computes. A high thread (RED) waits for the lock. A middle
/// thread (ORANGE) uses no lock and is ready. All run on one worker.
///
/// ```
/// use std::time::Duration;
/// use uthread::Protocol;
/// use uthread_workload::Inversion;
///
/// let slice = Duration::from_millis(1);
/// let steps = 1_000_000;
/// let protocol = Protocol::Inheritance;
/// let inversion = Inversion { slice, steps, low_steps: steps, protocol, decay: false };
/// let lanes = inversion.run()?;
/// assert!(lanes.low.ends_ns < lanes.high.ends_ns && lanes.high.ends_ns < lanes.middle.ends_ns);
/// # Ok::<_, uthread_workload::WorkloadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Inversion {
    /// The time slice.
    pub slice: Duration,
    /// Number of steps that the middle and the high thread [`compute`] each.
    pub steps: u64,
    /// Number of steps that the low thread computes inside the lock.
    pub low_steps: u64,
    /// The lock's protocol against priority inversion.
    pub protocol: Protocol,
    /// If true, each tick takes one priority level from the running thread, unless it holds the lock.
    pub decay: bool,
}

/// Event times of each thread.
///
/// ```
/// # use std::time::Duration;
/// # use uthread::Protocol;
/// # use uthread_workload::Inversion;
/// let inversion = Inversion {
///     slice: Duration::from_millis(1),
///     steps: 1000,
///     low_steps: 1000,
///     protocol: Protocol::Inheritance,
///     decay: false,
/// };
/// let lanes = inversion.run()?;
/// assert!(lanes.high.begins_ns <= lanes.high.ends_ns);
/// # Ok::<_, uthread_workload::WorkloadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    /// The thread that holds the lock first.
    pub low: Lane,
    /// The thread that uses no lock.
    pub middle: Lane,
    /// The thread that waits for the lock.
    pub high: Lane,
}

/// Event times of one thread, in nanoseconds since the start.
///
/// ```
/// # use std::time::Duration;
/// # use uthread::Protocol;
/// # use uthread_workload::Inversion;
/// let inversion = Inversion {
///     slice: Duration::from_millis(1),
///     steps: 1000,
///     low_steps: 1000,
///     protocol: Protocol::Inheritance,
///     decay: false,
/// };
/// let lane = inversion.run()?.low;
/// assert!(lane.begins_ns <= lane.ready_ns && lane.ready_ns <= lane.ends_ns);
/// # Ok::<_, uthread_workload::WorkloadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// Time at which it first ran.
    pub begins_ns: u64,
    /// Start of the computation: the low and the high thread hold the lock now.
    pub ready_ns: u64,
    /// End of the computation. The thread releases the lock right after.
    pub ends_ns: u64,
}

#[derive(Default)]
struct Times {
    begins: AtomicU64,
    ready: AtomicU64,
    ends: AtomicU64,
}

impl Times {
    fn lane(&self) -> Lane {
        let read = |time: &AtomicU64| time.load(Ordering::Relaxed);
        Lane {
            begins_ns: read(&self.begins),
            ready_ns: read(&self.ready),
            ends_ns: read(&self.ends),
        }
    }
}

/// Data that the threads share.
struct Stage {
    start: Instant,
    lock: Lock<()>,
    locked: Semaphore,
    steps: u64,
    low_steps: u64,
    low: Times,
    middle: Times,
    high: Times,
}

impl Stage {
    fn note(&self, time: &AtomicU64) {
        time.store(self.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    fn compute(&self, steps: u64, times: &Times) {
        black_box(compute(1, steps));
        self.note(&times.ends);
    }

    fn low(&self) {
        self.note(&self.low.begins);
        let _guard = self.lock.lock().expect("nobody panics");
        self.note(&self.low.ready);
        self.locked.release(1);
        self.compute(self.low_steps, &self.low);
    }

    fn middle(&self) {
        self.note(&self.middle.begins);
        self.note(&self.middle.ready);
        self.compute(self.steps, &self.middle);
    }

    fn high(&self) {
        self.note(&self.high.begins);
        let _guard = self.lock.lock().expect("nobody panics");
        self.note(&self.high.ready);
        self.compute(self.steps, &self.high);
    }
}

impl Inversion {
    /// Runs the scenario once.
    ///
    /// # Errors
    /// If the system has no resources for it or does not allow preemption.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uthread::Protocol;
    /// # use uthread_workload::Inversion;
    /// let inversion = Inversion {
    ///     slice: Duration::from_millis(1),
    ///     steps: 1000,
    ///     low_steps: 1000,
    ///     protocol: Protocol::Inheritance,
    ///     decay: false,
    /// };
    /// assert!(inversion.run()?.high.ends_ns > 0);
    /// # Ok::<_, uthread_workload::WorkloadError>(())
    /// ```
    pub fn run(&self) -> Result<Lanes, WorkloadError> {
        let builder = Runtime::builder().decay(self.decay).boost_every(0);
        let runtime = preemptive(builder, self.slice).build()?;
        // It outlives the run, so no thread frees its memory.
        let stage = Arc::new(Stage {
            start: Instant::now(),
            lock: match self.protocol {
                Protocol::None => Lock::fifo(()),
                protocol => Lock::with_protocol((), protocol),
            },
            locked: Semaphore::new(0),
            steps: self.steps,
            low_steps: self.low_steps,
            low: Times::default(),
            middle: Times::default(),
            high: Times::default(),
        });
        let start = |priority, act: fn(&Stage)| -> Result<JoinHandle<()>, SpawnError> {
            let stage = Arc::clone(&stage);
            let builder = Builder::new().priority(priority);
            builder.spawn(move || act(&stage))
        };
        let ended = runtime.try_run(|| {
            current().set_priority(Red);
            let low = start(Green, Stage::low)?;
            stage.locked.acquire();
            let high = start(Red, Stage::high)?;
            let middle = start(Orange, Stage::middle)?;
            for thread in [high, middle, low] {
                thread.join().expect("nobody panics");
            }
            Ok::<_, SpawnError>(())
        })?;
        ended.map_err(io::Error::other)?;
        Ok(Lanes {
            low: stage.low.lane(),
            middle: stage.middle.lane(),
            high: stage.high.lane(),
        })
    }
}
