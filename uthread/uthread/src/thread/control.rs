//! The control block of a thread, near the end of its stack slot.

use core::cell::{Cell, UnsafeCell};
use core::fmt;
#[cfg(target_os = "linux")]
use core::mem::offset_of;
use core::ops::Range;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::thread::panicking;

use super::locals::Locals;
use super::wait::Wait;
use super::waiting::{Waiting, Woken};
use crate::context::Context;
use crate::scheduler::{Linked, Links, LockCount, Priority, Rank, Schedulable, Tally, Waits};
use crate::stack::{HANDLER_BYTES, class_bytes};
use crate::worker::stayed_in_parent;

/// State of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// No thread is in the slot. Zero, like memory that was never touched.
    Free = 0,
    /// Queued as ready, not yet started.
    New,
    Ready,
    Running,
    Blocked,
    Finished,
}

impl State {
    fn from_byte(byte: u8) -> Self {
        [
            Self::Free,
            Self::New,
            Self::Ready,
            Self::Running,
            Self::Blocked,
            Self::Finished,
        ][byte as usize]
    }
}

/// The handshake between `suspend` and `resume`, protected by the lock of the wait-for graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    None,
    /// A `resume` came before the `suspend`.
    Given,
    /// The thread is suspended.
    Awaited,
}

/// All data about a thread. The cells belong to the thread's worker, which may use them only while
/// preemption is disabled. While the thread is blocked with the wait-for graph locked, they belong
/// to the holder of that lock.
#[repr(C, align(64))]
pub(crate) struct Control {
    // What a yield uses is in the first cache line.
    context: UnsafeCell<Context>,
    links: Links<Self>,
    rank: Rank,
    level: Cell<Priority>,
    state: AtomicU8,
    wait: Cell<Wait>,
    /// A wait is to end, the current one or else the next.
    cancelled: AtomicBool,
    worker: AtomicUsize,
    /// The object whose waiters include the thread, or null.
    waits_in: Cell<*const ()>,
    /// The wait that others may end, or null.
    waiting: Cell<*const Waiting<'static>>,
    /// Ticks that find the stack pointer below this address are deferred.
    pub(crate) limit: Cell<usize>,
    pub(crate) locks: LockCount,
    /// Changes only in the child of a fork.
    pub(crate) runtime: Cell<u32>,
    /// Ceilings of the locks held.
    pub(crate) ceilings: Tally,
    /// Priorities of the threads that wait for locks held by this one.
    pub(crate) heirs: Tally,
    pub(crate) spins: Cell<bool>,
    /// Not padding, over which compilers copy the fields next to it by loads that wait for the stores before them.
    _rest: [u8; 3],
    /// The lock this thread waits for, which only the lock's own file reads.
    pub(crate) blocked_on: Cell<*const ()>,
    /// The lock released in the `wait` of a condition variable, the slot of a value in transit, or the owner of the spin lock
    /// that the thread spins for.
    pub(crate) parcel: Cell<*const ()>,
    /// Null while it runs, [`FINISHED`], [`DETACHED`], or the joining thread.
    pub(crate) joiner: AtomicPtr<Control>,
    pub(super) references: AtomicU32,
    pub(super) class: u8,
    pub(crate) permit: Cell<Permit>,
    /// It stops waiting by itself for the lock that it waits for.
    pub(crate) has_time_limit: Cell<bool>,
    pub(crate) result_gone: Cell<bool>,
    pub(crate) id: u64,
    pub(crate) packet: *mut (),
    pub(crate) run: unsafe fn(*mut ()),
    pub(crate) drop_result: unsafe fn(*mut ()),
    pub(crate) locals: UnsafeCell<Locals>,
    pub(super) name: Option<Box<str>>,
}

// SAFETY: the comment of the type says who may use which field.
unsafe impl Sync for Control {}

/// Special values of [`Control::joiner`]; no control block has these addresses.
pub(crate) const FINISHED: *mut Control = ptr::without_provenance_mut(1);
pub(crate) const DETACHED: *mut Control = ptr::without_provenance_mut(2);

/// The worker of a thread that no worker has started.
pub(crate) const NOT_STARTED: usize = usize::MAX;

/// Size of a cache line. The last cache line of each slot holds the free list's link.
const LINE_BYTES: usize = 64;

/// Places in a control block, for debuggers.
#[cfg(target_os = "linux")]
#[repr(C)]
pub(crate) struct Places {
    bytes: usize,
    context: usize,
    state: usize,
    wait: usize,
    id: usize,
    name: usize,
}

#[cfg(target_os = "linux")]
impl Places {
    pub(crate) const OF_CONTROL: Self = Self {
        bytes: size_of::<Control>(),
        context: offset_of!(Control, context),
        state: offset_of!(Control, state),
        wait: offset_of!(Control, wait),
        id: offset_of!(Control, id),
        name: offset_of!(Control, name),
    };
}

/// Initial values of a new thread.
pub(crate) struct Birth {
    pub(crate) id: u64,
    pub(crate) runtime: u32,
    pub(crate) class: usize,
    pub(crate) priority: Priority,
    pub(crate) name: Option<Box<str>>,
}

impl Control {
    /// Address of the control block in the slot that ends at `end`: in the last 4 KiB, at one of 32
    /// distances from the end. With equal distances in all slots, the blocks and the frames below
    /// them would compete for a few cache sets.
    #[inline]
    pub(crate) fn at_end(end: NonNull<u8>) -> NonNull<Self> {
        let mixed = (end.addr().get() as u64 >> 14).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let distance = (mixed >> 59) as usize * LINE_BYTES;
        // SAFETY: inside the slot, which is larger than the sum.
        unsafe { end.sub(LINE_BYTES + distance + size_of::<Self>()).cast() }
    }

    /// Writes a control block into the slot that begins at `slot`.
    ///
    /// # Safety
    /// The slot must be free and belong to the caller.
    #[inline]
    pub(crate) unsafe fn place(slot: NonNull<u8>, birth: Birth) -> NonNull<Self> {
        // SAFETY: the slot has this size.
        let control = Self::at_end(unsafe { slot.add(class_bytes(birth.class)) });
        let class = birth.class as u8;
        // SAFETY: the memory belongs to the caller, and is aligned because slots are page-aligned.
        unsafe {
            control.write(Self::new(birth, class));
            let limit = control.as_ref().stack_bottom() + HANDLER_BYTES;
            control.as_ref().set_limit(limit);
        }
        control
    }

    /// A block for a worker's loop, which has no slot.
    pub(crate) fn of_worker(runtime: u32) -> Self {
        let birth = Birth {
            id: 0,
            runtime,
            class: 0,
            priority: Priority::Green,
            name: None,
        };
        Self::new(birth, 0)
    }

    #[inline]
    fn new(birth: Birth, class: u8) -> Self {
        unsafe fn nothing(_: *mut ()) {}
        Self {
            context: UnsafeCell::new(Context::empty()),
            links: Links::new(),
            worker: AtomicUsize::new(NOT_STARTED),
            waits_in: Cell::new(ptr::null()),
            rank: Rank::new(birth.priority),
            level: Cell::new(birth.priority),
            state: AtomicU8::new(State::New as u8),
            wait: Cell::new(Wait::Suspended),
            cancelled: AtomicBool::new(false),
            waiting: Cell::new(ptr::null()),
            class,
            limit: Cell::new(0),
            locks: LockCount::new(),
            runtime: Cell::new(birth.runtime),
            ceilings: Tally::new(),
            heirs: Tally::new(),
            blocked_on: Cell::new(ptr::null()),
            spins: Cell::new(false),
            _rest: [0; 3],
            has_time_limit: Cell::new(false),
            parcel: Cell::new(ptr::null()),
            permit: Cell::new(Permit::None),
            joiner: AtomicPtr::new(ptr::null_mut()),
            references: AtomicU32::new(1),
            id: birth.id,
            packet: ptr::null_mut(),
            run: nothing,
            drop_result: nothing,
            result_gone: Cell::new(false),
            locals: UnsafeCell::new(Locals::new()),
            name: birth.name,
        }
    }

    /// Ticks that find the stack pointer below this address are deferred.
    #[inline]
    pub(crate) fn set_limit(&self, address: usize) {
        self.limit.set(address);
    }

    #[inline]
    pub(crate) fn context(&self) -> *mut Context {
        self.context.get()
    }

    #[inline]
    pub(crate) fn state(&self) -> State {
        State::from_byte(self.state.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn set_state(&self, state: State) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn wait(&self) -> Wait {
        self.wait.get()
    }

    #[inline]
    pub(crate) fn set_blocked(&self, wait: Wait) {
        self.wait.set(wait);
        self.set_state(State::Blocked);
    }

    /// Index of its worker in the runtime, or [`NOT_STARTED`].
    #[inline]
    pub(crate) fn home(&self) -> usize {
        self.worker.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set_home(&self, worker: usize) {
        self.worker.store(worker, Ordering::Relaxed);
    }

    /// Asks for the early end of a wait.
    pub(crate) fn request_cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Takes a request to cancel, for the running thread to obey. A thread that unwinds leaves it.
    pub(crate) fn take_cancel(&self) -> bool {
        let taken = self.is_cancelled() && !panicking();
        if taken {
            self.cancelled.store(false, Ordering::Relaxed);
        }
        taken
    }

    /// Lets others end the wait that the running thread begins. It must not block if this returns
    /// `true`: then an earlier request has ended the wait.
    #[inline]
    pub(crate) fn begin_wait(&self, waiting: &Waiting<'_>) -> bool {
        self.waiting.set(ptr::from_ref(waiting).cast());
        self.is_cancelled() && self.end_wait(Woken::Cancelled)
    }

    #[inline]
    pub(crate) fn finish_wait(&self) {
        self.waiting.set(ptr::null());
    }

    /// Ends the thread's wait early. The caller must be on the thread's worker, with preemption
    /// disabled, and wake the thread if this returns `true`.
    pub(crate) fn end_wait(&self, cause: Woken) -> bool {
        // SAFETY: on the stack of this thread, which waits and cannot continue meanwhile.
        let waiting = unsafe { self.waiting.get().as_ref() };
        let ends = waiting.is_some_and(|waiting| waiting.end(cause));
        if ends && cause == Woken::Cancelled {
            self.cancelled.store(false, Ordering::Relaxed);
        }
        ends
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name, or the number, for messages.
    #[inline]
    pub(crate) fn label(&self) -> Label<'_> {
        Label(self)
    }

    /// Start of the slot that the block is in, which a pointer made from the reference must not leave: the
    /// slab has exposed its memory.
    #[inline]
    pub(super) fn slot(&self) -> NonNull<u8> {
        // The block is in the last 4 KiB of its slot, whose size is that of the class.
        let end = (ptr::from_ref(self).addr() | 0xfff) + 1;
        let start = end - class_bytes(self.class as usize);
        // SAFETY: no slot is at zero.
        unsafe { NonNull::new_unchecked(ptr::with_exposed_provenance_mut(start)) }
    }

    /// Lowest address of the stack, just above the guard.
    #[inline]
    pub(crate) fn stack_bottom(&self) -> usize {
        self.slot().addr().get() + crate::stack::guard_bytes()
    }

    /// Address ranges of the guard, and of the stack above it with the control block.
    pub(crate) fn guard_and_stack(&self) -> [Range<usize>; 2] {
        let (start, bottom) = (self.slot().addr().get(), self.stack_bottom());
        let end = start + class_bytes(self.class as usize);
        [start..bottom, bottom..end]
    }

    /// Drops the result of a thread that nobody joins.
    ///
    /// # Safety
    /// The result must be in place, and no other code may use it.
    pub(super) unsafe fn discard_result(&self) {
        // SAFETY: the caller's contract.
        unsafe { (self.drop_result)(self.packet) };
        self.result_gone.set(true);
    }

    /// True in the child of a fork, where the thread neither runs nor ends.
    #[inline]
    pub(crate) fn stayed_in_parent(&self) -> bool {
        stayed_in_parent(self.runtime.get())
    }

    /// Adds a reference to the block.
    pub(crate) fn retain(&self) {
        self.references.fetch_add(1, Ordering::Relaxed);
    }
}

impl Linked for Control {
    #[inline]
    fn links(&self) -> &Links<Self> {
        &self.links
    }
}

impl Waits for Control {
    #[inline]
    fn waits_in(&self) -> &Cell<*const ()> {
        &self.waits_in
    }
}

impl Schedulable for Control {
    #[inline]
    fn rank(&self) -> &Rank {
        &self.rank
    }

    #[inline]
    fn level(&self) -> &Cell<Priority> {
        &self.level
    }

    fn locks_held(&self) -> u32 {
        self.locks.get()
    }
}

/// The name of a thread in messages.
pub(crate) struct Label<'a>(&'a Control);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.name() {
            Some(name) => write!(f, "'{name}'"),
            None => write!(f, "thread {}", self.0.id),
        }
    }
}
