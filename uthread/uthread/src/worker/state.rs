//! The state of a worker.

use core::cell::{Cell, OnceCell, RefCell};
use core::ptr::NonNull;
use std::sync::Arc;

use super::registry::open;
use super::running::Running;
use super::shared::{Mode, Remote, Shared};
use super::system::Retries;
use super::timers::Timers;
use crate::io::{CachedReads, Driver};
use crate::preempt::{Ticker, Watch};
use crate::scheduler::Scheduler;
use crate::stack::Cache;
use crate::thread::Control;

/// No runtime gets this number.
const NO_RUNTIME: u32 = u32::MAX;

/// A kernel thread that runs user threads. All fields belong to that kernel thread, and are used
/// only while preemption is disabled.
pub(crate) struct Worker {
    pub(super) running: Running,
    pub(crate) scheduler: Scheduler<Control>,
    /// Events may need handling before the next thread is chosen.
    pub(crate) attention: Cell<bool>,
    pub(super) preemptive: bool,
    pub(crate) several: bool,
    /// The number of the runtime, if this is its only worker.
    pub(super) lone_id: Cell<u32>,
    /// Other kernel threads may use the objects of the runtime: other workers, or all since the runtime is open.
    pub(super) exposed: Cell<bool>,
    pub(super) armed: Cell<bool>,
    pub(super) tick_due: Cell<bool>,
    pub(super) retries: Retries,
    /// Program counter and stack pointer of the last signal that may have been a fault, or a tick without room.
    #[cfg(target_os = "linux")]
    pub(crate) fault_place: Cell<(usize, usize)>,
    pub(crate) traced: bool,
    pub(super) next_id: Cell<u64>,
    pub(crate) stacks: Cache,
    /// The worker's loop, on the kernel thread's own stack.
    pub(super) root: Control,
    pub(super) ticker: OnceCell<Arc<Ticker>>,
    /// Makes this worker tick when a transfer is done.
    pub(crate) watch: OnceCell<Watch>,
    pub(super) dice: Cell<Option<u64>>,
    /// Threads started here, less those that ended here.
    pub(super) live: Cell<isize>,
    pub(super) retired: Cell<Option<NonNull<Control>>>,
    pub(super) timers: Timers,
    pub(crate) driver: RefCell<Option<Driver>>,
    pub(crate) cached_reads: CachedReads,
    pub(crate) shared: Arc<Shared>,
    pub(crate) index: usize,
}

impl Worker {
    pub(crate) fn new(shared: &Arc<Shared>, index: usize) -> Self {
        let dice = match shared.config.mode {
            Mode::Deterministic { seed, .. } => Some(seed),
            Mode::Cooperative | Mode::Preemptive { .. } => None,
        };
        Self {
            running: Running {
                current: Cell::new(core::ptr::null()),
                deferred: &raw const shared.remotes[index].counters.deferred,
            },
            scheduler: Scheduler::new(shared.config.policy),
            attention: Cell::new(shared.several),
            preemptive: shared.preemptive(),
            several: shared.several,
            lone_id: Cell::new(if shared.several {
                NO_RUNTIME
            } else {
                shared.id()
            }),
            exposed: Cell::new(shared.several),
            armed: Cell::new(false),
            tick_due: Cell::new(false),
            retries: Retries::default(),
            #[cfg(target_os = "linux")]
            fault_place: Cell::new((0, 0)),
            traced: shared.config.trace_events > 0,
            next_id: Cell::new(index as u64 + 1),
            stacks: Cache::new(),
            root: Control::of_worker(shared.id()),
            ticker: OnceCell::new(),
            watch: OnceCell::new(),
            dice: Cell::new(dice),
            live: Cell::new(0),
            retired: Cell::new(None),
            timers: Timers::default(),
            driver: RefCell::new(None),
            cached_reads: CachedReads::new(),
            shared: Arc::clone(shared),
            index,
        }
    }

    /// True if the worker's own loop runs, and no thread.
    #[inline]
    pub(crate) fn is_in_loop(&self) -> bool {
        core::ptr::eq(self.running.current.get(), &raw const self.root)
    }

    /// True if other kernel threads may use the objects of the runtime.
    #[inline]
    pub(crate) fn exposed(&self) -> bool {
        self.exposed.get()
    }

    /// The number of the runtime, if this is its only worker. Else no object has this number.
    #[inline]
    pub(crate) fn lone_id(&self) -> u32 {
        self.lone_id.get()
    }

    /// Opens the runtime to other kernel threads, until it ends. Preemption must be disabled.
    pub(crate) fn open(&self) {
        self.exposed.set(true);
        self.attention.set(true);
        open(&self.shared);
    }

    #[inline]
    pub(crate) fn remote(&self) -> &Remote {
        &self.shared.remotes[self.index]
    }

    /// Number for the next thread: unique in the runtime, starting at 1.
    #[inline]
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id
            .replace(self.next_id.get() + self.shared.remotes.len() as u64)
    }

    /// The running thread.
    #[inline]
    pub(crate) fn current(&self) -> &'static Control {
        // SAFETY: set while the worker runs, to a block that is alive as long as its thread runs;
        // callers run on that thread.
        unsafe { &*self.running.current.get() }
    }
}
