//! Recording.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeMap;

use crate::scheduler::Priority;
use crate::thread::{ThreadId, Wait};

/// What happened to a thread.
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
    /// It was started, but does not run yet.
    Create,
    /// It runs.
    Run,
    /// Its turn was taken from it.
    Preempt,
    /// It let another run.
    Yield,
    /// It waits.
    Block(Wait),
    /// It need not wait any more.
    Wake,
    /// Its effective priority has become this.
    Priority(Priority),
    /// It has ended.
    Exit,
}

/// Something that happened.
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
    /// Nanoseconds since the run began.
    pub time_ns: u64,
    /// The thread that it happened to.
    pub thread: ThreadId,
    /// What it was.
    pub kind: Kind,
}

/// Longer names are cut.
const NAME_BYTES: usize = 24;
const NAMES: usize = 1024;

#[derive(Clone, Copy)]
struct Name {
    thread: u64,
    length: u8,
    bytes: [u8; NAME_BYTES],
}

/// The events of one worker: when the ring is full, the oldest make room.
pub(crate) struct Recorder {
    events: Ring<Option<Event>>,
    names: Ring<Name>,
}

struct Ring<T> {
    written: AtomicUsize,
    places: Box<[UnsafeCell<T>]>,
}

// SAFETY: written by one worker with preemption off, and read when all workers have ended.
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
        // SAFETY: only the worker itself writes, and nobody reads meanwhile.
        unsafe { *self.places[written % self.places.len()].get() = value };
        self.written.store(written + 1, Ordering::Release);
    }

    /// What is left, the oldest first.
    ///
    /// # Safety
    /// Nobody may write meanwhile.
    unsafe fn iter(&self) -> impl Iterator<Item = T> + '_ {
        let written = self.written.load(Ordering::Acquire);
        let oldest = written.saturating_sub(self.places.len());
        // SAFETY: the caller's contract.
        (oldest..written).map(|i| unsafe { *self.places[i % self.places.len()].get() })
    }
}

impl Recorder {
    pub(crate) fn new(events: usize) -> Self {
        let name = Name {
            thread: 0,
            length: 0,
            bytes: [0; NAME_BYTES],
        };
        Self {
            events: Ring::new(events, None),
            names: Ring::new(NAMES, name),
        }
    }

    /// Notes an event; to be called by the worker itself with preemption off.
    pub(crate) fn record(&self, time_ns: u64, kind: Kind, thread: u64, name: Option<&str>) {
        // The loop of the worker has the number 0.
        if thread == 0 {
            return;
        }
        self.events.push(Some(Event {
            time_ns,
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

/// What was recorded in a run, in the order of time.
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
    /// Collects from the recorders of all workers.
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

    /// The events of all workers, in the order of time.
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
