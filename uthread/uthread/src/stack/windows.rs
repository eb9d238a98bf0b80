//! Memory for stacks from Windows: reserved in slabs, committed stack by stack.
//!
//! ```text
//! slot start  +------------------------------+
//!             | one page, reserved only      |  any access is a fault
//!             +------------------------------+
//!             | five pages, PAGE_GUARD       |  the first access is an overflow, and opens them all:
//!             +------------------------------+  they are the handler's room to report it
//!             | the stack, committed whole   |
//! ```
//!
//! A stack is committed whole, though Windows could let it grow: a thread that reuses a slot would have to
//! know how far the one before had let it grow, and a page that cannot be committed in the middle of a
//! function ends the process, while a stack that cannot be committed is an error of its `spawn`. Pages
//! that nobody has touched take no memory, but they count against the system's commit limit.

use core::ptr::{self, NonNull};
use std::io;

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, MEM_RESET, PAGE_GUARD, PAGE_NOACCESS,
    PAGE_PROTECTION_FLAGS, PAGE_READWRITE, VIRTUAL_ALLOCATION_TYPE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::Threading::GetCurrentThreadStackLimits;

use super::error::MapError;

/// Smallest slot in bytes: its guard takes more than a third.
pub(super) const SMALLEST_BYTES: usize = 64 << 10;

/// Room in a slot besides the stack that a thread asks for, in bytes: the guard is large, and a panic on
/// Windows takes some 10 KiB of stack.
pub(super) const EXTRA_BYTES: usize = guard_bytes();

/// Address space of a slot besides the smallest slot times a power of two.
pub(super) const APART_BYTES: usize = 0;

/// Size of a page on every processor but the Itanium.
const PAGE_BYTES: usize = 4096;

/// Stack that the report of an overflow may take, as the standard library asks for its own
/// (`SetThreadStackGuarantee`).
pub(crate) const REPORT_BYTES: usize = 5 * PAGE_BYTES;

/// Size of the guard below each stack in bytes.
#[inline]
pub(crate) const fn guard_bytes() -> usize {
    PAGE_BYTES + REPORT_BYTES
}

/// Reserves address space, without memory.
pub(super) fn map(bytes: usize) -> Result<NonNull<u8>, MapError> {
    // SAFETY: a new range at an address that the system chooses.
    let start = unsafe { allocate(ptr::null_mut(), bytes, MEM_RESERVE, PAGE_NOACCESS) };
    start.map_err(|source| MapError::Map { bytes, source })
}

/// Gives back what [`map`] reserved.
///
/// # Safety
/// Nothing may use the range any more.
pub(super) unsafe fn unmap(start: NonNull<u8>, _bytes: usize) {
    // SAFETY: the caller's contract; zero means the whole reservation.
    unsafe { VirtualFree(start.as_ptr().cast(), 0, MEM_RELEASE) };
}

/// Makes a reserved range a stack: commits it above its guard.
///
/// # Safety
/// The range must be reserved, page-aligned, and used by no thread yet.
pub(super) unsafe fn prepare(slot: NonNull<u8>, slot_bytes: usize) -> Result<(), MapError> {
    let bytes = slot_bytes - guard_bytes();
    // SAFETY: both ranges are parts of the caller's.
    unsafe {
        let guard = slot.add(PAGE_BYTES).as_ptr();
        allocate(guard, REPORT_BYTES, MEM_COMMIT, PAGE_READWRITE | PAGE_GUARD)
            .map_err(|source| MapError::Guard { source })?;
        let stack = slot.add(guard_bytes()).as_ptr();
        allocate(stack, bytes, MEM_COMMIT, PAGE_READWRITE)
            .map_err(|source| MapError::Map { bytes, source })?;
    }
    Ok(())
}

/// Tells that the contents of a stack are not needed, so that its memory goes when others need some. It stays
/// committed: taking it back later cannot fail.
///
/// # Safety
/// `range` must be page-aligned, part of a slot above its guard, and hold no data in use.
pub(super) unsafe fn discard(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's contract. If the call fails, the pages stay.
    unsafe { VirtualAlloc(start.cast(), bytes, MEM_RESET, PAGE_READWRITE) };
}

/// The lowest address of the kernel thread's stack above its guard.
#[expect(clippy::unnecessary_wraps, reason = "other systems may fail to tell")]
pub(crate) fn lowest_stack_address() -> io::Result<usize> {
    let (mut lowest, mut end) = (0, 0);
    // SAFETY: both pointers are to locals.
    unsafe { GetCurrentThreadStackLimits(&raw mut lowest, &raw mut end) };
    Ok(lowest + guard_bytes())
}

/// # Safety
/// A range that is given must be reserved, and used by no thread.
unsafe fn allocate(
    start: *mut u8,
    bytes: usize,
    kind: VIRTUAL_ALLOCATION_TYPE,
    access: PAGE_PROTECTION_FLAGS,
) -> io::Result<NonNull<u8>> {
    // SAFETY: the caller's contract.
    let start = unsafe { VirtualAlloc(start.cast(), bytes, kind, access) };
    NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)
}
