//! The record of each thread of C, and handles of them.
//!
//! A handle is the place of a record with the number of times that the place was used before. So a handle
//! of a thread that is gone is found by a comparison, and its memory is never read: records are used again, but
//! never freed.

use core::cell::{Cell, RefCell, UnsafeCell};
use core::ffi::c_void;
use core::hint::spin_loop;
use core::mem::{self, ManuallyDrop};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use uthread::{Exceptions, JoinHandle, Thread, no_preempt, own_value, set_own_value};

use crate::error::{Errno, errno_of};

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

/// `uthread_t`. A pointer to it is a handle: there is nothing at that address.
#[repr(C)]
pub struct CThread {
    _nothing: [u8; 0],
}

/// The right to join a thread, which leaves its share in its record.
pub(crate) type Handle = JoinHandle<Share>;

/// All that this library knows of a thread.
pub(crate) struct Record {
    place: u32,
    /// The generation, a multiple of [`NEXT`], and [`LOCKED`]. A generation begins when a thread takes or leaves the record:
    /// odd ones are those of threads.
    word: AtomicU64,
    state: UnsafeCell<State>,
    /// What the thread left: a value, or an error number that is not 0. Only the thread writes it, and the one that has
    /// joined it reads it.
    left: Cell<(*mut c_void, Errno)>,
    /// Number of times that the thread holds termination off. Only it uses this.
    pub(crate) held_off: AtomicU32,
}

// SAFETY: only one thread at a time uses the state: the one that has locked the record, or that makes it for the next
// thread, while nobody has a handle of it. What was left is read after the end of the thread that wrote it.
unsafe impl Sync for Record {}
// SAFETY: as above; the program answers for the pointer.
unsafe impl Send for Record {}

const LOCKED: u64 = 1;
const NEXT: u64 = 1 << 32;

fn generation_of(word: u64) -> u64 {
    word & !(NEXT - 1)
}

fn is_of_thread(generation: u64) -> bool {
    generation & NEXT != 0
}

#[derive(Default)]
pub(crate) struct State {
    thread: Known,
    pub(crate) termination: Termination,
}

/// What leads to the thread.
#[derive(Default)]
enum Known {
    #[default]
    Nothing,
    /// A thread of `uthread_create`. If it `is_taken`, the handle is a copy. The record is free before the thread's
    /// control block is, so the copy is good as long as this is here.
    Created {
        handle: ManuallyDrop<Handle>,
        is_taken: bool,
    },
    Other(Thread),
}

impl State {
    pub(crate) fn thread(&self) -> Result<Thread, Errno> {
        match &self.thread {
            Known::Nothing => Err(libc::ESRCH),
            Known::Created { handle, .. } => Ok(handle.thread()),
            Known::Other(thread) => Ok(thread.clone()),
        }
    }

    /// True if no thread of this process has the record.
    fn is_gone(&self) -> bool {
        match &self.thread {
            Known::Nothing => true,
            Known::Created { handle, .. } => handle.is_gone(),
            Known::Other(thread) => thread.is_gone(),
        }
    }
}

const FIRST_CHUNK: u32 = 64;

/// Records, in chunks of which each has twice as many as the one before.
static CHUNKS: [OnceLock<Box<[Record]>>; 25] = [const { OnceLock::new() }; 25];

/// Records that no thread has, and the number of all places.
type Free = (Vec<&'static Record>, u32);

static FREE: Mutex<Free> = Mutex::new((Vec::new(), 0));

fn free_records() -> MutexGuard<'static, Free> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Free records that a kernel thread keeps for its next threads.
struct Kept(RefCell<Vec<&'static Record>>);

const MOST_KEPT: usize = 64;

thread_local! {
    static KEPT: Kept = const { Kept(RefCell::new(Vec::new())) };
}

impl Drop for Kept {
    fn drop(&mut self) {
        free_records().0.append(self.0.get_mut());
    }
}

/// A record that no thread has; preemption must be disabled.
fn take_free() -> &'static Record {
    let kept = KEPT.try_with(|kept| kept.0.borrow_mut().pop());
    kept.ok().flatten().unwrap_or_else(|| {
        let mut free = free_records();
        free.0.pop().unwrap_or_else(|| {
            free.1 += 1;
            make_record(free.1 - 1)
        })
    })
}

/// Preemption must be disabled.
fn put_free(record: &'static Record) {
    let keep = |kept: &Kept| {
        let mut kept = kept.0.borrow_mut();
        let has_room = kept.len() < MOST_KEPT;
        if has_room {
            kept.push(record);
        }
        has_room
    };
    if KEPT.try_with(keep) != Ok(true) {
        free_records().0.push(record);
    }
}

/// Chunk of a place, and its position there.
fn position(place: u32) -> (usize, usize) {
    let from_first = place + FIRST_CHUNK;
    let chunk = from_first.ilog2() - FIRST_CHUNK.ilog2();
    (
        chunk as usize,
        (from_first - (FIRST_CHUNK << chunk)) as usize,
    )
}

/// In the child of a fork, begins anew what another kernel thread was using.
///
/// # Safety
/// The process must have one kernel thread, which uses nothing of this.
pub(crate) unsafe fn leave_to_parent() {
    let made = || CHUNKS.iter().map_while(OnceLock::get);
    // The next chunk may be half made.
    let places = (FIRST_CHUNK << (made().count() + 1)) - FIRST_CHUNK;
    if matches!(FREE.try_lock(), Err(TryLockError::WouldBlock)) {
        let new = Mutex::new((Vec::new(), places));
        // SAFETY: a mutex is a cell, and the caller's contract.
        unsafe { (&raw const FREE).cast_mut().write(new) };
    }
    for record in made().flatten() {
        let word = record.word.load(Ordering::Relaxed);
        if word & LOCKED != 0 {
            // SAFETY: the caller's contract. The old state may be half changed, so it is not dropped.
            unsafe { record.state.get().write(State::default()) };
            let next = generation_of(word).wrapping_add(NEXT);
            record.word.store(next, Ordering::Relaxed);
        }
    }
}

fn record(place: u32) -> Option<&'static Record> {
    let (chunk, at) = position(place);
    CHUNKS.get(chunk)?.get()?.get(at)
}

fn make_record(place: u32) -> &'static Record {
    let (chunk, at) = position(place);
    let make = || {
        let first = place - at as u32;
        let record = |at| Record::new(first + at);
        (0..FIRST_CHUNK << chunk).map(record).collect()
    };
    &CHUNKS[chunk].get_or_init(make)[at]
}

/// A thread's share in its record, which is free when this is dropped.
pub(crate) struct Share(&'static Record);

impl Share {
    /// Takes a record, of which nobody has a handle before it is published.
    pub(crate) fn new() -> Self {
        let _guard = no_preempt();
        Self(take_free())
    }

    /// The share of the running thread, which leaves what `work` returns.
    ///
    /// # Safety
    /// It must be a thread that was [lent](lend) to C, and keep the share to its end.
    pub(crate) unsafe fn of_running(work: impl FnOnce() -> Result<Pointer, Errno>) -> Self {
        let share = Self(own().expect("a thread lent to C has a record"));
        share.0.left.set(match work() {
            Ok(pointer) => (pointer.0, 0),
            Err(errno) => (ptr::null_mut(), errno),
        });
        share
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Never null: no place has this number.
fn handle(place: u32, generation: u64) -> *const CThread {
    let number = generation | u64::from(place + 1);
    ptr::without_provenance(number as usize)
}

/// The state of a record that is locked until this is dropped.
struct Locked<'a> {
    record: &'a Record,
    /// The generation that begins then, or goes on.
    generation: u64,
}

impl Locked<'_> {
    fn has_thread(&self) -> bool {
        is_of_thread(self.generation)
    }

    fn state(&mut self) -> &mut State {
        // SAFETY: the record is locked, and nobody else unlocks it.
        unsafe { &mut *self.record.state.get() }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.record.word.store(self.generation, Ordering::Release);
    }
}

impl Record {
    fn new(place: u32) -> Self {
        Self {
            place,
            word: AtomicU64::new(0),
            state: UnsafeCell::default(),
            left: Cell::new((ptr::null_mut(), 0)),
            held_off: AtomicU32::new(0),
        }
    }

    /// What the thread has left, which has ended.
    fn left(&self) -> Result<Pointer, Errno> {
        let (pointer, errno) = self.left.get();
        if errno == 0 {
            Ok(Pointer(pointer))
        } else {
            Err(errno)
        }
    }

    /// Locks the state; `None` if the record is of another generation. Preemption must be disabled.
    #[inline]
    fn lock(&self, generation: u64) -> Option<Locked<'_>> {
        const SPINS: u32 = 100;
        let (locked, order) = (generation | LOCKED, Ordering::Acquire);
        for spins in 0.. {
            match (self.word).compare_exchange_weak(generation, locked, order, Ordering::Relaxed) {
                Ok(_) => break,
                Err(word) if word & !LOCKED != generation => return None,
                Err(_) if spins < SPINS => spin_loop(),
                Err(_) => std::thread::yield_now(),
            }
        }
        Some(Locked {
            record: self,
            generation,
        })
    }

    /// Works with the state in a generation of a thread.
    fn with_generation<R>(
        &self,
        generation: u64,
        work: impl FnOnce(&mut State) -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        let _guard = no_preempt();
        let mut locked = self.lock(generation).ok_or(libc::ESRCH)?;
        let state = locked.state();
        if state.is_gone() {
            Err(libc::ESRCH)
        } else {
            work(state)
        }
    }

    fn generation(&self) -> u64 {
        generation_of(self.word.load(Ordering::Relaxed))
    }

    /// Works with what only one thread at a time may use. The record must be that of the running thread.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> R {
        let _guard = no_preempt();
        let locked = self.lock(self.generation());
        work(locked.expect("a living thread keeps its record").state())
    }

    /// The handle of the running thread, whose record this is.
    pub(crate) fn handle(&self) -> *const CThread {
        handle(self.place, self.generation())
    }

    /// Begins the generation of a thread, and returns its handle. The caller has taken the record, and nobody else knows
    /// of it.
    fn publish(&self, thread: Known, termination: Termination) -> *const CThread {
        let generation = self.generation().wrapping_add(NEXT);
        let state = State {
            thread,
            termination,
        };
        self.held_off.store(0, Ordering::Relaxed);
        // SAFETY: no handle of this generation exists, so nobody can lock the record.
        unsafe { *self.state.get() = state };
        self.word.store(generation, Ordering::Release);
        handle(self.place, generation)
    }

    /// Makes the record free. Only the share of its thread may do so, or who has the right to join the thread in place of
    /// the share.
    fn release(&'static self) {
        let _guard = no_preempt();
        // Otherwise it was never published.
        if let Some(mut locked) = self.lock(self.generation()).filter(Locked::has_thread) {
            // No handle is good any more, also before the next thread has this record.
            locked.generation = locked.generation.wrapping_add(NEXT);
            locked.state().thread = Known::Nothing;
        }
        put_free(self);
    }
}

/// The record of a handle, and the generation.
fn find(thread: *const CThread) -> Result<(&'static Record, u64), Errno> {
    if thread.is_null() {
        return Err(libc::EINVAL);
    }
    let number = thread.addr() as u64;
    let (place, generation) = (number as u32, generation_of(number));
    let place = place.checked_sub(1).filter(|place| *place < u32::MAX >> 1);
    let record = place.filter(|_| is_of_thread(generation)).and_then(record);
    Ok((record.ok_or(libc::ESRCH)?, generation))
}

/// Works with the record behind a handle.
///
/// # Errors
/// `EINVAL` for a null pointer, and `ESRCH` if the thread is gone, or stayed in the parent of a fork.
pub(crate) fn with<R>(
    thread: *const CThread,
    work: impl FnOnce(&mut State) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let (record, generation) = find(thread)?;
    record.with_generation(generation, work)
}

/// The right to join a thread, which C gets back when this is dropped.
pub(crate) struct Joining {
    record: &'static Record,
    handle: ManuallyDrop<Handle>,
}

/// Takes the right to join a thread.
///
/// # Errors
/// Those of [`with`], and `EINVAL` if nobody may join the thread, or somebody joins it.
pub(crate) fn take(thread: *const CThread) -> Result<Joining, Errno> {
    let (record, generation) = find(thread)?;
    let handle = record.with_generation(generation, |state| match &mut state.thread {
        Known::Created { handle, is_taken } if !*is_taken => {
            *is_taken = true;
            // SAFETY: from here on, the other one is a copy.
            Ok(unsafe { ptr::read(handle) })
        }
        _ => Err(libc::EINVAL),
    });
    handle.map(|handle| Joining { record, handle })
}

impl Joining {
    pub(crate) fn handle(&mut self) -> &mut Handle {
        &mut self.handle
    }

    /// What the thread has left, which has ended. Nobody has it any more.
    ///
    /// # Errors
    /// The misuse that ended the thread, or `ESRCH` if it stayed in the parent of a fork.
    pub(crate) fn left(self) -> Result<Pointer, Errno> {
        let left = self.record.left();
        self.record.release();
        match self.into_handle().join() {
            Ok(share) => {
                // The record is free by now, and may be that of another thread.
                mem::forget(share);
                left
            }
            Err(payload) => Err(errno_of(&*payload)),
        }
    }

    /// Lets the thread end without anybody who joins it.
    pub(crate) fn detach(self) {
        drop(self.into_handle());
    }

    fn into_handle(self) -> Handle {
        let mut joining = ManuallyDrop::new(self);
        // SAFETY: it is taken once, since nothing is dropped here.
        unsafe { ManuallyDrop::take(&mut joining.handle) }
    }
}

impl Drop for Joining {
    fn drop(&mut self) {
        // In the child of a fork, the thread may be gone.
        let generation = self.record.generation();
        let _ = self.record.with_generation(generation, |state| {
            if let Known::Created { is_taken, .. } = &mut state.thread {
                *is_taken = false;
            }
            Ok(())
        });
    }
}

/// Lends C a thread that has not begun, with the right to join it. Preemption must be disabled since its start.
pub(crate) fn lend(joins: Handle) -> *const CThread {
    unsafe fn nothing(_: NonNull<()>) {}
    let record = take_free();
    // SAFETY: the function takes anything.
    unsafe { joins.set_own_value(NonNull::from(record).cast(), nothing) };
    let known = Known::Created {
        handle: ManuallyDrop::new(joins),
        is_taken: false,
    };
    record.publish(known, Termination::Possible)
}

/// Gives the running thread a record, which is free after its thread-local values have ended.
pub(crate) fn adopt() -> &'static Record {
    unsafe fn end(record: NonNull<()>) {
        // SAFETY: `adopt` has given it, and records are never freed.
        let record = unsafe { record.cast::<Record>().as_ref() };
        record.release();
    }
    let record = ManuallyDrop::new(Share::new()).0;
    record.publish(Known::Other(uthread::current()), Termination::Impossible);
    // SAFETY: the function takes a record.
    unsafe { set_own_value(NonNull::from(record).cast(), end) };
    record
}

/// The record of the running thread, if it has one.
pub(crate) fn own() -> Option<&'static Record> {
    // SAFETY: only `lend` and `adopt` give threads a value, and records are never freed.
    own_value().map(|record| unsafe { record.cast::<Record>().as_ref() })
}

/// True for a handle of the running thread.
pub(crate) fn is_own(thread: *const CThread) -> bool {
    own().is_some_and(|own| own.handle() == thread)
}

/// Works with the record of the running thread, if it has one.
pub(crate) fn with_own<R>(work: impl FnOnce(&'static Record) -> R) -> Option<R> {
    own().map(work)
}

/// True if the running thread, whose wait was cancelled, is to unwind to its end now.
#[cold]
pub(crate) fn obeys_terminate() -> bool {
    let obeys = |own: &Record| {
        own.with(|state| {
            let held_off = own.held_off.load(Ordering::Relaxed) > 0;
            if state.termination != Termination::Requested || held_off {
                return false;
            }
            if Exceptions::in_flight() {
                // In a destructor, which must not throw. The next wait asks again.
                uthread::current().cancel();
                return false;
            }
            state.termination = Termination::Obeyed;
            // Another request may have ended the wait.
            let _ = uthread::take_cancel();
            true
        })
    };
    with_own(obeys).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::{FIRST_CHUNK, FREE, Known, Share, Termination, leave_to_parent, position, with};
    use std::sync::mpsc::channel;
    use std::sync::{Mutex, PoisonError};
    use uthread::Thread;

    /// Held by each test that takes records: one test must not take those that another has freed.
    static TAKING: Mutex<()> = Mutex::new(());

    fn publish(share: &Share, thread: &Thread) -> *const super::CThread {
        share
            .0
            .publish(Known::Other(thread.clone()), Termination::Possible)
    }

    #[test]
    fn places_fill_one_chunk_after_the_other() {
        assert_eq!(position(0), (0, 0));
        assert_eq!(position(FIRST_CHUNK - 1), (0, 63));
        assert_eq!(position(FIRST_CHUNK), (1, 0));
        assert_eq!(position(3 * FIRST_CHUNK - 1), (1, 127));
        assert_eq!(position(3 * FIRST_CHUNK), (2, 0));
    }

    #[test]
    fn records_that_other_kernel_threads_use_are_free_in_the_child() {
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let thread = uthread::run(uthread::current);
        let share = Share::new();
        let used = publish(&share, &thread);
        let record = share.0;
        let (held, is_held) = channel();
        let (free, is_free) = channel::<()>();
        let holder = std::thread::spawn(move || {
            let _free = FREE.lock().expect("no poison");
            record.with(|_| {
                let _ = held.send(());
                // Returns when the other end is dropped.
                let _ = is_free.recv();
            });
        });
        is_held.recv().expect("nobody else holds them");
        // SAFETY: the child uses only what a fork leaves in a defined state.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: the default action of the signal ends the process, which has one kernel thread.
            unsafe {
                libc::alarm(60);
                leave_to_parent();
            }
            let next = Share::new();
            let works = with(publish(&next, &thread), |_| Ok(1)) == Ok(1);
            let is_gone = with(used, |_| Ok(1)) == Err(libc::ESRCH);
            drop((share, next));
            // SAFETY: it ends the process, and runs no destructors.
            unsafe { libc::_exit(i32::from(!(works && is_gone))) };
        }
        let mut status = 1;
        // SAFETY: the pointer is to a local.
        let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
        drop(free);
        holder.join().expect("it only waits");
        assert_eq!((ended, status), (child, 0));
    }

    #[test]
    fn a_handle_is_good_for_one_thread() {
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let thread = uthread::run(uthread::current);
        let share = Share::new();
        let handle = publish(&share, &thread);
        assert_eq!(with(handle, |_| Ok(1)), Ok(1));
        drop(share);
        assert_eq!(with(handle, |_| Ok(1)), Err(libc::ESRCH));
        let next = Share::new();
        assert_eq!(with(handle, |_| Ok(1)), Err(libc::ESRCH));
        assert_eq!(with(publish(&next, &thread), |_| Ok(1)), Ok(1));
        let nowhere = core::ptr::without_provenance(usize::MAX);
        assert_eq!(with(nowhere, |_| Ok(1)), Err(libc::ESRCH));
        assert_eq!(with(core::ptr::null(), |_| Ok(1)), Err(libc::EINVAL));
    }

    #[test]
    fn places_that_a_kernel_thread_kept_are_free_after_its_end() {
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let take = || [(); 3].map(|()| Share::new());
        let places = std::thread::spawn(move || take().map(|share| share.0.place));
        let places = places.join().expect("it takes records");
        let again: Vec<_> = (0..1000).map(|_| Share::new()).collect();
        assert!(
            places
                .iter()
                .all(|place| again.iter().any(|share| share.0.place == *place))
        );
    }
}
