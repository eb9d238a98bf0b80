use std::hint::black_box;
use std::ptr;

use super::failed;
use crate::error::Result;

/// Allocates memory from the C library and frees it: one `malloc`, one `free`. The memory is not
/// touched; small sizes come from the allocator's cache, which on Linux belongs to the thread.
///
/// # Errors
/// If there is no memory.
#[inline]
pub fn malloc_free(bytes: usize) -> Result<()> {
    // Opaque on both sides, or the compiler would remove the pair.
    // SAFETY: any size is valid.
    let memory = black_box(unsafe { libc::malloc(black_box(bytes)) });
    if memory.is_null() && bytes > 0 {
        return failed("take memory");
    }
    // SAFETY: it came from malloc above.
    unsafe { libc::free(memory) };
    Ok(())
}

/// Maps private memory and unmaps it: one `mmap` and `munmap`, or `VirtualAlloc` and `VirtualFree`. The memory is not touched, so no
/// page is allocated.
///
/// # Errors
/// If the address space is full, or `bytes` is 0.
#[inline]
pub fn map_unmap(bytes: usize) -> Result<()> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the kernel selects a free range, so no existing memory is touched.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return failed("map memory");
    }
    // SAFETY: the range was mapped above, and nothing else uses it.
    match unsafe { libc::munmap(start, bytes) } {
        0 => Ok(()),
        _ => failed("unmap memory"),
    }
}
