//! One mapping that holds many stacks.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::error::MapError;
use super::{system, valgrind};

/// The newest slab, for debuggers: they follow the links to all others.
pub(crate) static SLABS: AtomicPtr<Extent> = AtomicPtr::new(ptr::null_mut());

/// The part of a slab that debuggers read.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Extent {
    older: *const Self,
    start: *mut u8,
    slot_bytes: usize,
    carved: AtomicUsize,
}

// SAFETY: only debuggers follow the link, and it stays as it is.
unsafe impl Sync for Extent {}

/// Address space for `slots` stacks. It is never unmapped: thread handles may outlive every
/// runtime.
#[derive(Debug)]
pub(super) struct Slab {
    start: NonNull<u8>,
    slots: usize,
    extent: &'static Extent,
}

// SAFETY: a slab is only an address range; its owner may use it from any kernel thread.
unsafe impl Send for Slab {}

impl Slab {
    /// Takes address space from the system. The pool, which maps all slabs, is locked.
    pub(super) fn map(slot_bytes: usize, slots: usize) -> Result<Self, MapError> {
        let start = system::map(slot_bytes * slots)?;
        valgrind::look();
        // Control blocks find their slots by their own addresses.
        start.as_ptr().expose_provenance();
        let extent: &_ = Box::leak(Box::new(Extent {
            older: SLABS.load(Ordering::Relaxed),
            start: start.as_ptr(),
            slot_bytes,
            carved: AtomicUsize::new(0),
        }));
        SLABS.store(ptr::from_ref(extent).cast_mut(), Ordering::Release);
        Ok(Self {
            start,
            slots,
            extent,
        })
    }

    fn carved_slots(&self) -> usize {
        self.extent.carved.load(Ordering::Relaxed)
    }

    /// Cuts off the next slot and protects its lowest part.
    pub(super) fn carve(&mut self) -> Option<Result<NonNull<u8>, MapError>> {
        let (carved, slot_bytes) = (self.carved_slots(), self.extent.slot_bytes);
        if carved == self.slots {
            return None;
        }
        // SAFETY: `carved` is below `slots`, so the offset lies within the mapping.
        let slot = unsafe { self.start.add(carved * slot_bytes) };
        // SAFETY: the slot lies within the mapping, and nobody uses it yet.
        let prepared = unsafe { system::prepare(slot, slot_bytes) };
        Some(prepared.map(|()| {
            self.extent.carved.store(carved + 1, Ordering::Relaxed);
            // SAFETY: the slot lies within the mapping, and its guard within the slot.
            valgrind::register(unsafe {
                slot.add(system::guard_bytes()).as_ptr()..slot.add(slot_bytes).as_ptr()
            });
            slot
        }))
    }

    /// The slots that are or were in use.
    pub(super) fn carved(&self) -> impl Iterator<Item = NonNull<u8>> + '_ {
        // SAFETY: below `slots`, as above.
        (0..self.carved_slots()).map(|i| unsafe { self.start.add(i * self.extent.slot_bytes) })
    }
}
