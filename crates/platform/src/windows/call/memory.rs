use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};

use crate::error::Result;
use crate::os::errno;
use crate::os::outcome::{check, failed};

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

#[inline]
pub fn malloc_free(bytes: usize) -> Result<()> {
    // Opaque on both sides, or the compiler would remove the pair.
    // SAFETY: any size is valid.
    let memory = black_box(unsafe { malloc(black_box(bytes)) });
    if memory.is_null() && bytes > 0 {
        return Err(errno::failed("take memory"));
    }
    // SAFETY: it came from malloc above.
    unsafe { free(memory) };
    Ok(())
}

#[inline]
pub fn map_unmap(bytes: usize) -> Result<()> {
    // SAFETY: the system selects a free range, so no existing memory is touched.
    let start =
        unsafe { VirtualAlloc(ptr::null(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    if start.is_null() {
        return Err(failed("map memory"));
    }
    // SAFETY: the range was allocated above, and nothing else uses it.
    let outcome = unsafe { VirtualFree(start, 0, MEM_RELEASE) };
    check(outcome, "unmap memory")
}
