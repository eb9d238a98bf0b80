use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::slice;

use io_uring::types::Fd;
use io_uring::{opcode, squeue};

use super::uring::Uring;
use crate::error::{Error, Result};
use crate::memory::{Mapping, PageSize};
use crate::ring::{Completed, RingOptions};

/// A ring that reads one file into its own buffers. Dropping it cancels its reads and waits for their
/// end.
pub struct ReadRing<'file> {
    _file: PhantomData<&'file File>,
    ring: Uring<Buffers>,
    fd: Fd,
    flags: squeue::Flags,
    options: RingOptions,
}

/// A buffer for each slot of the ring, contiguous. The kernel writes into those with reads in flight,
/// so there is never a reference to all of them.
struct Buffers {
    _memory: Mapping,
    start: *mut u8,
    block_bytes: usize,
    /// Offset of each buffer's read.
    offsets: Vec<u64>,
}

impl Buffers {
    fn new(count: u16, block_bytes: usize) -> Result<Self> {
        let count = usize::from(count);
        let mut memory = Mapping::anonymous(count * block_bytes, PageSize::Base)?;
        memory.populate()?;
        Ok(Self {
            start: memory.as_mut_slice().as_mut_ptr(),
            _memory: memory,
            block_bytes,
            offsets: vec![0; count],
        })
    }

    #[inline]
    fn at(&self, slot: u16) -> *mut u8 {
        // SAFETY: the memory has a buffer for each slot.
        unsafe { self.start.add(usize::from(slot) * self.block_bytes) }
    }
}

impl<'file> ReadRing<'file> {
    /// Sets up a ring and allocates the pages of its buffers.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if this kernel has no such rings, or no such buffers,
    /// [`crate::Error::NotPermitted`] if they are forbidden, [`crate::Error::Os`] if memory cannot
    /// be allocated or locked.
    pub fn new(file: &'file File, options: &RingOptions) -> Result<Self> {
        let buffers = |count| Buffers::new(count, options.block_bytes);
        let mut ring = Self {
            _file: PhantomData,
            ring: Uring::new(options.depth, buffers, None)?,
            fd: Fd(file.as_raw_fd()),
            flags: squeue::Flags::empty(),
            options: *options,
        };
        if options.registered_buffers {
            ring.register_buffers()?;
        }
        if options.registered_file {
            let submitter = ring.ring.submitter();
            submitter
                .register_files(&[ring.fd.0])
                .map_err(Error::os("register a file with io_uring"))?;
            // Its number among the registered files.
            (ring.fd, ring.flags) = (Fd(0), squeue::Flags::FIXED_FILE);
        }
        Ok(ring)
    }

    fn register_buffers(&self) -> Result<()> {
        let buffers = self.ring.memory();
        let vectors: Vec<libc::iovec> = (0..buffers.offsets.len())
            .map(|slot| libc::iovec {
                iov_base: buffers.at(slot as u16).cast(),
                iov_len: buffers.block_bytes,
            })
            .collect();
        // SAFETY: the kernel writes into a buffer only during its reads, and the ring keeps the memory
        // for as long as they last.
        unsafe { self.ring.submitter().register_buffers(&vectors) }.map_err(|source| {
            if source.kind() == io::ErrorKind::OutOfMemory {
                Error::NotPermitted {
                    what: "registering that number of buffers with io_uring",
                    needs: "a higher limit of locked memory (ulimit -l)",
                }
            } else {
                Error::os("register buffers with io_uring")(source)
            }
        })
    }

    /// True if another read can be queued.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.ring.has_room()
    }

    /// Reads that are queued and not yet taken back.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.ring.in_flight()
    }

    /// Queues a read of up to `len` bytes, at most a block, at `offset`. The next
    /// [`ReadRing::submit`] submits it.
    ///
    /// # Panics
    /// If the queue is full.
    #[inline]
    pub fn queue(&mut self, offset: u64, len: usize) {
        let (fd, flags, options) = (self.fd, self.flags, self.options);
        let len = len.min(options.block_bytes) as u32;
        let entry = |slot, buffers: &mut Buffers| {
            buffers.offsets[usize::from(slot)] = offset;
            let buffer = buffers.at(slot);
            let read = if options.registered_buffers {
                let read = opcode::ReadFixed::new(fd, buffer, len, slot);
                read.offset(offset).build()
            } else {
                opcode::Read::new(fd, buffer, len).offset(offset).build()
            };
            read.flags(flags)
        };
        // SAFETY: the buffer belongs to the ring's memory and has at least `len` bytes. `take` alone
        // gives access to it, after its read, and until the next call at most.
        unsafe { self.ring.queue(entry) };
    }

    /// Submits the queued reads to the kernel, and waits until at least `wait_for` reads are
    /// complete.
    #[inline]
    pub fn submit(&mut self, wait_for: u32) -> Result<()> {
        let wait_for = wait_for.min(self.ring.in_flight());
        self.ring
            .submit(wait_for)
            .map_err(Error::os("submit reads to io_uring"))
    }

    /// Takes a completed read, in order of completion; `None` if there is none. The next call
    /// reuses its buffer.
    #[inline]
    pub fn take(&mut self) -> Option<Completed<'_>> {
        let (slot, count) = self.ring.take()?;
        let buffers = self.ring.memory();
        Some(Completed {
            offset: buffers.offsets[usize::from(slot)],
            // SAFETY: the kernel wrote `count` bytes into this buffer and no longer uses it. The
            // buffer is not reused while the caller holds the slice.
            bytes: count.map(|count| unsafe { slice::from_raw_parts(buffers.at(slot), count) }),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::error::Error;
    use crate::linux::sandbox::forbid_number;
    use crate::ring::{ReadRing, RingOptions};
    use crate::stream_ring::StreamRing;

    #[test]
    fn where_rings_are_forbidden_the_error_is_about_that() {
        let thread = std::thread::spawn(|| {
            if let Err(error) = forbid_number(libc::SYS_io_uring_setup) {
                return println!("skipped: no filter for system calls here: {error}");
            }
            let file = tempfile::tempfile().unwrap();
            let options = RingOptions {
                depth: 1,
                block_bytes: 1000,
                registered_buffers: false,
                registered_file: false,
            };
            let error = ReadRing::new(&file, &options).err().unwrap();
            assert!(matches!(error, Error::NotPermitted { .. }), "{error}");
            let error = StreamRing::new(1, Duration::ZERO).err().unwrap();
            assert!(matches!(error, Error::NotPermitted { .. }), "{error}");
            assert!(error.to_string().contains("io_uring_disabled"), "{error}");
        });
        thread.join().unwrap();
    }
}
