//! An intrusive queue: its links are in the members, so queueing never allocates.

use core::cell::Cell;
use core::ptr;

/// Links to the neighbours. A member is in at most one queue at a time.
#[derive(Debug)]
pub(crate) struct Links<T> {
    next: Cell<*const T>,
    previous: Cell<*const T>,
}

impl<T> Links<T> {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self {
            next: Cell::new(ptr::null()),
            previous: Cell::new(ptr::null()),
        }
    }

    /// The successor, for singly linked lists.
    pub(crate) fn next(&self) -> &Cell<*const T> {
        &self.next
    }
}

/// A type that can be a member of a [`Queue`].
pub(crate) trait Linked: Sized {
    fn links(&self) -> &Links<Self>;
}

/// A FIFO queue that supports removal from the middle. Every operation takes constant time.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    head: Cell<*const T>,
    tail: Cell<*const T>,
}

impl<T: Linked> Queue<T> {
    pub(crate) const fn new() -> Self {
        Self {
            head: Cell::new(ptr::null()),
            tail: Cell::new(ptr::null()),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.get().is_null()
    }

    /// The first member, or null.
    #[inline]
    pub(crate) fn front(&self) -> *const T {
        self.head.get()
    }

    /// True if the members are all of a kind.
    pub(super) fn all(&self, is_so: impl Fn(&T) -> bool) -> bool {
        let mut member = self.head.get();
        // SAFETY: the contract of the pushes keeps members alive.
        while let Some(thread) = unsafe { member.as_ref() } {
            if !is_so(thread) {
                return false;
            }
            member = thread.links().next.get();
        }
        true
    }

    /// # Safety
    /// `member` must be in no queue and stay alive and in place until it is taken out.
    #[inline]
    pub(crate) unsafe fn push_back(&self, member: *const T) {
        let tail = self.tail.replace(member);
        // SAFETY: the caller guarantees `member`; `tail` is a member.
        unsafe {
            let links = (*member).links();
            links.next.set(ptr::null());
            links.previous.set(tail);
            match tail.as_ref() {
                Some(tail) => tail.links().next.set(member),
                None => self.head.set(member),
            }
        }
    }

    /// # Safety
    /// Same as [`Queue::push_back`].
    #[inline]
    pub(crate) unsafe fn push_front(&self, member: *const T) {
        let head = self.head.replace(member);
        // SAFETY: the caller guarantees `member`; `head` is a member.
        unsafe {
            let links = (*member).links();
            links.next.set(head);
            links.previous.set(ptr::null());
            match head.as_ref() {
                Some(head) => head.links().previous.set(member),
                None => self.tail.set(member),
            }
        }
    }

    /// Makes the queue empty, and leaves the members as they are.
    pub(super) fn forget(&self) {
        self.head.set(ptr::null());
        self.tail.set(ptr::null());
    }

    #[inline]
    pub(crate) fn pop_front(&self) -> Option<*const T> {
        let head = self.head.get();
        // SAFETY: the contract of the pushes keeps members alive.
        let next = unsafe { head.as_ref() }?.links().next.get();
        self.head.set(next);
        // SAFETY: as above.
        match unsafe { next.as_ref() } {
            Some(next) => next.links().previous.set(ptr::null()),
            None => self.tail.set(ptr::null()),
        }
        Some(head)
    }

    /// Takes the first member, and puts `member` behind the others; `None` if there are no others. Where
    /// there is one, this writes less than a pop and a push.
    ///
    /// # Safety
    /// Same as [`Queue::push_back`].
    #[inline]
    pub(super) unsafe fn exchange(&self, member: *const T) -> Option<*const T> {
        let first = self.head.get();
        // SAFETY: the caller guarantees `member`; the others are members.
        unsafe {
            let second = first.as_ref()?.links().next.get();
            if let Some(second) = second.as_ref() {
                self.head.set(second);
                second.links().previous.set(ptr::null());
                self.push_back(member);
            } else {
                let links = (*member).links();
                links.next.set(ptr::null());
                links.previous.set(ptr::null());
                self.head.set(member);
                self.tail.set(member);
            }
        }
        Some(first)
    }

    /// # Safety
    /// `member` must be in this queue.
    pub(crate) unsafe fn remove(&self, member: *const T) {
        // SAFETY: the caller guarantees `member`; its neighbours are members.
        unsafe {
            let links = (*member).links();
            let (previous, next) = (links.previous.get(), links.next.get());
            match previous.as_ref() {
                Some(previous) => previous.links().next.set(next),
                None => self.head.set(next),
            }
            match next.as_ref() {
                Some(next) => next.links().previous.set(previous),
                None => self.tail.set(previous),
            }
        }
    }
}
