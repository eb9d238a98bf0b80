//! Workers with one thread each.

#[path = "../../src/worker/home.rs"]
mod home;
#[path = "../../src/worker/visit.rs"]
mod visit;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::atomic::AtomicBool;
use crate::spin::SpinCell;
use crate::thread::{Control, Wait, Woken};
use crate::trace::Kind;

pub(crate) use home::{Home, refuse};
pub(crate) use visit::Visit;

/// The parts of the library that `home` uses.
mod local {
    pub(crate) use super::{current_worker, enter, leave};
}

mod shared {
    pub(crate) use super::Shared;
}

mod state {
    pub(crate) use super::Worker;
}

mod number {
    /// The model has no forks.
    pub(crate) fn stayed_in_parent(_: u32) -> bool {
        false
    }

    pub(crate) fn nobody() -> u32 {
        super::NOBODY
    }
}

mod registry {
    use super::{LIVE, Live};

    pub(crate) fn live() -> loom::sync::MutexGuard<'static, Live> {
        LIVE.lock().expect("no poison")
    }
}

loom::lazy_static! {
    static ref LIVE: loom::sync::Mutex<Live> = loom::sync::Mutex::new(Live(BTreeMap::new()));
}

pub(crate) struct Live(BTreeMap<u32, Option<Arc<Shared>>>);

impl Live {
    fn get(&self, id: u32) -> Option<&Option<Arc<Shared>>> {
        self.0.get(&id)
    }

    fn contains(&self, id: u32) -> bool {
        self.get(id).is_some()
    }
}

/// The numbers of the model's runtime, of one that ended before, and of none.
const RUNTIME: u32 = 1;
const FORMER: u32 = 2;
const NOBODY: u32 = 3;

/// Runs `work` in a thread of a runtime that ends then: what it uses is free again.
pub(crate) fn in_a_former_runtime(work: impl FnOnce()) {
    let former = Worker::new(&Shared::with_number(FORMER), 0);
    let own = WORKER.with(Cell::get);
    // SAFETY: `work` starts no thread.
    let begun = unsafe { former.begin() };
    work();
    drop(begun);
    registry::live().0.remove(&FORMER);
    WORKER.with(|mine| mine.set(own));
}

pub(crate) struct Shared {
    id: u32,
    pub(crate) graph: SpinCell<()>,
}

impl Shared {
    pub(crate) fn new() -> Arc<Self> {
        Self::with_number(RUNTIME)
    }

    fn with_number(id: u32) -> Arc<Self> {
        registry::live().0.insert(id, None);
        let graph = SpinCell::new(AtomicBool::new(false), ());
        Arc::new(Self { id, graph })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// The model has no forks.
    pub(crate) fn is_inherited(&self) -> bool {
        false
    }

    pub(crate) fn wake(&self, thread: &Control) {
        thread.wake();
    }

    pub(crate) fn preemptive(&self) -> bool {
        false
    }
}

pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) several: bool,
    pub(crate) index: usize,
    thread: Control,
    now_ns: Cell<u64>,
}

// SAFETY: loom runs all threads of a model on one kernel thread.
unsafe impl Sync for Worker {}
// SAFETY: as above.
unsafe impl Send for Worker {}

pub(crate) struct Begun;

impl Drop for Begun {
    fn drop(&mut self) {
        WORKER.with(|mine| mine.set(None));
    }
}

loom::thread_local! {
    static WORKER: Cell<Option<&'static Worker>> = Cell::new(None);
}

impl Worker {
    pub(crate) fn new(shared: &Arc<Shared>, index: usize) -> Self {
        Self {
            shared: Arc::clone(shared),
            several: true,
            index,
            thread: Control::new(index),
            now_ns: Cell::new(0),
        }
    }

    /// Makes the calling thread the thread of this worker until it drops what this returns.
    ///
    /// # Safety
    /// The worker must outlive all threads of the model.
    pub(crate) unsafe fn begin(&self) -> Begun {
        // SAFETY: the caller's contract.
        let worker = unsafe { &*std::ptr::from_ref(self) };
        WORKER.with(|mine| mine.set(Some(worker)));
        Begun
    }

    pub(crate) fn exposed(&self) -> bool {
        true
    }

    /// A model has several workers.
    pub(crate) fn lone_id(&self) -> u32 {
        u32::MAX
    }

    pub(crate) fn open(&self) {
        registry::live()
            .0
            .insert(self.shared.id, Some(Arc::clone(&self.shared)));
    }

    pub(crate) fn current(&self) -> &'static Control {
        &require_worker("a test").thread
    }

    pub(crate) fn enter_blocking(&self, _operation: &str) {}

    pub(crate) fn deadline_ns(&self, _limit: Duration) -> u64 {
        0
    }

    /// A millisecond later each time.
    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + 1_000_000);
        self.now_ns.get()
    }

    /// Loom finds a deadlock.
    pub(crate) fn is_deadlock(&self, _others_run: bool, _is_stuck: fn(&Control) -> bool) -> bool {
        false
    }

    pub(crate) fn trace(&self, _kind: Kind, _thread: &Control) {}

    pub(crate) fn rank_changed(&self, _thread: &Control) {}

    pub(crate) fn look_later(&self) {}

    pub(crate) fn wake(&self, thread: &Control) {
        thread.wake();
    }

    pub(crate) fn block(&self, _wait: Wait) {
        self.current().block();
    }

    pub(crate) fn block_and_run(&self, _wait: Wait, _next: &Control) {
        unreachable!("there is one thread on each worker");
    }

    /// A time limit passes at once, and so at any point of what the other threads do.
    pub(crate) fn block_until(
        &self,
        _wait: Wait,
        deadline_ns: Option<u64>,
        withdraw: impl Fn() -> bool,
    ) -> Woken {
        if deadline_ns.is_some() && withdraw() {
            return Woken::TimedOut;
        }
        self.current().block();
        Woken::Granted
    }
}

pub(crate) fn current_worker() -> Option<&'static Worker> {
    WORKER.with(Cell::get)
}

pub(crate) fn require_worker(_operation: &str) -> &'static Worker {
    current_worker().expect("the thread has begun")
}

pub(crate) fn enter() {}

pub(crate) fn leave() {}

pub(crate) fn leave_blocking() {}

pub(crate) struct Section;

impl Section {
    pub(crate) fn begin() -> Option<(Self, &'static Worker)> {
        Some((Self, current_worker()?))
    }

    pub(crate) fn begin_if(is_so: impl FnOnce(&Worker) -> bool) -> Option<(Self, &'static Worker)> {
        Self::begin().filter(|(_, worker)| is_so(worker))
    }

    pub(crate) fn leave(self) {}

    pub(crate) fn leave_without_tick(self) {}
}

pub(crate) fn depth() -> u32 {
    0
}
