use std::hint::black_box;
use std::ptr;

use super::failed;
use crate::error::Result;

#[inline]
pub(crate) fn malloc_free(bytes: usize) -> Result<()> {
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

#[inline]
pub(crate) fn map_unmap(bytes: usize) -> Result<()> {
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
