//! The record of each thread of C, and handles of them.
//!
//! A handle is the place of a record with the number of times that the place was used before. So a handle
//! of a thread that is gone is found by a comparison, and its memory is never read: records are used again, but
//! never freed.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};

use uthread::{Exceptions, JoinHandle, Thread, no_preempt, own_value, set_own_value};

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

/// `uthread_t`. A pointer to it is a handle: there is nothing at that address.
#[repr(C)]
pub struct CThread {
    _nothing: [u8; 0],
}

/// All that this library knows of a thread.
#[derive(Default)]
pub(crate) struct Record {
    place: u32,
    state: Mutex<State>,
    /// Number of times that the thread holds termination off. Only it uses this.
    pub(crate) held_off: AtomicU32,
}

#[derive(Default)]
pub(crate) struct State {
    /// Counts the threads whose record this was.
    generation: u32,
    /// The thread itself, and C as long as it has not joined or detached it.
    owners: u32,
    pub(crate) handle: Option<JoinHandle<Result<Pointer, Errno>>>,
    pub(crate) thread: Option<Thread>,
    pub(crate) termination: Termination,
}

const FIRST_CHUNK: u32 = 64;

/// Records, in chunks of which each has twice as many as the one before.
static CHUNKS: [OnceLock<Box<[Record]>>; 25] = [const { OnceLock::new() }; 25];

/// Places of records that nobody owns, and the number of all places.
static FREE: Mutex<(Vec<u32>, u32)> = Mutex::new((Vec::new(), 0));

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
    /// # Safety
    /// Same as [`leave_to_parent`].
    unsafe fn renew<T>(mutex: &Mutex<T>, new: T) {
        if matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)) {
            // SAFETY: a mutex is a cell, and the caller's contract.
            unsafe { ptr::from_ref(mutex).cast_mut().write(Mutex::new(new)) };
        }
    }
    let made = || CHUNKS.iter().map_while(OnceLock::get);
    // The next chunk may be half made.
    let places = (FIRST_CHUNK << (made().count() + 1)) - FIRST_CHUNK;
    // SAFETY: the caller's contract.
    unsafe {
        renew(&FREE, (Vec::new(), places));
        made()
            .flatten()
            .for_each(|record| renew(&record.state, State::default()));
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
        let record = |at| Record {
            place: first + at,
            ..Record::default()
        };
        (0..FIRST_CHUNK << chunk).map(record).collect()
    };
    &CHUNKS[chunk].get_or_init(make)[at]
}

/// A share in a record. The record is used again when the last share has gone.
pub(crate) struct Share(&'static Record);

impl Share {
    /// Shares in a record for a thread.
    pub(crate) fn new<const N: usize>(termination: Termination) -> [Self; N] {
        let _guard = no_preempt();
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let place = free.0.pop().unwrap_or_else(|| {
            free.1 += 1;
            free.1 - 1
        });
        let record = make_record(place);
        drop(free);
        record.held_off.store(0, Ordering::Relaxed);
        record.with(|state| {
            state.owners = N as u32;
            state.generation = state.generation.wrapping_add(1);
            state.termination = termination;
        });
        [(); N].map(|()| Self(record))
    }

    pub(crate) fn record(&self) -> &'static Record {
        self.0
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Never null: no place has this number.
fn handle(place: u32, generation: u32) -> *const CThread {
    let number = u64::from(generation) << 32 | u64::from(place + 1);
    ptr::without_provenance(number as usize)
}

impl Record {
    /// Works with what only one thread at a time may use.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> R {
        let _guard = no_preempt();
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The handle of the running thread, whose record this is.
    pub(crate) fn handle(&self) -> *const CThread {
        self.with(|state| {
            state.thread.get_or_insert_with(uthread::current);
            handle(self.place, state.generation)
        })
    }

    fn release(&self) {
        let last = self.with(|state| {
            // A record that began anew in the child of a fork has none.
            state.owners = state.owners.saturating_sub(1);
            let is_last = state.owners == 0;
            is_last.then(|| {
                // No handle is good any more, also before the next thread has this record.
                state.generation = state.generation.wrapping_add(1);
                (state.handle.take(), state.thread.take())
            })
        });
        if last.is_some() {
            drop(last);
            let _guard = no_preempt();
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.0.push(self.place);
        }
    }
}

/// Works with the record behind a handle.
///
/// # Errors
/// `EINVAL` for a null pointer, and `ESRCH` if the thread is gone, or stayed in the parent of a fork.
pub(crate) fn with<R>(
    thread: *const CThread,
    work: impl FnOnce(&mut State) -> Result<R, Errno>,
) -> Result<R, Errno> {
    if thread.is_null() {
        return Err(libc::EINVAL);
    }
    let number = thread.addr() as u64;
    let (place, generation) = (number as u32, (number >> 32) as u32);
    let place = place.checked_sub(1).filter(|place| *place < u32::MAX >> 1);
    let record = place.and_then(record).ok_or(libc::ESRCH)?;
    record.with(|state| {
        let is_gone = state.thread.as_ref().is_some_and(Thread::is_gone);
        if state.generation == generation && state.owners > 0 && !is_gone {
            work(state)
        } else {
            Err(libc::ESRCH)
        }
    })
}

/// Gives C a share in the record of a thread, with the right to join it.
pub(crate) fn lend(share: Share, joins: JoinHandle<Result<Pointer, Errno>>) -> *const CThread {
    let record = share.record();
    core::mem::forget(share);
    record.with(|state| {
        state.thread = Some(joins.thread());
        state.handle = Some(joins);
        handle(record.place, state.generation)
    })
}

/// Takes the share back that C had.
pub(crate) fn give_back(thread: *const CThread) {
    let place = thread.addr() as u32 - 1;
    if let Some(record) = record(place) {
        record.release();
    }
}

/// Gives the running thread its share in its record, which ends after its thread-local values.
pub(crate) fn keep(share: Share) {
    unsafe fn end(record: NonNull<()>) {
        // SAFETY: `keep` has given it, and records are never freed.
        drop(Share(unsafe { record.cast::<Record>().as_ref() }));
    }
    let record = NonNull::from(share.record()).cast();
    core::mem::forget(share);
    // SAFETY: the function takes a record.
    unsafe { set_own_value(record, end) };
}

/// Works with the record of the running thread, if it has one.
pub(crate) fn with_own<R>(work: impl FnOnce(&'static Record) -> R) -> Option<R> {
    // SAFETY: only `keep` gives threads a value, and records are never freed.
    own_value().map(|record| work(unsafe { record.cast::<Record>().as_ref() }))
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
    use super::{
        CThread, FIRST_CHUNK, FREE, Record, Share, Termination, handle, leave_to_parent, position,
        with,
    };
    use std::sync::mpsc::channel;

    fn handle_of(record: &Record) -> *const CThread {
        record.with(|state| handle(record.place, state.generation))
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
        let [share] = Share::new(Termination::Possible);
        let record = share.record();
        let used = handle_of(record);
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
            let [next] = Share::new(Termination::Possible);
            let works = with(handle_of(next.record()), |_| Ok(1)) == Ok(1);
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
        let [share, other] = Share::new(Termination::Possible);
        let handle = handle_of(share.record());
        assert_eq!(with(handle, |_| Ok(1)), Ok(1));
        drop(share);
        assert_eq!(with(handle, |_| Ok(1)), Ok(1));
        drop(other);
        assert_eq!(with(handle, |_| Ok(1)), Err(libc::ESRCH));
        let [next] = Share::new(Termination::Possible);
        assert_eq!(with(handle, |_| Ok(1)), Err(libc::ESRCH));
        assert_eq!(with(handle_of(next.record()), |_| Ok(1)), Ok(1));
        let nowhere = core::ptr::without_provenance(usize::MAX);
        assert_eq!(with(nowhere, |_| Ok(1)), Err(libc::ESRCH));
        assert_eq!(with(core::ptr::null(), |_| Ok(1)), Err(libc::EINVAL));
    }
}
