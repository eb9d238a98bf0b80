//! The run queue: one queue for each priority.

use core::cell::Cell;

use super::{LEVELS, Linked, Priority, Queue, Rank};

/// The scheduler's view of a thread.
pub(crate) trait Schedulable: Linked {
    fn rank(&self) -> &Rank;

    /// The queue that contains the thread while it is ready.
    fn level(&self) -> &Cell<Priority>;

    /// Number of locks held. While it is not zero, the priority does not fall.
    fn locks_held(&self) -> u32;
}

/// A queue for each priority, and a mask of the queues that are not empty.
#[derive(Debug)]
pub(crate) struct Ready<T> {
    queues: [Queue<T>; LEVELS],
    occupied: Cell<u8>,
}

impl<T: Schedulable> Ready<T> {
    pub(crate) const fn new() -> Self {
        Self {
            queues: [const { Queue::new() }; LEVELS],
            occupied: Cell::new(0),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.occupied.get() == 0
    }

    /// Priority of the next thread.
    #[inline]
    pub(crate) fn highest(&self) -> Option<Priority> {
        let level = self.occupied.get().checked_ilog2()?;
        Some(Priority::from_level(level as u8))
    }

    #[inline]
    fn enter(&self, thread: *const T) -> &Queue<T> {
        // SAFETY: the callers' contract.
        let thread = unsafe { &*thread };
        let level = thread.rank().effective();
        thread.level().set(level);
        self.occupied.set(self.occupied.get() | 1 << level as u8);
        &self.queues[level as usize]
    }

    /// # Safety
    /// `thread` must be in no queue and stay alive and in place until it is taken out.
    #[inline]
    pub(crate) unsafe fn push_back(&self, thread: *const T) {
        // SAFETY: the caller's contract.
        unsafe { self.enter(thread).push_back(thread) }
    }

    /// # Safety
    /// Same as [`Ready::push_back`].
    pub(crate) unsafe fn push_front(&self, thread: *const T) {
        // SAFETY: the caller's contract.
        unsafe { self.enter(thread).push_front(thread) }
    }

    /// Takes the first thread of the highest occupied priority.
    #[inline]
    pub(crate) fn pop(&self) -> Option<*const T> {
        let level = self.occupied.get().checked_ilog2()?;
        let queue = &self.queues[level as usize];
        let thread = queue.pop_front();
        if queue.is_empty() {
            self.occupied.set(self.occupied.get() & !(1 << level));
        }
        thread
    }

    /// Takes the first thread of `level`, and puts `thread` behind the others; `None` if there are no
    /// others. The level stays occupied, so the next exchange need not wait for a new mask.
    ///
    /// # Safety
    /// Same as [`Ready::push_back`], and `level` must be the priority of `thread`.
    #[inline]
    pub(super) unsafe fn exchange(&self, thread: &T, level: Priority) -> Option<*const T> {
        // SAFETY: the caller's contract.
        let first = unsafe { self.queues[level as usize].exchange(thread) }?;
        thread.level().set(level);
        Some(first)
    }

    /// # Safety
    /// `thread` must be one of the ready threads.
    pub(crate) unsafe fn remove(&self, thread: *const T) {
        // SAFETY: the caller's contract.
        let level = unsafe { &*thread }.level().get();
        let queue = &self.queues[level as usize];
        // SAFETY: a ready thread is in the queue of its level.
        unsafe { queue.remove(thread) };
        if queue.is_empty() {
            self.occupied.set(self.occupied.get() & !(1 << level as u8));
        }
    }

    /// True if the threads are all of a kind.
    pub(crate) fn all(&self, is_so: impl Fn(&T) -> bool) -> bool {
        self.queues.iter().all(|queue| queue.all(&is_so))
    }

    /// Queues all threads again after `change` has adjusted their priorities. The order within a
    /// priority is kept; threads that rise go behind those that were already there.
    pub(crate) fn regroup(&self, change: impl Fn(&T)) {
        let all = Queue::new();
        while let Some(thread) = self.pop() {
            // SAFETY: it was a member, hence alive, and has just been taken out.
            unsafe {
                change(&*thread);
                all.push_back(thread);
            }
        }
        while let Some(thread) = all.pop_front() {
            // SAFETY: as above.
            unsafe { self.push_back(thread) };
        }
    }
}
