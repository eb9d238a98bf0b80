//! Running user threads to their end.

use core::sync::atomic::Ordering;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::io::Backend;
use crate::preempt::{OverflowWatch, TickSignal};
use crate::scheduler::{Clock, Monotonic, Virtual};
use crate::thread::{JoinHandle, reap_orphans, start_main};
use crate::trace::Trace;
use crate::worker::{
    Config, Mode, Shared, Worker, add, current_worker, depth, prepare_for_forks, remove,
    require_worker,
};

/// Workers that run threads.
///
/// ```
/// use uthread::Runtime;
///
/// let runtime = Runtime::builder().build().unwrap();
/// assert_eq!(runtime.run(|| uthread::spawn(|| 6 * 7).join().unwrap()), 42);
/// ```
#[derive(Debug)]
pub struct Runtime {
    config: Config,
    last: Mutex<Last>,
}

/// Results of the last run.
#[derive(Debug, Default)]
struct Last {
    statistics: Statistics,
    trace: Trace,
}

/// Counts of a run.
///
/// ```
/// let statistics = uthread::run(uthread::statistics);
/// assert_eq!(statistics, uthread::Statistics::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Ticks that were handled where they occurred.
    pub ticks_taken: u64,
    /// Ticks that were deferred: preemption was disabled, the code was not the program's own, the
    /// thread was unwinding, or its stack was nearly full.
    pub ticks_deferred: u64,
    /// Preemptions, by ticks or because a thread of higher priority became ready.
    pub preemptions: u64,
}

impl Statistics {
    fn of(shared: &Shared) -> Self {
        let sum = |count: fn(&crate::worker::Counters) -> &core::sync::atomic::AtomicU64| {
            shared
                .remotes
                .iter()
                .map(|r| count(&r.counters).load(Ordering::Relaxed))
                .sum()
        };
        Self {
            ticks_taken: sum(|counters| &counters.taken),
            ticks_deferred: sum(|counters| &counters.deferred),
            preemptions: sum(|counters| &counters.preemptions),
        }
    }
}

/// Counters of the calling thread's run so far.
///
/// # Panics
/// Outside a runtime.
///
/// ```
/// assert_eq!(uthread::run(|| uthread::statistics().preemptions), 0);
/// ```
pub fn statistics() -> Statistics {
    Statistics::of(&require_worker("statistics").shared)
}

impl Runtime {
    pub(super) fn new(config: Config) -> Self {
        Self {
            config,
            last: Mutex::default(),
        }
    }

    /// Runs `main` as the first thread on the calling kernel thread. Returns its value when *all*
    /// threads have ended.
    ///
    /// If threads remain that can never run again, a message names them, and the process is aborted:
    /// they still borrow what the caller would go on to free.
    ///
    /// # Panics
    /// If `main` panics, with its payload; inside a user thread; if the system has no descriptors,
    /// memory or kernel threads left ([`Runtime::try_run`] reports these).
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().build().unwrap();
    /// assert_eq!(runtime.run(|| uthread::spawn(|| 7).join().unwrap()), 7);
    /// ```
    pub fn run<T>(&self, main: impl FnOnce() -> T) -> T {
        self.try_run(main)
            .unwrap_or_else(|error| panic!("cannot start the runtime: {error}"))
    }

    /// Like [`Runtime::run`], but returns an error if the system has no resources for the
    /// workers.
    ///
    /// # Errors
    /// If the system has no descriptors, memory, timers or kernel threads left.
    ///
    /// # Panics
    /// Same as [`Runtime::run`].
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().workers(2).build().unwrap();
    /// match runtime.try_run(|| 7) {
    ///     Ok(value) => assert_eq!(value, 7),
    ///     Err(error) => eprintln!("there is no room for another kernel thread: {error}"),
    /// }
    /// ```
    pub fn try_run<T>(&self, main: impl FnOnce() -> T) -> io::Result<T> {
        // SAFETY: nothing is left.
        match unsafe { self.try_run_and_leave(main) } {
            Err(error) if error.kind() == io::ErrorKind::Deadlock => std::process::abort(),
            result => result,
        }
    }

    /// Like [`Runtime::try_run`], but threads that can never run again stay where they are for good.
    ///
    /// # Errors
    /// As [`Runtime::try_run`]; `Deadlock` if threads are left, which a message on the standard error
    /// names.
    ///
    /// # Panics
    /// Same as [`Runtime::run`].
    ///
    /// # Safety
    /// All that the threads that are left borrow must stay in place as well: values that `main` captures, and
    /// thread-local values of the kernel threads, which end.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().build().unwrap();
    /// // SAFETY: `main` borrows nothing.
    /// let error = unsafe { runtime.try_run_and_leave(uthread::suspend) }.unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::Deadlock);
    /// ```
    pub unsafe fn try_run_and_leave<T>(&self, main: impl FnOnce() -> T) -> io::Result<T> {
        require_none();
        #[cfg(target_os = "linux")]
        crate::debugger::keep_table();
        prepare_for_forks()?;
        let shared = Arc::new(Shared::new(self.config, clock(self.config.mode), add)?);
        let whole = MustNotUnwind;
        let result = run_workers(&shared, main);
        core::mem::forget(whole);
        let failed = shared.failure.get();
        let none_left = result.is_ok() || shared.live() == 0;
        if failed.is_none() && none_left {
            remove(shared.id());
        } else {
            // Stuck threads keep the number of their runtime. No later check may take it for the
            // number of a finished one.
            core::mem::forget(Arc::clone(&shared));
        }
        reap_orphans(&shared);
        self.remember(&shared);
        if let Some(failure) = failed {
            crate::print::print_error_line(format_args!("uthread: {failure}"));
            // The result of `main` may borrow from the threads that are left.
            core::mem::forget(result);
            return Err(io::ErrorKind::Deadlock.into());
        }
        match result? {
            Some(Ok(value)) => Ok(value),
            Some(Err(payload)) => resume_unwind(payload),
            None => end_child(&shared),
        }
    }

    fn remember(&self, shared: &Shared) {
        let recorders = shared
            .remotes
            .iter()
            .filter_map(|remote| remote.recorder.as_ref());
        let last = Last {
            statistics: Statistics::of(shared),
            // SAFETY: the workers of the run have ended.
            trace: unsafe { Trace::collect(recorders) },
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }

    /// Counters of the last run.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().build().unwrap();
    /// runtime.run(|| ());
    /// assert_eq!(runtime.statistics().preemptions, 0);
    /// ```
    pub fn statistics(&self) -> Statistics {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .statistics
    }

    /// Trace of the last run; empty without
    /// [`RuntimeBuilder::trace`](crate::RuntimeBuilder::trace).
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().build().unwrap();
    /// runtime.run(|| ());
    /// assert!(runtime.trace().events().is_empty()); // it was not asked for
    /// ```
    pub fn trace(&self) -> Trace {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .trace
            .clone()
    }

    /// Mechanism for transfers that would block.
    ///
    /// ```
    /// use uthread::{Runtime, io::Backend};
    ///
    /// assert_eq!(Runtime::builder().build().unwrap().io(), Backend::Auto);
    /// ```
    pub fn io(&self) -> Backend {
        self.config.backend
    }
}

fn clock(mode: Mode) -> Box<dyn Clock> {
    match mode {
        Mode::Deterministic { .. } => Box::new(Virtual::default()),
        Mode::Cooperative | Mode::Preemptive { .. } => Box::new(Monotonic::new()),
    }
}

/// Panics where no runtime may start.
pub(super) fn require_none() {
    assert!(
        current_worker().is_none(),
        "a runtime was started inside a user thread"
    );
    assert!(
        depth() == 0,
        "a runtime was started while preemption is held off"
    );
}

/// Ends the process at the end of its last thread, as the C library does. It is the child of a fork that another
/// thread than `main` called, so nobody waits for a result.
fn end_child(shared: &Shared) -> ! {
    assert!(shared.is_inherited(), "all threads have ended, so main has");
    std::process::exit(0)
}

/// Threads borrow from the caller, so nothing may unwind past them.
struct MustNotUnwind;

impl Drop for MustNotUnwind {
    fn drop(&mut self) {
        crate::print::print_error_line(format_args!("uthread: a worker has failed"));
        std::process::abort();
    }
}

/// Runs worker 0 here and the others on their own kernel threads. Returns the result of `main` if
/// it has ended.
fn run_workers<T>(
    shared: &Arc<Shared>,
    main: impl FnOnce() -> T,
) -> io::Result<Option<std::thread::Result<T>>> {
    let (ready, others) = channel();
    let mut helpers = Vec::new();
    let helped = (1..shared.config.workers).try_for_each(|index| {
        let name = format!("uthread-{index}");
        let (shared, ready) = (Arc::clone(shared), ready.clone());
        let builder = std::thread::Builder::new().name(name);
        helpers.push(builder.spawn(move || help(&shared, index, ready))?);
        Ok(())
    });
    drop(ready);
    // A worker that cannot start must not be missing later, when `main` cannot be taken back.
    let all_ready = helped.and_then(|()| others.iter().collect());
    let result = all_ready.and_then(|()| run_first(shared, main));
    if result.is_err() {
        shared.stop_all();
    }
    if shared.is_inherited() {
        // They are not in this process.
        core::mem::forget(helpers);
    } else {
        for helper in helpers {
            // A helper that fails ends the process.
            drop(helper.join());
        }
    }
    result
}

/// Runs a worker on a kernel thread of its own, once it has reported that it has all it needs.
fn help(shared: &Arc<Shared>, index: usize, ready: Sender<io::Result<()>>) {
    let whole = MustNotUnwind;
    let (station, report) = match Station::new(shared, index) {
        Ok(station) => (Some(station), Ok(())),
        Err(error) => (None, Err(error)),
    };
    // The receiver is gone if another kernel thread could not start. Then this worker has to stop.
    let _ = ready.send(report);
    drop(ready);
    if let Some(mut station) = station {
        station.worker.run();
    }
    if shared.is_inherited() {
        if let Some(failure) = shared.failure.get() {
            crate::print::print_error_line(format_args!("uthread: {failure}"));
            std::process::abort();
        }
        end_child(shared);
    }
    core::mem::forget(whole);
}

fn run_first<T>(
    shared: &Arc<Shared>,
    main: impl FnOnce() -> T,
) -> io::Result<Option<std::thread::Result<T>>> {
    let mut station = Station::new(shared, 0)?;
    let handle: JoinHandle<T> = start_main(&station.worker, main).map_err(io::Error::other)?;
    station.worker.run();
    drop(station);
    if handle.has_ended() {
        // SAFETY: all workers have left their loops, so the thread has ended.
        return Ok(Some(unsafe { handle.take() }));
    }
    core::mem::forget(handle);
    Ok(None)
}

/// A worker and the resources of its kernel thread. The fields are dropped in this order.
struct Station {
    worker: Box<Worker>,
    _signal: Option<TickSignal>,
    _stack: OverflowWatch,
}

impl Station {
    fn new(shared: &Arc<Shared>, index: usize) -> io::Result<Self> {
        let preemptive = matches!(shared.config.mode, Mode::Preemptive { .. });
        let stack = OverflowWatch::install()?;
        let signal = preemptive.then(TickSignal::receive).transpose()?;
        let mut worker = Box::new(Worker::new(shared, index));
        worker.prepare()?;
        Ok(Self {
            worker,
            _signal: signal,
            _stack: stack,
        })
    }
}
