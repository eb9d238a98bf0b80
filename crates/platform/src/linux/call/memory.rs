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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_can_be_had_again_and_again_but_not_all_there_is() {
        for _ in 0..100 {
            malloc_free(4).unwrap();
            map_unmap(4096).unwrap();
        }
        malloc_free(usize::MAX).unwrap_err();
        map_unmap(usize::MAX).unwrap_err();
        map_unmap(0).unwrap_err();
    }
}
