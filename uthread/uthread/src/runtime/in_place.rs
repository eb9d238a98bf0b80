//! A runtime whose first user thread is the caller, on the stack that it has already.
//!
//! The worker's loop gets a stack of its own instead, and the first thread's slot stays nearly empty:
//!
//! ```text
//! begin:  caller ──switch──► loop's stack: Runtime::try_run ──► slot of the first thread
//!         caller ◄──────────────────────────────────switch────┘
//! end:    caller ──switch──► slot of the first thread, which ends ──► the loop ends
//!         caller ◄──────────────────────────────────switch────────────┘
//! ```

use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use std::io;

use super::run::{Runtime, require_none};
use crate::context::{Context, switch};
use crate::stack::{HANDLER_BYTES, LoopStack, lowest_stack_address};
use crate::thread::Control;
use crate::worker::{current_worker, depth, enter, leave, require_worker};

/// The caller of [`Runtime::begin`] as the first user thread, until [`InPlace::end`].
///
/// ```
/// use uthread::Runtime;
///
/// let runtime = Runtime::builder().build().unwrap();
/// // SAFETY: `end` follows on this kernel thread.
/// let first = unsafe { runtime.begin() }.unwrap();
/// assert_eq!(uthread::spawn(|| 7).join().unwrap(), 7);
/// first.end().unwrap();
/// ```
#[derive(Debug)]
#[must_use = "the runtime ends with `end`"]
pub struct InPlace {
    state: NonNull<State>,
    /// It belongs to the kernel thread.
    not_send: PhantomData<*const ()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Starting,
    Running,
    Ending,
}

struct State {
    runtime: Runtime,
    /// The caller's stack.
    caller: UnsafeCell<Context>,
    /// The first thread's own slot.
    slot: UnsafeCell<Context>,
    phase: Cell<Phase>,
    outcome: Cell<Option<io::Result<()>>>,
    first: Cell<*const Control>,
    _stack: LoopStack,
}

impl Runtime {
    /// Makes the caller the first user thread, on the stack that it has. It returns in that thread.
    ///
    /// # Errors
    /// As [`Runtime::try_run`], and if there is no memory for the stack of the worker's loop.
    ///
    /// # Panics
    /// Inside a user thread, and while a [`NoPreempt`](crate::NoPreempt) guard exists.
    ///
    /// # Safety
    /// The kernel thread must not end before [`InPlace::end`], except with its process. Threads that
    /// `end` leaves must not have lent thread-local values of a kernel thread to another one.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().build().unwrap();
    /// // SAFETY: `end` follows on this kernel thread.
    /// let first = unsafe { runtime.begin() }.unwrap();
    /// assert_eq!(uthread::current().name(), Some("main"));
    /// first.end().unwrap();
    /// ```
    pub unsafe fn begin(self) -> io::Result<InPlace> {
        require_none();
        let limit = lowest_stack_address()? + HANDLER_BYTES;
        let stack = LoopStack::map()?;
        let addresses = stack.addresses();
        let state = NonNull::from(Box::leak(Box::new(State {
            runtime: self,
            caller: UnsafeCell::new(Context::empty()),
            slot: UnsafeCell::new(Context::empty()),
            phase: Cell::new(Phase::Starting),
            outcome: Cell::new(None),
            first: Cell::new(ptr::null()),
            _stack: stack,
        })));
        let mut fresh = Context::empty();
        // SAFETY: the state lives on; `run_loop` or the first thread switches back to this place.
        let outcome = unsafe {
            Context::write_fresh(&raw mut fresh, addresses, run_loop, state.as_ptr().cast());
            switch(state.as_ref().caller.get(), &raw const fresh);
            state.as_ref().outcome.take()
        };
        if let Some(outcome) = outcome {
            // SAFETY: the loop has ended, so nothing else uses the state.
            drop(unsafe { Box::from_raw(state.as_ptr()) });
            return Err(outcome.err().unwrap_or_else(|| io::ErrorKind::Other.into()));
        }
        require_worker("Runtime::begin").current().set_limit(limit);
        leave();
        Ok(InPlace {
            state,
            not_send: PhantomData,
        })
    }
}

impl InPlace {
    /// True in the first thread, while no [`NoPreempt`](crate::NoPreempt) guard exists: then
    /// [`InPlace::end`] does not panic.
    #[doc(hidden)]
    pub fn may_end(&self) -> bool {
        // SAFETY: it lives until `end` frees it.
        let first = unsafe { self.state.as_ref() }.first.get();
        depth() == 0 && current_worker().is_some_and(|worker| ptr::eq(worker.current(), first))
    }

    /// Ends the first thread, waits for all others, and continues without a runtime.
    ///
    /// # Errors
    /// `Deadlock` if threads were left that can never run again; a message names them.
    ///
    /// # Panics
    /// In any thread but the first, and while a [`NoPreempt`](crate::NoPreempt) guard exists.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().build().unwrap();
    /// // SAFETY: `end` follows on this kernel thread.
    /// let first = unsafe { runtime.begin() }.unwrap();
    /// drop(uthread::spawn(|| ()));
    /// first.end().unwrap(); // waits for the other thread
    /// ```
    pub fn end(self) -> io::Result<()> {
        // SAFETY: it lives until this function frees it.
        let state = unsafe { self.state.as_ref() };
        let worker = require_worker("InPlace::end");
        assert!(
            ptr::eq(worker.current(), state.first.get()),
            "only the first thread can end its runtime"
        );
        worker.enter_blocking("InPlace::end");
        state.phase.set(Phase::Ending);
        // SAFETY: the first thread waits in its slot for this; `run_loop` switches back, with
        // preemption enabled and no worker.
        unsafe { switch(state.caller.get(), state.slot.get()) };
        let outcome = state.outcome.take();
        // SAFETY: the loop has ended, so nothing else uses the state.
        drop(unsafe { Box::from_raw(self.state.as_ptr()) });
        outcome.unwrap_or(Ok(()))
    }
}

/// The worker's loop, on a stack of its own.
unsafe extern "C" fn run_loop(state: *mut ()) -> ! {
    // SAFETY: `begin` passed it; the caller frees it only after this has switched back.
    let state = unsafe { &*state.cast::<State>() };
    // SAFETY: `wait_in_slot` borrows the state, and the caller of `begin` answers for the rest.
    let outcome = unsafe { state.runtime.try_run_and_leave(|| wait_in_slot(state)) };
    if outcome.is_err() && state.phase.get() == Phase::Running {
        // The first thread can never run again, so nobody could get the error.
        std::process::abort();
    }
    state.outcome.set(Some(outcome));
    let mut never = Context::empty();
    // SAFETY: the caller waits for this, and this stack holds nothing that is still needed.
    unsafe { switch(&raw mut never, state.caller.get()) };
    unreachable!("a finished loop was continued")
}

/// The first thread in its slot: continues on the caller's stack until `end`.
fn wait_in_slot(state: &State) {
    state.first.set(require_worker("Runtime::begin").current());
    enter();
    state.phase.set(Phase::Running);
    // SAFETY: the caller waits for this in `begin`, and continues this in `end`.
    unsafe { switch(state.slot.get(), state.caller.get()) };
    leave();
}
