//! The control block of a thread, near the end of its stack slot.

use core::cell::{Cell, UnsafeCell};
use core::fmt;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering, fence};

use super::local::Locals;
use crate::context::Context;
use crate::preempt::HANDLER_BYTES;
use crate::scheduler::{Linked, Links, Priority, Rank, Schedulable, Tally};
use crate::stack::{POOL, class_bytes};
use crate::sync::RawLock;
use crate::worker::{Worker, current_worker, enter, leave};

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

/// The event that a blocked thread waits for.
///
/// ```
/// assert_eq!(uthread::Wait::Lock.to_string(), "waits for a lock");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Wait {
    /// A lock.
    Lock,
    /// The lock that it handed over in a signal.
    Urgent,
    /// A condition variable.
    Condition,
    /// The end of a thread.
    Join,
    /// A `resume`.
    Suspended,
    /// A permit of a semaphore.
    Semaphore,
    /// A value in a channel, or room for one.
    Channel,
    /// Other threads at a barrier.
    Barrier,
    /// A transfer in the kernel.
    Io,
    /// A point in time.
    Sleep,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lock => "waits for a lock",
            Self::Urgent => "has signalled and waits for its lock",
            Self::Condition => "waits for a condition",
            Self::Join => "joins a thread",
            Self::Suspended => "is suspended",
            Self::Semaphore => "waits for a semaphore",
            Self::Channel => "waits for a channel",
            Self::Barrier => "waits at a barrier",
            Self::Io => "waits for input or output",
            Self::Sleep => "sleeps",
        })
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
    context: UnsafeCell<Context>,
    links: Links<Self>,
    pub(crate) worker: Cell<*const Worker>,
    rank: Rank,
    level: Cell<Priority>,
    state: AtomicU8,
    wait: Cell<Wait>,
    class: u8,
    /// Ticks that find the stack pointer below this address are deferred.
    limit: Cell<usize>,
    pub(crate) locks: Cell<u32>,
    pub(crate) runtime: u32,
    /// Ceilings of the locks held.
    pub(crate) ceilings: Tally,
    /// Priorities of the threads that wait for locks held by this one.
    pub(crate) heirs: Tally,
    /// The lock this thread waits for.
    pub(crate) blocked_on: Cell<*const RawLock>,
    /// The lock released in the `wait` of a condition variable, or the slot of a value in transit.
    pub(crate) parcel: Cell<*const ()>,
    pub(crate) permit: Cell<Permit>,
    /// Null while it runs, [`FINISHED`], [`DETACHED`], or the joining thread.
    pub(crate) joiner: AtomicPtr<Control>,
    references: AtomicU32,
    pub(crate) id: u64,
    pub(crate) packet: *mut (),
    pub(crate) run: unsafe fn(*mut ()),
    pub(crate) drop_result: unsafe fn(*mut ()),
    pub(crate) result_gone: Cell<bool>,
    pub(crate) locals: UnsafeCell<Locals>,
    name: Option<Box<str>>,
}

// SAFETY: the comment of the type says who may use which field.
unsafe impl Sync for Control {}

/// Special values of [`Control::joiner`]; no control block has these addresses.
pub(crate) const FINISHED: *mut Control = ptr::without_provenance_mut(1);
pub(crate) const DETACHED: *mut Control = ptr::without_provenance_mut(2);

/// Size of a cache line. The last cache line of each slot holds the free list's link.
const LINE_BYTES: usize = 64;

/// Initial values of a new thread.
pub(crate) struct Birth {
    pub(crate) id: u64,
    pub(crate) runtime: u32,
    pub(crate) class: usize,
    pub(crate) priority: Priority,
    pub(crate) name: Option<Box<str>>,
}

impl Control {
    /// Offset at which the tick handler reads the limit.
    pub(crate) const LIMIT_OFFSET: usize = core::mem::offset_of!(Self, limit);

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
            worker: Cell::new(ptr::null()),
            rank: Rank::new(birth.priority),
            level: Cell::new(birth.priority),
            state: AtomicU8::new(State::New as u8),
            wait: Cell::new(Wait::Suspended),
            class,
            limit: Cell::new(0),
            locks: Cell::new(0),
            runtime: birth.runtime,
            ceilings: Tally::new(),
            heirs: Tally::new(),
            blocked_on: Cell::new(ptr::null()),
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

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name, or the number, for messages.
    #[inline]
    pub(crate) fn label(&self) -> Label<'_> {
        Label(self)
    }

    #[inline]
    fn slot(&self) -> NonNull<u8> {
        let block = NonNull::from(self).cast::<u8>();
        // SAFETY: the block is in the last 4 KiB of its slot, whose size is that of the class.
        unsafe {
            let end = block.map_addr(|address| address | 0xfff).add(1);
            end.sub(class_bytes(self.class as usize))
        }
    }

    /// Lowest address of the stack, just above the guard page.
    #[inline]
    pub(crate) fn stack_bottom(&self) -> usize {
        self.slot().addr().get() + crate::stack::page_size()
    }

    /// Address range of the guard page, and the size of the slot in bytes.
    pub(crate) fn guard_page(&self) -> (core::ops::Range<usize>, usize) {
        let slot = self.slot().addr().get();
        (slot..self.stack_bottom(), class_bytes(self.class as usize))
    }

    /// Adds a reference to the block.
    pub(crate) fn retain(&self) {
        self.references.fetch_add(1, Ordering::Relaxed);
    }

    /// Releases a reference; the last one frees the slot.
    ///
    /// # Safety
    /// The caller must own a reference and not use the block again. Only the thread itself may run
    /// on its slot until it switches away, with preemption disabled.
    #[inline]
    pub(crate) unsafe fn release(this: NonNull<Self>) {
        // SAFETY: the caller's reference keeps it alive.
        let references = unsafe { &this.as_ref().references };
        // The only holder needs no locked instruction: no other can change the count.
        if references.load(Ordering::Acquire) != 1 {
            if references.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            fence(Ordering::Acquire);
        }
        // SAFETY: this was the last reference.
        unsafe {
            let class = this.as_ref().class as usize;
            let slot = this.as_ref().slot();
            enter();
            this.as_ref().set_state(State::Free);
            drop((*this.as_ptr()).name.take());
            match current_worker() {
                Some(worker) => worker.stacks.put(class, slot),
                None => POOL.put(class, slot),
            }
            leave();
        }
    }
}

impl Linked for Control {
    #[inline]
    fn links(&self) -> &Links<Self> {
        &self.links
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
