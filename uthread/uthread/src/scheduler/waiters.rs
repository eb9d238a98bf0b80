//! A queue of threads that wait for an object, each of which may stop waiting.

use core::cell::Cell;
use core::ptr;

use super::{Linked, Queue};

/// A type that can be a member of [`Waiters`].
pub(crate) trait Waits: Linked {
    /// The object whose waiters include the member, or null.
    fn waits_in(&self) -> &Cell<*const ()>;
}

/// Threads that wait for an object, in FIFO order. Unlike a [`Queue`], it can tell whether a thread
/// still waits here, so either a waking thread or the thread's timer takes it out, never both.
///
/// The object's own lock protects all operations. The object stays in place while threads wait.
#[derive(Debug)]
pub(crate) struct Waiters<T>(Queue<T>);

impl<T: Waits> Waiters<T> {
    pub(crate) const fn new() -> Self {
        Self(Queue::new())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first waiter, or null.
    #[inline]
    pub(crate) fn front(&self) -> *const T {
        self.0.front()
    }

    fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// # Safety
    /// Same as [`Queue::push_back`].
    #[inline]
    pub(crate) unsafe fn push_back(&self, thread: *const T) {
        // SAFETY: the caller's contract.
        unsafe {
            (*thread).waits_in().set(self.address());
            self.0.push_back(thread);
        }
    }

    /// # Safety
    /// Same as [`Queue::push_back`].
    pub(crate) unsafe fn push_front(&self, thread: *const T) {
        // SAFETY: the caller's contract.
        unsafe {
            (*thread).waits_in().set(self.address());
            self.0.push_front(thread);
        }
    }

    /// Takes out the first waiter, which the caller must wake.
    #[inline]
    pub(crate) fn pop_front(&self) -> Option<*const T> {
        let first = self.0.pop_front()?;
        // SAFETY: it was a member, hence alive.
        unsafe { (*first).waits_in().set(ptr::null()) };
        Some(first)
    }

    /// Takes out all waiters, which the caller must wake.
    pub(crate) fn take_all(&self) -> Queue<T> {
        let all = Queue::new();
        while let Some(first) = self.pop_front() {
            // SAFETY: it has just been taken out, and is alive until woken.
            unsafe { all.push_back(first) };
        }
        all
    }

    /// Makes the queue empty. None of its members may ever run again.
    pub(crate) fn forget(&self) {
        self.0.forget();
    }

    /// Takes out a thread whose time is up; `false` if another thread has taken it out before.
    ///
    /// # Safety
    /// `thread` must be alive, and wait here or have waited here last.
    pub(crate) unsafe fn withdraw(&self, thread: *const T) -> bool {
        // SAFETY: the caller's contract, and a thread that waits here is a member.
        unsafe {
            let waits = ptr::eq((*thread).waits_in().get(), self.address());
            if waits {
                (*thread).waits_in().set(ptr::null());
                self.0.remove(thread);
            }
            waits
        }
    }
}
