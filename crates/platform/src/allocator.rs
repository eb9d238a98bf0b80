//! Memory from `malloc`, and the library that `malloc` belongs to.

use std::arch::asm;
use std::ffi::c_void;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::path::PathBuf;
use std::ptr::NonNull;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

pub use crate::os::allocator::{library, preload};

/// The library whose `malloc` this process calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Its file.
    pub path: PathBuf,
    /// True for the C library.
    pub is_c_library: bool,
}

impl Library {
    /// The first 16 hexadecimal digits of the SHA-256 of its file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn digest(&self) -> Result<String> {
        let mut file = File::open(&self.path).map_err(Error::path("open", &self.path))?;
        let mut digest = Sha256::new();
        io::copy(&mut file, &mut digest).map_err(Error::path("read", &self.path))?;
        Ok(format!("{:.16x}", digest.finalize()))
    }
}

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Distance between the bytes of a new block that are written: no page is smaller.
const PAGE_BYTES: usize = 4096;

/// A block of memory from `malloc`. Dropping it frees it, in any thread.
#[derive(Debug)]
pub struct Block(NonNull<u8>);

// SAFETY: `free` takes the blocks of all threads, and nothing else uses the memory.
unsafe impl Send for Block {}

impl Block {
    /// Allocates `bytes` bytes, and writes one byte in each 4 KiB of them, so that they have pages.
    ///
    /// # Errors
    /// If the allocator has no memory left.
    #[inline]
    pub fn new(bytes: usize) -> Result<Self> {
        // SAFETY: any size is valid.
        let start = unsafe { malloc(black_box(bytes)) };
        let Some(start) = NonNull::new(start.cast::<u8>()) else {
            return Err(exhausted());
        };
        for mut offset in (0..bytes).step_by(PAGE_BYTES) {
            // One instruction writes to all pages: prefetchers follow each instruction of an unrolled loop.
            // SAFETY: it does nothing.
            unsafe {
                asm!("/* {0} */", inout(reg) offset, options(nomem, nostack, preserves_flags));
            }
            // SAFETY: the block has `bytes` bytes, and nothing else uses it.
            unsafe { start.add(offset).write_volatile(1) };
        }
        Ok(Self(start))
    }
}

/// A separate function, to keep it out of the measured path.
#[cold]
fn exhausted() -> Error {
    Error::os("allocate memory")(io::Error::from(io::ErrorKind::OutOfMemory))
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it came from `malloc`, and is freed once.
        unsafe { free(self.0.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_distinct_and_freed_by_any_thread() {
        let blocks: Vec<Block> = (0..100).map(|_| Block::new(10_000).unwrap()).collect();
        let mut starts: Vec<_> = blocks.iter().map(|block| block.0.addr()).collect();
        starts.sort_unstable();
        assert!(
            starts
                .windows(2)
                .all(|pair| pair[1].get() - pair[0].get() >= 10_000)
        );
        std::thread::spawn(move || drop(blocks)).join().unwrap();
        assert!(Block::new(usize::MAX / 2).is_err_and(|error| error.is_unavailable()));
    }

    #[test]
    #[cfg(all(target_os = "linux", not(target_feature = "crt-static")))]
    fn malloc_is_that_of_the_c_library_and_its_file_has_a_digest() {
        let library = library().unwrap();
        assert!(library.is_c_library, "{library:?}");
        let digest = library.digest().unwrap();
        assert_eq!((digest.len(), &digest), (16, &library.digest().unwrap()));
    }
}
