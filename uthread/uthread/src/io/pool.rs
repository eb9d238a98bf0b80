//! Transfers by kernel threads that block in place of the caller.

use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::in_flight::Operation;
use crate::thread::Control;
use crate::worker::{Event, Shared};

/// Limit on the kernel threads that block for one worker at the same time.
const MOST_THREADS: usize = 64;

/// An operation on the stack of a blocked thread.
#[derive(Clone, Copy)]
struct Job(*const Operation);

// SAFETY: the waiting thread does not touch the operation before it is woken.
unsafe impl Send for Job {}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// The jobs that helper threads have begun, each with the event that ends a wait for a descriptor.
    begun: Vec<(Job, Arc<Event>)>,
    idle: usize,
    closed: bool,
}

struct Common {
    queue: Mutex<Queue>,
    work: Condvar,
    done: Mutex<Vec<Job>>,
    any_done: AtomicBool,
    runtime: Arc<Shared>,
    worker: usize,
}

/// Helper threads of one worker, started on demand.
pub(crate) struct ThreadDriver {
    common: Arc<Common>,
    threads: Vec<JoinHandle<()>>,
    pub(super) in_flight: usize,
}

impl ThreadDriver {
    pub(super) fn new(runtime: Arc<Shared>, worker: usize) -> Self {
        let common = Common {
            queue: Mutex::default(),
            work: Condvar::new(),
            done: Mutex::default(),
            any_done: AtomicBool::new(false),
            runtime,
            worker,
        };
        Self {
            common: Arc::new(common),
            threads: Vec::new(),
            in_flight: 0,
        }
    }

    /// # Safety
    /// Same as [`Driver::push`](super::Driver::push).
    pub(super) unsafe fn push(&mut self, operation: &Operation) {
        self.in_flight += 1;
        let mut queue = lock(&self.common.queue);
        queue.jobs.push_back(Job(operation));
        let wanted = queue.jobs.len() > queue.idle && self.threads.len() < MOST_THREADS;
        drop(queue);
        if wanted {
            let common = Arc::clone(&self.common);
            let thread = std::thread::Builder::new().name("uthread-io".into());
            // If the system cannot start another thread, the existing ones do the work in turn. The
            // first one is required.
            match thread.spawn(move || serve(&common)) {
                Ok(thread) => self.threads.push(thread),
                Err(_) if !self.threads.is_empty() => {}
                Err(_) => {
                    let job = lock(&self.common.queue).jobs.pop_back();
                    if let Some(job) = job {
                        perform(&self.common, job, None);
                    }
                }
            }
        }
        self.common.work.notify_one();
    }

    /// Takes back a request that no helper thread has begun; `false` if one has. If that waits for a descriptor, its wait
    /// ends.
    pub(super) fn cancel(&mut self, operation: &Operation) -> bool {
        let mut queue = lock(&self.common.queue);
        let mut begun = queue.begun.iter();
        if let Some((_, stop)) = begun.find(|(job, _)| ptr::eq(job.0, operation)) {
            stop.set();
            return false;
        }
        let place = queue.jobs.iter().position(|job| ptr::eq(job.0, operation));
        let waiting = place.and_then(|place| queue.jobs.remove(place)).is_some();
        self.in_flight -= usize::from(waiting);
        waiting
    }

    /// True if nothing is done yet: helper threads ring the bell.
    pub(super) fn is_watched(&self) -> bool {
        !self.common.any_done.load(Ordering::Acquire)
    }

    pub(super) fn attend(&mut self, mut wake: impl FnMut(*const Control)) {
        if !self.common.any_done.swap(false, Ordering::Acquire) {
            return;
        }
        for Job(operation) in core::mem::take(&mut *lock(&self.common.done)) {
            self.in_flight -= 1;
            // SAFETY: the operation stays in place until its thread is woken.
            wake(unsafe { &*operation }.thread);
        }
    }
}

impl Drop for ThreadDriver {
    fn drop(&mut self) {
        lock(&self.common.queue).closed = true;
        self.common.work.notify_all();
        for thread in self.threads.drain(..) {
            // The threads do not panic, and nothing here could report it.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(common: &Common) {
    // Without one, the kernel thread's waits do not end early.
    let stop = Event::new().ok().map(Arc::new);
    let mut queue = lock(&common.queue);
    loop {
        if let Some(job) = queue.jobs.pop_front() {
            queue.begun.extend(stop.clone().map(|stop| (job, stop)));
            drop(queue);
            perform(common, job, stop.as_deref());
            queue = lock(&common.queue);
        } else if queue.closed {
            return;
        } else {
            queue.idle += 1;
            queue = common
                .work
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}

fn perform(common: &Common, job: Job, stop: Option<&Event>) {
    // SAFETY: the operation and its buffer stay in place until the thread is woken.
    unsafe {
        let operation = &*job.0;
        operation.result.set(operation.request.perform(stop));
    }
    if let Some(stop) = stop {
        let mut queue = lock(&common.queue);
        queue.begun.retain(|(begun, _)| begun.0 != job.0);
        stop.clear();
    }
    lock(&common.done).push(job);
    if !common.any_done.swap(true, Ordering::Release) {
        common.runtime.remotes[common.worker].bell.ring_always();
    }
}
