//! The process-wide pool of stacks, and each worker's cache of free slots.
//!
//! ```text
//!   Cache of a worker, no lock             POOL of the process, one mutex
//!   for each class:                        for each class:
//!                                 refill   +------+
//!   free --> slot --> slot --> -  <------- | warm |  free slots with memory, up to 1024
//!            at most 512                   +------+
//!                                 spill    | cold |  free slots without memory
//!                                 ------>  +------+
//!                                          | slab |  slab  slab ...  the last one has new slots
//!                                          +------+
//! ```
//!
//! 1. A thread's start takes the first slot of `free`, and its end puts the slot back there.
//! 2. If `free` is empty, a refill takes one slot from `warm`, `cold`, the last slab or a new slab,
//!    in this order, and up to 255 more from `warm`.
//! 3. If `free` has more than 512 slots, a spill moves up to 256 to `warm`. If `warm` is full, up to
//!    32 go to `cold`, and their memory goes back to the system.

use core::cell::Cell;
use core::ptr::NonNull;
#[cfg(target_os = "linux")]
use std::sync::TryLockError;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::MapError;
use super::slab::Slab;
use super::system::{APART_BYTES, EXTRA_BYTES, SMALLEST_BYTES, discard, guard_bytes};

/// Each size class is the smallest slot times a power of two, and what is apart from that.
const CLASSES: usize = 16;

/// A slab starts small and each further one is twice as large, so a million stacks need only a few
/// dozen mappings.
const FIRST_SLAB_BYTES: usize = 4 << 20;
const LARGEST_SLAB_BYTES: usize = 4 << 30;

/// Slots that move between a worker and the pool at a time.
const BATCH: usize = 256;

/// Slots of a batch that may give back their memory. Each takes a system call, and no tick takes effect
/// meanwhile.
const COLD_BATCH: usize = 32;

/// Free slots of a class that keep their memory; slots beyond this number give it back.
const WARM_SLOTS: usize = 1024;

pub(crate) static POOL: Pool = Pool(Mutex::new([const { Class::new() }; CLASSES]));

/// The largest stack, in bytes.
pub(crate) const LARGEST_BYTES: usize = (SMALLEST_BYTES << (CLASSES - 1)) - EXTRA_BYTES;

/// Smallest class whose slots hold a stack of `bytes`.
#[inline]
pub(crate) fn class_for(bytes: usize) -> Result<usize, MapError> {
    if bytes > LARGEST_BYTES {
        let most = LARGEST_BYTES;
        return Err(MapError::TooLarge { bytes, most });
    }
    let slots = (bytes + EXTRA_BYTES).div_ceil(SMALLEST_BYTES);
    Ok(slots.next_power_of_two().trailing_zeros() as usize)
}

/// Size of a slot of the class, in bytes.
#[inline]
pub(crate) const fn class_bytes(class: usize) -> usize {
    (SMALLEST_BYTES << class) + APART_BYTES
}

struct Class {
    slabs: Vec<Slab>,
    /// Free slots that have kept their memory.
    warm: Vec<NonNull<u8>>,
    /// Free slots that have given back their memory.
    cold: Vec<NonNull<u8>>,
}

// SAFETY: the pool owns the free slots, and any kernel thread may use them.
unsafe impl Send for Class {}

impl Class {
    const fn new() -> Self {
        Self {
            slabs: Vec::new(),
            warm: Vec::new(),
            cold: Vec::new(),
        }
    }

    fn take(&mut self, class: usize) -> Result<NonNull<u8>, MapError> {
        if let Some(slot) = self.warm.pop().or_else(|| self.cold.pop()) {
            return Ok(slot);
        }
        if let Some(slot) = self.slabs.last_mut().and_then(Slab::carve) {
            return slot;
        }
        let slot_bytes = class_bytes(class);
        let slab_bytes = (FIRST_SLAB_BYTES << self.slabs.len().min(16)).min(LARGEST_SLAB_BYTES);
        self.slabs
            .push(Slab::map(slot_bytes, (slab_bytes / slot_bytes).max(1))?);
        self.slabs
            .last_mut()
            .and_then(Slab::carve)
            .expect("a new slab has a slot")
    }

    fn put(&mut self, class: usize, slot: NonNull<u8>) {
        if self.warm.len() < WARM_SLOTS {
            self.warm.push(slot);
            return;
        }
        // SAFETY: a free slot; the guard stays untouched.
        unsafe {
            discard(
                slot.as_ptr().add(guard_bytes()),
                class_bytes(class) - guard_bytes(),
            );
        }
        self.cold.push(slot);
    }
}

/// All stacks of the process.
pub(crate) struct Pool(Mutex<[Class; CLASSES]>);

impl Pool {
    fn lock(&self) -> MutexGuard<'_, [Class; CLASSES]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves the slots to the parent, in the child of a fork, if another kernel thread was using the pool.
    ///
    /// # Safety
    /// Same as [`renew`](crate::renew::renew).
    #[cfg(target_os = "linux")]
    pub(crate) unsafe fn leave_to_parent(&self) {
        if matches!(self.0.try_lock(), Err(TryLockError::WouldBlock)) {
            // SAFETY: the caller's contract.
            unsafe { crate::renew::renew(&self.0, Mutex::new([const { Class::new() }; CLASSES])) };
        }
    }

    /// Returns the slot that begins at `slot`.
    pub(crate) fn put(&self, class: usize, slot: NonNull<u8>) {
        self.lock()[class].put(class, slot);
    }

    /// Calls `visit` with the end of every slot that is or was in use.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(NonNull<u8>)) {
        for (class, slots) in self.lock().iter().enumerate() {
            for slot in slots.slabs.iter().flat_map(Slab::carved) {
                // SAFETY: one past the end of the slot.
                visit(unsafe { slot.add(class_bytes(class)) });
            }
        }
    }
}

/// A worker's own free slots, in a free list through their last words, so taking one needs no lock.
pub(crate) struct Cache {
    free: [Cell<Option<NonNull<u8>>>; CLASSES],
    count: [Cell<usize>; CLASSES],
}

impl Cache {
    pub(crate) const fn new() -> Self {
        Self {
            free: [const { Cell::new(None) }; CLASSES],
            count: [const { Cell::new(0) }; CLASSES],
        }
    }

    /// Takes a slot. Returns its start address, where its guard is.
    #[inline]
    pub(crate) fn take(&self, class: usize) -> Result<NonNull<u8>, MapError> {
        match self.pop(class) {
            Some(slot) => Ok(slot),
            None => self.refill(class),
        }
    }

    #[inline]
    fn pop(&self, class: usize) -> Option<NonNull<u8>> {
        let slot = self.free[class].get()?;
        // SAFETY: the cache owns its free slots, and `push` wrote the link.
        self.free[class].set(unsafe { link(slot, class).read() });
        self.count[class].set(self.count[class].get() - 1);
        Some(slot)
    }

    #[cold]
    fn refill(&self, class: usize) -> Result<NonNull<u8>, MapError> {
        let mut classes = POOL.lock();
        let slot = classes[class].take(class)?;
        for _ in 1..BATCH {
            let Some(more) = classes[class].warm.pop() else {
                break;
            };
            // SAFETY: the slot was free, and the cache owns it from here on.
            unsafe { self.push(class, more) };
        }
        Ok(slot)
    }

    /// Returns a slot.
    ///
    /// # Safety
    /// No other thread may use the slot any more. The caller may still run on it, but must switch
    /// away before anything else is taken from this cache.
    #[inline]
    pub(crate) unsafe fn put(&self, class: usize, slot: NonNull<u8>) {
        // SAFETY: the caller's contract.
        unsafe { self.push(class, slot) };
        if self.count[class].get() > 2 * BATCH {
            self.spill(class);
        }
    }

    /// # Safety
    /// Same as [`Cache::put`].
    #[inline]
    unsafe fn push(&self, class: usize, slot: NonNull<u8>) {
        // SAFETY: the last word of a slot that the cache owns.
        unsafe { link(slot, class).write(self.free[class].replace(Some(slot))) };
        self.count[class].set(self.count[class].get() + 1);
    }

    /// Gives some slots to the pool, but keeps the newest: the caller may still run on it.
    #[cold]
    fn spill(&self, class: usize) {
        let newest = self.pop(class);
        let mut classes = POOL.lock();
        let room = WARM_SLOTS.saturating_sub(classes[class].warm.len());
        for _ in 0..BATCH.min(room.max(COLD_BATCH)) {
            if let Some(slot) = self.pop(class) {
                classes[class].put(class, slot);
            }
        }
        if let Some(newest) = newest {
            // SAFETY: taken just above.
            unsafe { self.push(class, newest) };
        }
    }

    /// Gives all slots to the pool.
    pub(crate) fn drain(&self) {
        let mut classes = POOL.lock();
        for (class, slots) in classes.iter_mut().enumerate() {
            while let Some(slot) = self.pop(class) {
                slots.put(class, slot);
            }
        }
    }
}

/// The last word of a slot, which no thread uses.
#[inline]
fn link(slot: NonNull<u8>, class: usize) -> NonNull<Option<NonNull<u8>>> {
    // SAFETY: the last word lies within the slot.
    unsafe { slot.add(class_bytes(class)).cast().sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_is_asked_for() {
        for bytes in [1, 16 << 10, (16 << 10) + 1, 64 << 10, 1 << 20] {
            let class = class_for(bytes).expect("it is small enough");
            let slot_bytes = bytes + EXTRA_BYTES + APART_BYTES;
            assert!(class_bytes(class) >= slot_bytes);
            assert!(class == 0 || class_bytes(class - 1) < slot_bytes);
        }
        assert_eq!(class_for(LARGEST_BYTES).expect("it fits"), CLASSES - 1);
        for bytes in [LARGEST_BYTES + 1, 1 << 40, usize::MAX] {
            assert!(class_for(bytes).is_err());
        }
    }

    #[test]
    fn slots_taken_are_distinct_and_come_back() {
        let cache = Cache::new();
        // More than the pool keeps warm, so that some go through each of its lists.
        let count = WARM_SLOTS + 4 * BATCH;
        let mut slots: Vec<_> = (0..count).map(|_| cache.take(2).expect("memory")).collect();
        slots.sort();
        slots.dedup();
        assert_eq!(slots.len(), count);
        let last = slots[count - 1];
        for slot in slots {
            // SAFETY: the slot was taken above and is not in use.
            unsafe { cache.put(2, slot) };
            assert!(cache.count[2].get() <= 2 * BATCH);
        }
        assert_eq!(cache.take(2).expect("memory"), last);
        // SAFETY: as above.
        unsafe { cache.put(2, last) };
        cache.drain();
    }
}
