//! The record of each thread of C.

use core::cell::RefCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use uthread::{Exceptions, JoinHandle, Thread, no_preempt};

use crate::error::Errno;

/// A pointer that C passes between its threads; the program answers for what it points to.
#[derive(Clone, Copy)]
pub(crate) struct Pointer(pub(crate) *mut c_void);

// SAFETY: the header says so.
unsafe impl Send for Pointer {}

/// Progress of the termination of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Termination {
    /// This library has not called its function, so it cannot unwind to the end of that.
    #[default]
    Impossible,
    Possible,
    Requested,
    /// It unwinds. Its destructors may wait, so their waits are not cancelled.
    Obeyed,
}

/// `uthread_t`.
#[derive(Default)]
pub struct CThread {
    handle: Mutex<Option<JoinHandle<Result<Pointer, Errno>>>>,
    pub(crate) thread: OnceLock<Thread>,
    termination: Mutex<Termination>,
    /// Number of times that the thread holds termination off. Only it uses this.
    pub(crate) held_off: AtomicU32,
}

impl CThread {
    pub(crate) fn knows(&self, thread: Thread) {
        let _guard = no_preempt();
        let _ = self.thread.set(thread);
    }

    pub(crate) fn put_handle(&self, handle: JoinHandle<Result<Pointer, Errno>>) {
        let _guard = no_preempt();
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
    }

    /// Works with the state of the termination, which no request changes meanwhile.
    pub(crate) fn with_termination<R>(&self, work: impl FnOnce(&mut Termination) -> R) -> R {
        let _guard = no_preempt();
        let termination = self.termination.lock();
        work(&mut termination.unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn take_handle(&self) -> Option<JoinHandle<Result<Pointer, Errno>>> {
        let _guard = no_preempt();
        let mut handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        handle.take()
    }
}

uthread::thread_local! {
    pub(crate) static SELF: RefCell<Option<Arc<CThread>>> = RefCell::new(None);
}

/// Works with the record of the running thread, if it has one.
pub(crate) fn with_own<R>(work: impl FnOnce(&CThread) -> R) -> Option<R> {
    if !uthread::is_user_thread() {
        return None;
    }
    let own = SELF.with(|mine| mine.borrow().clone());
    own.map(|own| work(&own))
}

/// True if the running thread, whose wait was cancelled, is to unwind to its end now.
#[cold]
pub(crate) fn obeys_terminate() -> bool {
    let obeys = |own: &CThread| {
        own.with_termination(|termination| {
            if *termination != Termination::Requested || own.held_off.load(Ordering::Relaxed) > 0 {
                return false;
            }
            if Exceptions::in_flight() {
                // In a destructor, which must not throw. The next wait asks again.
                uthread::current().cancel();
                return false;
            }
            *termination = Termination::Obeyed;
            // Another request may have ended the wait.
            let _ = uthread::take_cancel();
            true
        })
    };
    with_own(obeys).unwrap_or(false)
}
