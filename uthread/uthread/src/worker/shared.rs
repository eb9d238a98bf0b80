//! State that the workers of one runtime share.

use core::ops::Deref;
use core::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::io;
use std::sync::OnceLock;

use super::Inbox;
use super::cancellations::Cancellations;
use super::errand::Errands;
use super::fresh::Fresh;
use super::parking::{Bell, Idlers};
use crate::io::Backend;
use crate::scheduler::{Clock, Policy};
use crate::spin::SpinCell;
use crate::stack::POOL;
use crate::thread::{Control, State};
use crate::trace::Recorder;

/// Source of preemptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Never.
    Cooperative,
    /// By a timer.
    Preemptive { slice_ns: u64 },
    /// At random, at the library's own operations.
    Deterministic { seed: u64, slice_ns: u64 },
}

/// The configuration from the builder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub(crate) mode: Mode,
    /// Slices count the CPU time of their worker.
    pub(crate) cpu_time: bool,
    pub(crate) policy: Policy,
    pub(crate) workers: usize,
    pub(crate) stack_class: usize,
    pub(crate) main_stack_class: usize,
    pub(crate) backend: Backend,
    pub(crate) trace_events: usize,
}

/// The part of a worker that others may use. Fields that others write, fields that others read, and
/// fields that only the worker writes are on separate cache lines.
#[repr(C)]
pub(crate) struct Remote {
    pub(crate) inbox: Inbox<Control>,
    pub(crate) cancellations: Cancellations,
    pub(crate) errands: Errands,
    /// Priorities of ready threads were changed by another worker.
    pub(crate) regroup: AtomicBool,
    pub(crate) bell: Apart<Bell>,
    pub(crate) fresh: Apart<Fresh<Control>>,
    pub(crate) counters: Apart<Counters>,
    pub(crate) recorder: Option<Recorder>,
}

impl Remote {
    /// True if others ask the worker to wake a thread.
    #[inline]
    pub(super) fn has_mail(&self) -> bool {
        !self.inbox.is_empty() || !self.cancellations.is_empty() || !self.errands.is_empty()
    }
}

/// A value on its own cache lines: another processor can write it without slowing reads of its
/// neighbours. Two lines, because processors fetch them in pairs.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(T);

impl<T> Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Counters that one worker writes and all may read.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) taken: AtomicU64,
    pub(crate) deferred: AtomicU64,
    pub(crate) preemptions: AtomicU64,
    /// Threads that the worker has started, less those that ended on it, at its last idling.
    pub(crate) live: AtomicIsize,
}

/// Adds one to a counter that only this kernel thread writes.
pub(crate) fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

pub(crate) struct Shared {
    /// Changes only in the child of a fork, which has a new number for the copy.
    pub(super) id: AtomicU32,
    /// True in the child of a fork: there only the forking thread and its worker go on.
    pub(super) inherited: AtomicBool,
    pub(crate) config: Config,
    pub(crate) several: bool,
    pub(crate) remotes: Box<[Remote]>,
    /// The lock of the wait-for graph: held while a lock with waiters, a condition variable or an
    /// inherited priority changes.
    pub(crate) graph: Apart<SpinCell<()>>,
    pub(crate) clock: Box<dyn Clock>,
    /// Number of sleeping threads, transfers in flight, and handles of the outside: each may wake a thread without
    /// other help.
    pub(crate) external: Apart<AtomicUsize>,
    pub(crate) idlers: Idlers,
    pub(crate) stop: AtomicBool,
    pub(crate) failure: OnceLock<String>,
}

impl Shared {
    /// The state of a runtime, which gets its number if there is enough of all it needs.
    pub(crate) fn new(
        config: Config,
        clock: Box<dyn Clock>,
        number: impl FnOnce() -> u32,
    ) -> io::Result<Self> {
        let remote = |worker| {
            Ok(Remote {
                inbox: Inbox::new(),
                cancellations: Cancellations::default(),
                errands: Errands::new(),
                fresh: Apart(Fresh::new()),
                bell: Apart(Bell::new()?),
                regroup: AtomicBool::new(false),
                counters: Apart::default(),
                recorder: (config.trace_events > 0)
                    .then(|| Recorder::new(worker, config.trace_events)),
            })
        };
        let remotes = (0..config.workers).map(remote).collect::<io::Result<_>>()?;
        Ok(Self {
            id: AtomicU32::new(number()),
            inherited: AtomicBool::new(false),
            config,
            several: config.workers > 1,
            remotes,
            graph: Apart(SpinCell::new(AtomicBool::new(false), ())),
            clock,
            external: Apart::default(),
            idlers: Idlers::new(config.workers),
            stop: AtomicBool::new(false),
            failure: OnceLock::new(),
        })
    }

    /// The number of the runtime.
    #[inline]
    pub(crate) fn id(&self) -> u32 {
        self.id.load(Ordering::Relaxed)
    }

    /// True if the process was forked during the run: other workers than the caller's are not in this process.
    pub(crate) fn is_inherited(&self) -> bool {
        self.inherited.load(Ordering::Relaxed)
    }

    /// Makes a blocked thread ready that is not on the caller's worker. No other thread may wake the same thread.
    pub(crate) fn wake(&self, thread: &Control) {
        match self.remotes.get(thread.home()) {
            Some(remote) => {
                // SAFETY: a blocked thread that only this caller wakes is in no queue.
                unsafe { remote.inbox.push(thread) };
                remote.bell.ring();
            }
            None => thread.unpark(),
        }
    }

    /// Takes note that one of those who may wake a thread without other help is gone.
    pub(crate) fn without_helper(&self) {
        if self.external.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The last worker that becomes idle looks for a deadlock: one of them does so again. The child of a fork has
            // any one of them.
            let some = if self.is_inherited() {
                self.remotes.len()
            } else {
                1
            };
            for remote in &self.remotes[..some] {
                remote.bell.ring();
            }
        }
    }

    #[inline]
    pub(crate) fn preemptive(&self) -> bool {
        self.config.mode != Mode::Cooperative
    }

    pub(crate) fn slice_ns(&self) -> u64 {
        match self.config.mode {
            Mode::Cooperative => 0,
            Mode::Preemptive { slice_ns } | Mode::Deterministic { slice_ns, .. } => slice_ns,
        }
    }

    /// Number of threads that have not ended. All workers must be idle, or have left their loops.
    pub(crate) fn live(&self) -> isize {
        let counters = self.remotes.iter().map(|remote| &remote.counters);
        counters.map(|all| all.live.load(Ordering::Relaxed)).sum()
    }

    /// Stops the loops of all workers.
    pub(crate) fn stop_all(&self) {
        self.stop.store(true, Ordering::Release);
        for remote in &self.remotes {
            remote.bell.ring_always();
        }
    }

    /// Describes a deadlock: no thread can run, nothing will wake one. Lists what each waits for.
    pub(super) fn deadlock(&self) -> String {
        const NAMED: usize = 16;
        let mut stuck = Vec::new();
        POOL.for_each(|end| {
            // SAFETY: every carved slot holds a control block or zeros, which read as `Free`. The
            // blocks of this runtime do not change, because none of its threads runs.
            let thread = unsafe { Control::at_end(end).as_ref() };
            if matches!(thread.state(), State::Blocked) && thread.runtime.get() == self.id() {
                stuck.push(thread);
            }
        });
        stuck.sort_by_key(|thread| thread.id);
        let named = stuck.iter().take(NAMED);
        let mut lines: Vec<_> = named
            .map(|t| format!("{} {}", t.label(), t.wait()))
            .collect();
        if stuck.len() > NAMED {
            lines.push(format!("and {} more", stuck.len() - NAMED));
        }
        format!("deadlock of all threads: {}", lines.join(", "))
    }
}
