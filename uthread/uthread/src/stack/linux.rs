//! Memory for stacks from Linux: mapped at once, provided page by page at the first touch.

use core::mem;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;

use super::error::MapError;

/// Smallest slot in bytes.
pub(super) const SMALLEST_BYTES: usize = 16 << 10;

/// Room in a slot besides the stack that a thread asks for, in bytes: the guard is apart from that.
pub(super) const EXTRA_BYTES: usize = 0;

/// Address space of a slot besides the smallest slot times a power of two.
pub(super) const APART_BYTES: usize = guard_bytes();

/// `MADV_GUARD_INSTALL`: guard pages as marks in the page table, without mappings of their own
/// (Linux 6.13, madvise(2)).
const MADV_GUARD_INSTALL: libc::c_int = 102;

static GUARD_INSTALL_WORKS: AtomicBool = AtomicBool::new(true);

/// Size of the guard below each stack in bytes. C functions touch their frames in any order, so one with large
/// variables would jump over a single page. It takes no memory, and is a multiple of every page size.
#[inline]
pub(crate) const fn guard_bytes() -> usize {
    64 << 10
}

/// Maps address space; the kernel provides memory page by page at the first touch.
pub(super) fn map(bytes: usize) -> Result<NonNull<u8>, MapError> {
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
    Ok(NonNull::new(start.cast()).expect("mmap does not map at 0"))
}

/// Unmaps what [`map`] mapped.
///
/// # Safety
/// Nothing may use the range any more.
pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
}

/// Makes a mapped range a stack, by protecting its lowest part.
///
/// # Safety
/// The range must be mapped, page-aligned, and used by no thread yet.
pub(super) unsafe fn prepare(slot: NonNull<u8>, _slot_bytes: usize) -> Result<(), MapError> {
    let guard = slot.as_ptr().cast();
    if GUARD_INSTALL_WORKS.load(Ordering::Relaxed) {
        // SAFETY: the lowest part of the caller's range.
        if unsafe { libc::madvise(guard, guard_bytes(), MADV_GUARD_INSTALL) } == 0 {
            return Ok(());
        }
        GUARD_INSTALL_WORKS.store(false, Ordering::Relaxed);
    }
    // SAFETY: as above.
    if unsafe { libc::mprotect(guard, guard_bytes(), libc::PROT_NONE) } == 0 {
        return Ok(());
    }
    Err(MapError::Guard {
        source: io::Error::last_os_error(),
    })
}

/// Returns the memory of a stack to the system. Its guard and address remain.
///
/// # Safety
/// `range` must be page-aligned, part of a slot above its guard, and hold no data in use.
pub(super) unsafe fn discard(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's contract. If the call fails, the pages stay.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_DONTNEED) };
}

/// The lowest address of the kernel thread's stack above its guard page, if it has one.
pub(crate) fn lowest_stack_address() -> io::Result<usize> {
    // SAFETY: plain data, for which zeros are valid; all pointers are to locals, and the attributes
    // are destroyed once.
    unsafe {
        let mut attributes: libc::pthread_attr_t = mem::zeroed();
        let error = libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes);
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        let (mut lowest, mut bytes) = (ptr::null_mut(), 0);
        let error =
            libc::pthread_attr_getstack(&raw const attributes, &raw mut lowest, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attributes);
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok(lowest.addr() + libc::sysconf(libc::_SC_PAGESIZE) as usize)
    }
}
