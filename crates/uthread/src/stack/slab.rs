//! One mapping that holds many stacks.

use core::ptr::NonNull;

use super::error::MapError;
use super::{system, valgrind};

/// Address space for `slots` stacks. It is never unmapped: thread handles may outlive every
/// runtime.
#[derive(Debug)]
pub(super) struct Slab {
    start: NonNull<u8>,
    slot_bytes: usize,
    slots: usize,
    carved: usize,
}

// SAFETY: a slab is only an address range; its owner may use it from any kernel thread.
unsafe impl Send for Slab {}

impl Slab {
    /// Takes address space from the system.
    pub(super) fn map(slot_bytes: usize, slots: usize) -> Result<Self, MapError> {
        let start = system::map(slot_bytes * slots)?;
        valgrind::look();
        // Control blocks find their slots by their own addresses.
        start.as_ptr().expose_provenance();
        Ok(Self {
            start,
            slot_bytes,
            slots,
            carved: 0,
        })
    }

    /// Cuts off the next slot and protects its lowest part.
    pub(super) fn carve(&mut self) -> Option<Result<NonNull<u8>, MapError>> {
        if self.carved == self.slots {
            return None;
        }
        // SAFETY: `carved` is below `slots`, so the offset lies within the mapping.
        let slot = unsafe { self.start.add(self.carved * self.slot_bytes) };
        // SAFETY: the slot lies within the mapping, and nobody uses it yet.
        let prepared = unsafe { system::prepare(slot, self.slot_bytes) };
        Some(prepared.map(|()| {
            self.carved += 1;
            // SAFETY: the slot lies within the mapping, and its guard within the slot.
            valgrind::register(unsafe {
                slot.add(system::guard_bytes()).as_ptr()..slot.add(self.slot_bytes).as_ptr()
            });
            slot
        }))
    }

    /// The slots that are or were in use.
    pub(super) fn carved(&self) -> impl Iterator<Item = NonNull<u8>> + '_ {
        // SAFETY: below `slots`, as above.
        (0..self.carved).map(|i| unsafe { self.start.add(i * self.slot_bytes) })
    }
}
