//! One mapping that holds many stacks.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::io;

use super::valgrind;

/// `MADV_GUARD_INSTALL`: guard pages as marks in the page table, without mappings of their own
/// (Linux 6.13, madvise(2)).
const MADV_GUARD_INSTALL: libc::c_int = 102;

static GUARD_INSTALL_WORKS: AtomicBool = AtomicBool::new(true);

/// Reason that no stack is available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MapError {
    #[error("cannot map {bytes} bytes for stacks")]
    Map { bytes: usize, source: io::Error },
    #[error("cannot install a guard page")]
    Guard { source: io::Error },
}

/// The size of a page in bytes.
#[inline]
pub(crate) fn page_size() -> usize {
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    match SIZE.load(Ordering::Relaxed) {
        0 => {
            // SAFETY: the query takes no pointers.
            let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
            SIZE.store(size, Ordering::Relaxed);
            size
        }
        size => size,
    }
}

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
    /// Reserves address space; the kernel provides memory page by page at the first touch.
    pub(super) fn map(slot_bytes: usize, slots: usize) -> Result<Self, MapError> {
        let bytes = slot_bytes * slots;
        // SAFETY: a new anonymous mapping at an address that the kernel chooses.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(MapError::Map {
                bytes,
                source: io::Error::last_os_error(),
            });
        }
        // A huge page would use 2 MiB for the first stack that is touched. Kernels without huge
        // pages refuse the advice and do not need it.
        // SAFETY: the range was mapped above.
        unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
        valgrind::look();
        // Control blocks find their slots by their own addresses.
        start.expose_provenance();
        let start = NonNull::new(start.cast()).expect("mmap does not map at 0");
        Ok(Self {
            start,
            slot_bytes,
            slots,
            carved: 0,
        })
    }

    /// Cuts off the next slot and protects its lowest page.
    pub(super) fn carve(&mut self) -> Option<Result<NonNull<u8>, MapError>> {
        if self.carved == self.slots {
            return None;
        }
        // SAFETY: `carved` is below `slots`, so the offset lies within the mapping.
        let slot = unsafe { self.start.add(self.carved * self.slot_bytes) };
        Some(install_guard(slot).map(|()| {
            self.carved += 1;
            // SAFETY: the slot lies within the mapping, and its guard page within the slot.
            valgrind::register(unsafe {
                slot.add(page_size()).as_ptr()..slot.add(self.slot_bytes).as_ptr()
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

fn install_guard(slot: NonNull<u8>) -> Result<(), MapError> {
    let page = slot.as_ptr().cast();
    if GUARD_INSTALL_WORKS.load(Ordering::Relaxed) {
        // SAFETY: the lowest page of a slot that no thread uses yet.
        if unsafe { libc::madvise(page, page_size(), MADV_GUARD_INSTALL) } == 0 {
            return Ok(());
        }
        GUARD_INSTALL_WORKS.store(false, Ordering::Relaxed);
    }
    // SAFETY: as above.
    if unsafe { libc::mprotect(page, page_size(), libc::PROT_NONE) } == 0 {
        return Ok(());
    }
    Err(MapError::Guard {
        source: io::Error::last_os_error(),
    })
}

/// Returns the memory of a stack to the system. Its guard page and address remain.
///
/// # Safety
/// `range` must be page-aligned, part of a slot above its guard page, and hold no data in use.
pub(super) unsafe fn discard(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's contract. If the call fails, the pages stay.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_DONTNEED) };
}
