//! Recording of thread events.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeMap;

use crate::scheduler::Priority;
use crate::thread::{ThreadId, Wait};

/// Kind of a thread event.
///
/// ```
/// use uthread::{Kind, Runtime};
///
/// let runtime = Runtime::builder().trace(100).build().unwrap();
/// runtime.run(|| ());
/// let kinds: Vec<_> = runtime.trace().events().iter().map(|event| event.kind).collect();
/// assert_eq!(kinds, [Kind::Create, Kind::Run, Kind::Exit]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It was created and does not run yet.
    Create,
    /// It runs.
    Run,
    /// A tick of the timer took effect while it ran.
    Tick,
    /// It was preempted.
    Preempt,
    /// It yielded.
    Yield,
    /// It blocked.
    Block(Wait),
    /// It was woken.
    Wake,
    /// Its effective priority changed to this.
    Priority(Priority),
    /// It has ended.
    Exit,
}

/// An event of a thread.
///
/// ```
/// let runtime = uthread::Runtime::builder().trace(100).build().unwrap();
/// runtime.run(|| ());
/// let trace = runtime.trace();
/// let times = trace.events().iter().map(|event| event.time_ns);
/// assert!(times.is_sorted());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Time since the start of the run, in nanoseconds.
    pub time_ns: u64,
    /// The worker on which it occurred. A thread runs on another than the one that created it only if that
    /// one took it before it started.
    pub worker: usize,
    /// The thread.
    pub thread: ThreadId,
    /// The kind of event.
    pub kind: Kind,
}

/// Longer names are truncated.
const NAME_BYTES: usize = 24;
const NAMES: usize = 1024;

#[derive(Clone, Copy)]
struct Name {
    thread: u64,
    length: u8,
    bytes: [u8; NAME_BYTES],
}

/// The events of one worker, in a ring buffer: new events overwrite the oldest.
pub(crate) struct Recorder {
    worker: usize,
    events: Ring<Option<Event>>,
    names: Ring<Name>,
}

struct Ring<T> {
    written: AtomicUsize,
    places: Box<[UnsafeCell<T>]>,
}

// SAFETY: one worker writes it with preemption disabled, and it is read after all workers have
// ended.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T: Copy> Ring<T> {
    fn new(places: usize, empty: T) -> Self {
        let places = (0..places).map(|_| UnsafeCell::new(empty)).collect();
        Self {
            written: AtomicUsize::new(0),
            places,
        }
    }

    fn push(&self, value: T) {
        let written = self.written.load(Ordering::Relaxed);
        // SAFETY: only the worker itself writes, and no other thread reads at the same time.
        unsafe { *self.places[written % self.places.len()].get() = value };
        self.written.store(written + 1, Ordering::Release);
    }

    /// The recorded values, oldest first.
    ///
    /// # Safety
    /// No thread may write during the iteration.
    unsafe fn iter(&self) -> impl Iterator<Item = T> + '_ {
        let written = self.written.load(Ordering::Acquire);
        let oldest = written.saturating_sub(self.places.len());
        // SAFETY: the caller's contract.
        (oldest..written).map(|i| unsafe { *self.places[i % self.places.len()].get() })
    }
}

impl Recorder {
    pub(crate) fn new(worker: usize, events: usize) -> Self {
        let name = Name {
            thread: 0,
            length: 0,
            bytes: [0; NAME_BYTES],
        };
        Self {
            worker,
            events: Ring::new(events, None),
            names: Ring::new(NAMES, name),
        }
    }

    /// Records an event. Only the worker itself may call this, with preemption disabled.
    pub(crate) fn record(&self, time_ns: u64, kind: Kind, thread: u64, name: Option<&str>) {
        // Number 0 is the worker's loop.
        if thread == 0 {
            return;
        }
        self.events.push(Some(Event {
            time_ns,
            worker: self.worker,
            thread: ThreadId::new(thread),
            kind,
        }));
        if kind == Kind::Create
            && let Some(name) = name
        {
            let length = name.floor_char_boundary(NAME_BYTES);
            let mut bytes = [0; NAME_BYTES];
            bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
            self.names.push(Name {
                thread,
                length: length as u8,
                bytes,
            });
        }
    }
}

/// The recorded events of a run, in order of time.
///
/// ```
/// use uthread::{Kind, Runtime};
///
/// let runtime = Runtime::builder().trace(1000).build().unwrap();
/// runtime.run(|| uthread::spawn(|| {}).join().unwrap());
/// let trace = runtime.trace();
/// assert_eq!(trace.events().iter().filter(|event| event.kind == Kind::Exit).count(), 2);
/// assert!(trace.chrome_json().starts_with("{\"traceEvents\":["));
/// assert!(trace.timeline(60).contains("main"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(super) workers: Vec<Vec<Event>>,
    events: Vec<Event>,
    names: BTreeMap<u64, String>,
}

impl Trace {
    /// Merges the recorders of all workers.
    ///
    /// # Safety
    /// The workers must have ended.
    pub(crate) unsafe fn collect<'a>(recorders: impl Iterator<Item = &'a Recorder>) -> Self {
        let mut trace = Self::default();
        for recorder in recorders {
            // SAFETY: the caller's contract.
            unsafe {
                trace
                    .workers
                    .push(recorder.events.iter().flatten().collect());
                trace.names.extend(recorder.names.iter().map(|name| {
                    let bytes = &name.bytes[..name.length.into()];
                    (name.thread, String::from_utf8_lossy(bytes).into_owned())
                }));
            }
        }
        trace.events = trace.workers.concat();
        trace.events.sort_by_key(|event| event.time_ns);
        trace
    }

    /// The events of all workers, in order of time.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().trace(100).build().unwrap();
    /// runtime.run(|| uthread::spawn(|| ()).join().unwrap());
    /// assert!(runtime.trace().events().len() > 3);
    /// ```
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The name of a thread, or its number.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().trace(100).build().unwrap();
    /// let main = runtime.run(|| uthread::current().id());
    /// assert_eq!(runtime.trace().label(main), "main");
    /// ```
    pub fn label(&self, thread: ThreadId) -> String {
        let name = self.names.get(&thread.number()).cloned();
        name.unwrap_or_else(|| format!("thread {thread}"))
    }
}
