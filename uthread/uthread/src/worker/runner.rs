//! The worker: switching, blocking and waking.

use core::ptr::NonNull;
use core::sync::atomic::{Ordering, fence};
use std::io;
use std::sync::Arc;

use super::cancel::obey_cancel;
use super::local::{self, leave_blocking, set_depth, set_pending, try_enter};
use super::shared::Mode;
use super::state::Worker;
use crate::context::{abandon, switch};
use crate::preempt::Ticker;
use crate::thread::{Control, State, Wait};
use crate::trace::Kind;

impl Worker {
    /// Records an event if tracing is on.
    #[inline]
    pub(crate) fn trace(&self, kind: Kind, thread: &Control) {
        if self.traced {
            self.record(kind, thread);
        }
    }

    #[cold]
    fn record(&self, kind: Kind, thread: &Control) {
        if let Some(recorder) = &self.remote().recorder {
            recorder.record(self.shared.clock.now_ns(), kind, thread.id, thread.name());
        }
    }

    /// Starts an operation that may block, and that ends with [`leave_blocking`].
    #[inline]
    pub(crate) fn enter_blocking(&self, operation: &str) {
        if !try_enter() {
            self.must_not_block(operation);
        }
    }

    #[cold]
    #[inline(never)]
    fn must_not_block(&self, operation: &str) -> ! {
        let thread = self.current().label();
        panic!("{thread} called {operation} while it holds preemption off");
    }

    /// Makes a new thread ready.
    #[inline]
    pub(crate) fn start(&self, thread: NonNull<Control>) {
        // SAFETY: new from `spawn`, in no queue.
        let control = unsafe { thread.as_ref() };
        self.trace(Kind::Create, control);
        self.live.set(self.live.get() + 1);
        if self.several {
            self.offer(thread);
        } else {
            control.set_home(self.index);
            // SAFETY: preemption is disabled; the block lives until the thread has ended.
            unsafe { self.scheduler.ready.push_back(thread.as_ptr()) };
            self.competitor();
        }
    }

    /// Lets any worker start the thread.
    #[inline(never)]
    fn offer(&self, thread: NonNull<Control>) {
        // SAFETY: as above.
        unsafe { self.remote().fresh.push(thread.as_ptr()) };
        self.arm();
        self.call_another_worker();
    }

    /// Makes the first thread ready, before the loop begins. Other workers must not steal it.
    pub(crate) fn start_here(&self, thread: NonNull<Control>) {
        // SAFETY: new, in no queue; it lives until the thread has ended.
        unsafe {
            thread.as_ref().set_home(self.index);
            self.trace(Kind::Create, thread.as_ref());
            self.scheduler.ready.push_back(thread.as_ptr());
        }
        self.live.set(1);
        self.publish_live();
    }

    /// Tells the others the number of live threads, for [`Shared::live`](super::Shared::live).
    pub(super) fn publish_live(&self) {
        let live = &self.remote().counters.live;
        live.store(self.live.get(), Ordering::Relaxed);
    }

    /// Calls an idle worker, or else one that runs a single thread, to take a new thread.
    fn call_another_worker(&self) {
        let (before, after) = self.shared.remotes.split_at(self.index);
        let mut others = before.iter().chain(after.iter().skip(1));
        // Either this finds that a worker rests, or that worker finds the thread.
        fence(Ordering::SeqCst);
        if !others.clone().any(|remote| remote.bell.wake()) {
            others.any(|remote| remote.bell.disturb());
        }
    }

    /// Makes a blocked thread ready, on whichever worker it lives.
    ///
    /// Preemption must be disabled, and no other thread may wake the same thread.
    #[inline]
    pub(crate) fn wake(&self, thread: &Control) {
        let home = thread.home();
        if home == self.index {
            self.make_ready(thread);
        } else {
            self.shared.wake(thread);
        }
    }

    #[inline]
    pub(super) fn make_ready(&self, thread: &Control) {
        self.trace(Kind::Wake, thread);
        thread.set_state(State::Ready);
        self.scheduler.woken(thread);
        // SAFETY: a woken thread is in no queue and alive.
        unsafe { self.scheduler.ready.push_back(thread) };
        self.competitor();
    }

    /// A thread became ready: the running thread needs a slice now, or must yield at once.
    #[inline]
    fn competitor(&self) {
        if self.preemptive {
            self.arm();
            if self.scheduler.outranked(self.current()) {
                set_pending(true);
            }
        }
    }

    /// The running thread's priority has fallen, or another's has risen.
    #[inline]
    pub(crate) fn look_later(&self) {
        self.competitor();
    }

    /// Lets another ready thread of at least this priority run, if there is one.
    #[inline]
    pub(crate) fn yield_now(&self) {
        self.enter_blocking("yield_now");
        if self.attention.get() {
            self.attend();
        }
        let me = self.current();
        if me.is_cancelled() {
            obey_cancel(me);
        }
        self.let_next_run(me);
        leave_blocking();
    }

    /// The same, but does nothing and returns `false` where [`Worker::yield_now`] would unwind. So it never unwinds.
    #[inline]
    pub(crate) fn yield_quickly(&self) -> bool {
        let me = self.current();
        if me.is_cancelled() || !try_enter() {
            return false;
        }
        if self.attention.get() {
            self.attend();
        }
        self.let_next_run(me);
        leave_blocking();
        true
    }

    #[expect(
        clippy::inline_always,
        reason = "returning after a switch misses the predictor"
    )]
    #[inline(always)]
    fn let_next_run(&self, me: &Control) {
        // SAFETY: the running thread is in no queue, and alive.
        if let Some(next) = unsafe { self.scheduler.exchange(me) } {
            self.trace(Kind::Yield, me);
            me.set_state(State::Ready);
            self.scheduler.switched();
            // SAFETY: `next` was ready, and the running thread is in its queue.
            unsafe { self.switch_to(next) };
        }
    }

    /// Blocks the running thread until another thread wakes it. That thread knows it already. If it
    /// wakes it from another worker before the switch, the wake-up waits in the inbox.
    #[expect(
        clippy::inline_always,
        reason = "returning after a switch misses the predictor"
    )]
    #[inline(always)]
    pub(crate) fn block(&self, wait: Wait) {
        let me = self.current();
        me.set_blocked(wait);
        self.trace(Kind::Block(wait), me);
        let next = self.pick().unwrap_or(&raw const self.root);
        self.scheduler.switched();
        // SAFETY: `next` was ready, or is the loop, which waits for this.
        unsafe { self.switch_to(next) };
    }

    /// Blocks the running thread and switches directly to `next`, which was blocked.
    #[expect(
        clippy::inline_always,
        reason = "returning after a switch misses the predictor"
    )]
    #[inline(always)]
    pub(crate) fn block_and_run(&self, wait: Wait, next: &Control) {
        let me = self.current();
        me.set_blocked(wait);
        self.trace(Kind::Block(wait), me);
        self.scheduler.switched();
        // SAFETY: a blocked thread of this worker that only this caller wakes.
        unsafe { self.switch_to(next) };
    }

    /// The next thread to run.
    #[inline]
    pub(super) fn pick(&self) -> Option<*const Control> {
        if self.attention.get() {
            self.attend();
        }
        self.scheduler.pop()
    }

    /// Wakes a thread and returns the next one to run. If no other is ready, that is the same one, and takes no queue.
    #[inline]
    fn pick_after(&self, woken: Option<&Control>) -> Option<*const Control> {
        match woken {
            Some(thread) if self.scheduler.ready.is_empty() && !self.attention.get() => {
                self.trace(Kind::Wake, thread);
                self.scheduler.woken(thread);
                return Some(thread);
            }
            Some(thread) => self.wake(thread),
            None => {}
        }
        self.pick()
    }

    /// # Safety
    /// Preemption must be disabled exactly once. `next` must be a context of this worker that does
    /// not run. The running thread must already be in its queue.
    #[expect(
        clippy::inline_always,
        reason = "returning after a switch misses the predictor"
    )]
    #[inline(always)]
    pub(super) unsafe fn switch_to(&self, next: *const Control) {
        // SAFETY: the caller's contract; both blocks are alive.
        unsafe {
            let me = self.will_run(next);
            switch((*me).context(), (*next).context());
        }
    }

    /// Makes `next`, which is alive, the running thread in the books. Returns the one before.
    #[inline]
    unsafe fn will_run(&self, next: *const Control) -> *const Control {
        // SAFETY: the caller's contract.
        unsafe {
            (*next).set_state(State::Running);
            self.trace(Kind::Run, &*next);
        }
        self.running.current.replace(next)
    }

    /// Ends the running thread, whose result is in place.
    ///
    /// # Safety
    /// Preemption must be disabled, and the thread's stack must hold nothing that is still needed.
    #[expect(
        clippy::inline_always,
        reason = "returning after a switch misses the predictor"
    )]
    #[inline(always)]
    pub(crate) unsafe fn retire(&self) -> ! {
        let me = self.current();
        self.trace(Kind::Exit, me);
        me.set_state(State::Finished);
        let next = if self.several {
            // The slot must not become free while this worker still runs on it: the loop finishes
            // the thread from its own stack.
            self.retired.set(Some(NonNull::from(me)));
            &raw const self.root
        } else {
            let joiner = self.finish(NonNull::from(me));
            self.pick_after(joiner).unwrap_or(&raw const self.root)
        };
        self.scheduler.switched();
        // SAFETY: same as in `block`; this thread never continues.
        unsafe {
            self.will_run(next);
            abandon(me.context(), (*next).context())
        }
    }

    /// Takes from the system what may be refused. The worker must stay in place from here on.
    pub(crate) fn prepare(&mut self) -> io::Result<()> {
        if matches!(self.shared.config.mode, Mode::Preemptive { .. }) {
            let (running, slice_ns) = (&raw const self.running, self.shared.slice_ns());
            let cpu_time = self.shared.config.cpu_time;
            // SAFETY: the field belongs to this kernel thread, and stays in place until the timer
            // is removed.
            let ticker = unsafe { Ticker::new(running, slice_ns, cpu_time) }?;
            let ticker = Arc::new(ticker);
            self.remote().bell.set_ticker(Some(Arc::clone(&ticker)));
            let _ = self.ticker.set(ticker);
        }
        Ok(())
    }

    /// Others must not use the timer any more when it is removed.
    fn remove_timer(&mut self) {
        self.remote().bell.set_ticker(None);
        self.watch.take();
        if let Some(ticker) = self.ticker.take() {
            ticker.remove();
        }
    }

    /// The worker's loop; returns when the runtime has ended.
    pub(crate) fn run(&mut self) {
        self.run_threads();
        self.remove_timer();
    }

    fn run_threads(&self) {
        self.running.current.set(&raw const self.root);
        local::set_worker(self);
        set_depth(1);
        set_pending(self.dice.get().is_some());
        loop {
            if let Some(joiner) = self.retired.take().and_then(|thread| self.finish(thread)) {
                self.wake(joiner);
            }
            if let Some(next) = self.pick() {
                // SAFETY: ready, and the loop continues whenever no thread is ready.
                unsafe { self.switch_to(next) };
            } else if !self.idle() {
                break;
            }
        }
        self.publish_live();
        self.disarm();
        self.stacks.drain();
        set_pending(false);
        set_depth(0);
        local::set_worker(core::ptr::null());
    }
}

impl Drop for Worker {
    /// For a worker that never ran.
    fn drop(&mut self) {
        self.remove_timer();
    }
}
