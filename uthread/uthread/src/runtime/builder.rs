//! Configuration of a runtime.

use core::time::Duration;

use super::run::Runtime;
use crate::build_error::BuildError;
use crate::io::Backend;
use crate::panic_message::name_user_threads;
use crate::preempt::prepare;
use crate::scheduler::Policy;
use crate::stack::{LARGEST_BYTES, class_for};
use crate::worker::{Config, Mode};

/// Shorter slices would spend most of their time on the ticks.
const SHORTEST_SLICE: Duration = Duration::from_micros(20);

/// Stack that remains for the thread itself below the frame of a tick, in bytes.
const LEAST_STACK_BYTES: usize = 16 << 10;

/// Builds a [`Runtime`].
///
/// ```
/// use uthread::Runtime;
///
/// let runtime = Runtime::builder().workers(2).stack_size(128 << 10).build().unwrap();
/// assert_eq!(runtime.run(|| uthread::spawn(|| 7).join().unwrap()), 7);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct RuntimeBuilder {
    slice: Duration,
    cpu_time: bool,
    seed: Option<u64>,
    workers: usize,
    stack_bytes: usize,
    main_stack_bytes: usize,
    policy: Policy,
    backend: Backend,
    trace_events: usize,
    /// An address in the text that ticks may interrupt; `None` for that of this crate.
    text: Option<usize>,
}

impl Runtime {
    /// Starts with a cooperative runtime of one worker.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().build().unwrap();
    /// assert_eq!(runtime.run(|| 7), 7);
    /// ```
    pub const fn builder() -> RuntimeBuilder {
        RuntimeBuilder::new()
    }
}

impl RuntimeBuilder {
    const fn new() -> Self {
        Self {
            slice: Duration::ZERO,
            cpu_time: false,
            seed: None,
            workers: 1,
            stack_bytes: 64 << 10,
            main_stack_bytes: 1 << 20,
            policy: Policy {
                decay: true,
                boost_every: 100,
            },
            backend: Backend::Auto,
            trace_events: 0,
            text: None,
        }
    }

    /// The time slice: the time after which another ready thread runs. Zero, the default, makes the
    /// runtime cooperative.
    ///
    /// A slice that starts at a tick lasts exactly this long. A slice that starts when another
    /// thread blocks or yields lasts half to one and a half times as long: reading the clock at
    /// each switch would cost more than the switch.
    ///
    /// Windows has no signals of timers: there, [`RuntimeBuilder::build`] returns
    /// [`BuildError::NoPreemption`].
    ///
    /// # Safety
    /// The code of all threads in a preemptive runtime must tolerate that another thread of the
    /// *same kernel thread* interrupts it between any two instructions of the program's own text,
    /// unless it holds a [`NoPreempt`](crate::NoPreempt) guard. In particular:
    ///
    /// * Two user threads must not use a value in a `std::thread_local!`, or anything else that
    ///   belongs to the kernel thread, without that guard. This includes values that libraries keep
    ///   there (a random number generator, for example).
    /// * A global allocator that is part of the program must be wrapped in
    ///   [`GuardedAlloc`](crate::GuardedAlloc). The system's allocator need not be.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uthread::Runtime;
    ///
    /// // SAFETY: the threads share no thread-locals of the kernel thread.
    /// let builder = unsafe { Runtime::builder().slice(Duration::from_millis(1)) };
    /// let sum = builder.build().unwrap().run(|| uthread::spawn(|| (1..=10).sum::<u32>()).join());
    /// assert_eq!(sum.unwrap(), 55);
    /// ```
    pub const unsafe fn slice(mut self, slice: Duration) -> Self {
        self.slice = slice;
        self
    }

    /// If true, slices count the CPU time of their worker. By default they count the time that passes.
    ///
    /// A system call that waits takes no CPU time, so no tick interrupts it: polls, sleeps and calls with a time limit,
    /// which the kernel does not restart, wait to their end. The kernel looks at CPU time only at its own ticks, each 1 to
    /// 10 ms. So a slice, and the time limit of a thread that waits while another computes, may end that much later.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uthread::Runtime;
    ///
    /// // SAFETY: the threads share no thread-locals of the kernel thread.
    /// let builder = unsafe { Runtime::builder().slice(Duration::from_millis(10)) };
    /// let runtime = builder.cpu_time_slices(true).build().unwrap();
    /// assert_eq!(runtime.run(|| uthread::spawn(|| 7).join().unwrap()), 7);
    /// ```
    pub const fn cpu_time_slices(mut self, cpu_time: bool) -> Self {
        self.cpu_time = cpu_time;
        self
    }

    /// Makes runs repeatable. A generator with this seed selects some of the library's own
    /// operations, and threads are preempted there. Time is virtual: it advances at such ticks and
    /// when all threads sleep. Transfers happen at once. There is one worker and no timer.
    ///
    /// ```
    /// use uthread::{Runtime, spawn};
    ///
    /// let order = || {
    ///     let runtime = Runtime::builder().deterministic(7).trace(100).build().unwrap();
    ///     runtime.run(|| drop((0..3).map(|_| spawn(uthread::yield_now)).collect::<Vec<_>>()));
    ///     runtime.trace().events().iter().map(|event| event.thread).collect::<Vec<_>>()
    /// };
    /// assert_eq!(order(), order());
    /// ```
    pub const fn deterministic(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Number of kernel threads that run user threads; the default is 1. A thread that has started
    /// stays on its worker. Idle workers steal threads that have not started.
    ///
    /// ```
    /// use uthread::Runtime;
    ///
    /// let runtime = Runtime::builder().workers(2).build().unwrap();
    /// assert_eq!(runtime.run(|| uthread::spawn(|| 7).join().unwrap()), 7);
    /// ```
    pub const fn workers(mut self, workers: usize) -> Self {
        self.workers = if workers == 0 { 1 } else { workers };
        self
    }

    /// Default stack size of a thread, in bytes of address space; the default is 64 KiB. It is
    /// rounded up to 16 KiB times a power of two. In a preemptive runtime it is at least large
    /// enough for the frame of a tick.
    ///
    /// On Windows, 24 KiB are added for the report of an overflow, and the sum is rounded up to 64 KiB
    /// times a power of two. All of it is committed at once: it takes memory only where it is
    /// touched, but counts against the system's commit limit.
    ///
    /// ```
    /// use uthread::Runtime;
    ///
    /// let runtime = Runtime::builder().stack_size(1 << 20).build().unwrap();
    /// let large = runtime.run(|| uthread::spawn(|| [1u8; 500_000].len()).join().unwrap());
    /// assert_eq!(large, 500_000);
    /// ```
    pub const fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// Stack size of the first thread, in bytes of address space; the default is 1 MiB.
    ///
    /// ```
    /// use uthread::Runtime;
    ///
    /// let runtime = Runtime::builder().main_stack_size(4 << 20).build().unwrap();
    /// assert_eq!(runtime.run(|| [1u8; 2_000_000].len()), 2_000_000);
    /// ```
    pub const fn main_stack_size(mut self, bytes: usize) -> Self {
        self.main_stack_bytes = bytes;
        self
    }

    /// If true, the default, a thread that uses up its slice loses one priority level, unless it
    /// holds a [`Lock`](crate::Lock).
    ///
    /// ```
    /// use uthread::{Priority, Runtime};
    ///
    /// let runtime = Runtime::builder().decay(false).build().unwrap();
    /// assert_eq!(runtime.run(|| uthread::current().priority()), Priority::Orange);
    /// ```
    pub const fn decay(mut self, decay: bool) -> Self {
        self.policy.decay = decay;
        self
    }

    /// After this many ticks of a worker, all its threads return to the priority that the program
    /// gave them. The default is 100; 0 means never.
    ///
    /// ```
    /// use uthread::Runtime;
    ///
    /// assert_eq!(Runtime::builder().boost_every(10).build().unwrap().run(|| 7), 7);
    /// ```
    pub const fn boost_every(mut self, ticks: u32) -> Self {
        self.policy.boost_every = ticks;
        self
    }

    /// Mechanism for transfers that would block.
    ///
    /// ```
    /// use uthread::Runtime;
    /// use uthread::io::Backend;
    ///
    /// let runtime = Runtime::builder().io(Backend::Threads).build().unwrap();
    /// assert_eq!(runtime.io(), Backend::Threads);
    /// ```
    pub const fn io(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Records up to this many events per worker; newer events overwrite the oldest. 0, the
    /// default, records nothing.
    ///
    /// ```
    /// use uthread::Runtime;
    ///
    /// let runtime = Runtime::builder().trace(100).build().unwrap();
    /// runtime.run(|| uthread::spawn(|| ()).join().unwrap());
    /// assert!(!runtime.trace().events().is_empty());
    /// ```
    pub const fn trace(mut self, events: usize) -> Self {
        self.trace_events = events;
        self
    }

    /// Ticks may interrupt the instructions of the program or shared library that contains this
    /// address; by default, of the one that contains this crate. A shared library that offers
    /// threads to its program passes an address in the program. The runtime built last decides for
    /// the process.
    ///
    /// ```
    /// fn of_the_program() {}
    /// let builder = uthread::Runtime::builder().text(of_the_program as *const ());
    /// assert!(builder.build().is_ok());
    /// ```
    pub fn text(mut self, address: *const ()) -> Self {
        self.text = Some(address.addr());
        self
    }

    /// Builds the runtime.
    ///
    /// The first runtime of a process puts a panic hook before the one that is there: it prints the name of the user
    /// thread that panics. The standard library names the kernel thread only.
    ///
    /// # Errors
    /// If the system or the program does not support the configuration.
    ///
    /// ```
    /// assert!(uthread::Runtime::builder().build().is_ok());
    /// ```
    pub fn build(self) -> Result<Runtime, BuildError> {
        let mode = self.mode()?;
        let mut stack_bytes = self.stack_bytes;
        if let Mode::Preemptive { .. } = mode {
            let tick_bytes = prepare(self.text)?;
            stack_bytes = stack_bytes.max(tick_bytes + LEAST_STACK_BYTES);
        }
        name_user_threads();
        Ok(Runtime::new(Config {
            mode,
            cpu_time: self.cpu_time,
            policy: self.policy,
            workers: self.workers,
            stack_class: class_of(stack_bytes)?,
            main_stack_class: class_of(self.main_stack_bytes.max(stack_bytes))?,
            backend: self.backend,
            trace_events: self.trace_events,
        }))
    }

    fn mode(&self) -> Result<Mode, BuildError> {
        /// Slice of virtual time if the caller sets none.
        const VIRTUAL_SLICE_NS: u64 = 1_000_000;
        let slice_ns = u64::try_from(self.slice.as_nanos()).unwrap_or(u64::MAX);
        match self.seed {
            Some(_) if self.workers > 1 => Err(BuildError::SeveralDeterministic(self.workers)),
            Some(seed) => {
                let slice_ns = if slice_ns == 0 {
                    VIRTUAL_SLICE_NS
                } else {
                    slice_ns
                };
                Ok(Mode::Deterministic { seed, slice_ns })
            }
            None if slice_ns == 0 => Ok(Mode::Cooperative),
            None if self.slice < SHORTEST_SLICE => Err(BuildError::SliceTooShort(self.slice)),
            None => Ok(Mode::Preemptive { slice_ns }),
        }
    }
}

fn class_of(bytes: usize) -> Result<usize, BuildError> {
    class_for(bytes).map_err(|_| BuildError::StackTooLarge {
        bytes,
        most: LARGEST_BYTES,
    })
}
