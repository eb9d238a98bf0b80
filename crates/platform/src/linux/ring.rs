use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, RawFd};
use std::slice;

use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, opcode, squeue};

use crate::error::{Error, Result};
use crate::memory::{Mapping, PageSize};
use crate::ring::{Completed, RingOptions};

const DEEPEST: u32 = 4096;

pub(crate) struct ReadRing {
    ring: IoUring,
    fd: RawFd,
    options: RingOptions,
    /// All buffers, contiguous. The kernel writes into those with reads in flight, so there is
    /// never a reference to all of them.
    memory: ManuallyDrop<Mapping>,
    buffers: *mut u8,
    /// Offset of each buffer's read.
    offsets: Vec<u64>,
    free: Vec<u16>,
    /// The buffer that the caller currently borrows.
    lent: Option<u16>,
    in_flight: u32,
}

impl std::fmt::Debug for ReadRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadRing")
            .field("options", &self.options)
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

impl ReadRing {
    pub(crate) fn new(file: &File, options: &RingOptions) -> Result<Self> {
        let depth = options.depth.clamp(1, DEEPEST);
        let ring = set_up(depth)?;
        let mut memory = Mapping::anonymous(depth as usize * options.block_bytes, PageSize::Base)?;
        memory.populate()?;
        let mut ring = Self {
            ring,
            fd: file.as_raw_fd(),
            options: *options,
            buffers: memory.as_mut_slice().as_mut_ptr(),
            memory: ManuallyDrop::new(memory),
            offsets: vec![0; depth as usize],
            free: (0..depth as u16).collect(),
            lent: None,
            in_flight: 0,
        };
        if options.registered_buffers {
            ring.register_buffers()?;
        }
        if options.registered_file {
            let submitter = ring.ring.submitter();
            submitter
                .register_files(&[ring.fd])
                .map_err(Error::os("register a file with io_uring"))?;
        }
        Ok(ring)
    }

    fn register_buffers(&mut self) -> Result<()> {
        let vectors: Vec<libc::iovec> = (0..self.offsets.len())
            .map(|index| libc::iovec {
                iov_base: self.buffer(index as u16).cast(),
                iov_len: self.options.block_bytes,
            })
            .collect();
        // SAFETY: the memory outlives the ring: see `drop`.
        unsafe { self.ring.submitter().register_buffers(&vectors) }.map_err(|source| {
            if source.kind() == std::io::ErrorKind::OutOfMemory {
                Error::NotPermitted {
                    what: "registering so many buffers with io_uring",
                    needs: "a higher limit of locked memory (ulimit -l)",
                }
            } else {
                Error::os("register buffers with io_uring")(source)
            }
        })
    }

    #[inline]
    fn buffer(&self, index: u16) -> *mut u8 {
        // SAFETY: the memory has as many buffers as there are indices.
        unsafe {
            self.buffers
                .add(usize::from(index) * self.options.block_bytes)
        }
    }

    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.lent.is_some() || !self.free.is_empty()
    }

    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    #[inline]
    pub(crate) fn queue(&mut self, offset: u64, len: usize) {
        self.free.extend(self.lent.take());
        let index = self.free.pop().expect("the caller asked `has_room`");
        self.offsets[usize::from(index)] = offset;
        let len = len.min(self.options.block_bytes);
        let entry = self.entry(index, offset, len as u32);
        // SAFETY: the buffer stays until the read completes, and nothing accesses it before.
        unsafe { self.ring.submission().push(&entry) }
            .expect("the queue has as many places as there are buffers");
        self.in_flight += 1;
    }

    #[inline]
    fn entry(&self, index: u16, offset: u64, len: u32) -> squeue::Entry {
        let buffer = self.buffer(index);
        let entry = match (
            self.options.registered_buffers,
            self.options.registered_file,
        ) {
            (false, false) => opcode::Read::new(Fd(self.fd), buffer, len)
                .offset(offset)
                .build(),
            (false, true) => opcode::Read::new(Fixed(0), buffer, len)
                .offset(offset)
                .build(),
            (true, false) => opcode::ReadFixed::new(Fd(self.fd), buffer, len, index)
                .offset(offset)
                .build(),
            (true, true) => opcode::ReadFixed::new(Fixed(0), buffer, len, index)
                .offset(offset)
                .build(),
        };
        entry.user_data(u64::from(index))
    }

    #[inline]
    pub(crate) fn submit(&mut self, wait_for: u32) -> Result<()> {
        let wait_for = wait_for.min(self.in_flight) as usize;
        loop {
            match self.ring.submit_and_wait(wait_for) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::os("submit reads to io_uring")(error)),
            }
        }
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<Completed<'_>> {
        self.free.extend(self.lent.take());
        let entry = self.ring.completion().next()?;
        self.in_flight -= 1;
        let index = entry.user_data() as u16;
        self.lent = Some(index);
        let bytes = match usize::try_from(entry.result()) {
            // SAFETY: the kernel wrote `count` bytes into this buffer and no longer uses it. The
            // buffer is not reused while the caller holds the slice.
            Ok(count) => Ok(unsafe { slice::from_raw_parts(self.buffer(index), count) }),
            Err(_) => Err(io::Error::from_raw_os_error(-entry.result())),
        };
        Some(Completed {
            offset: self.offsets[usize::from(index)],
            bytes,
        })
    }
}

impl Drop for ReadRing {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.submit(self.in_flight).is_err() {
                // The kernel may still write into the buffers, so they are leaked.
                return;
            }
            while self.take().is_some() {}
        }
        // SAFETY: no read is in flight, and the memory is not used again.
        unsafe { ManuallyDrop::drop(&mut self.memory) };
    }
}

/// A ring for one thread, which processes completions only when that thread asks for them (Linux
/// 6.1). Older kernels get a ring without these options.
pub(super) fn set_up(depth: u32) -> Result<IoUring> {
    let refined = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(depth);
    let ring = match refined {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => IoUring::new(depth),
        outcome => outcome,
    };
    ring.map_err(|error| match error.raw_os_error() {
        Some(libc::ENOSYS) => Error::NotSupported { what: "io_uring" },
        Some(libc::EPERM | libc::EACCES) => Error::NotPermitted {
            what: "io_uring",
            needs: "kernel.io_uring_disabled to be 0, and no sandbox that forbids it",
        },
        _ => Error::os("set up io_uring")(error),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use crate::error::Error;
    use crate::ring::{ReadRing, RingOptions};

    fn options(depth: u32, registered: bool) -> RingOptions {
        RingOptions {
            depth,
            block_bytes: 1000,
            registered_buffers: registered,
            registered_file: registered,
        }
    }

    /// `None`, with the reason printed, if this system has no rings.
    fn ring<'f>(file: &'f std::fs::File, options: &RingOptions) -> Option<ReadRing<'f>> {
        match ReadRing::new(file, options) {
            Ok(ring) => Some(ring),
            Err(error @ (Error::NotSupported { .. } | Error::NotPermitted { .. })) => {
                println!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn every_block_comes_back_once_and_whole() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..10_500_u32).map(|index| (index / 7) as u8).collect();
        file.write_all(&bytes).unwrap();
        for (depth, registered) in [(1, false), (4, false), (4, true), (64, true)] {
            let Some(mut ring) = ring(&file, &options(depth, registered)) else {
                return;
            };
            let mut seen = [false; 11];
            let mut next = 0;
            while next < 11 || ring.in_flight() > 0 {
                while next < 11 && ring.has_room() {
                    ring.queue(next * 1000, 1000);
                    next += 1;
                }
                ring.submit(1).unwrap();
                while let Some(done) = ring.take() {
                    let start = done.offset as usize;
                    let end = (start + 1000).min(bytes.len());
                    assert_eq!(done.bytes.unwrap(), &bytes[start..end]);
                    assert!(!std::mem::replace(&mut seen[start / 1000], true));
                }
            }
            assert!(seen.iter().all(|seen| *seen));
        }
    }

    #[test]
    fn errors_of_single_reads_are_theirs_alone() {
        let write_only = tempfile::NamedTempFile::new().unwrap();
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(write_only.path())
            .unwrap();
        let Some(mut ring) = ring(&file, &options(2, false)) else {
            return;
        };
        ring.queue(0, 10);
        ring.submit(1).unwrap();
        let done = ring.take().unwrap();
        done.bytes.unwrap_err();
        assert!(ring.take().is_none() && ring.in_flight() == 0);
    }

    #[test]
    fn a_ring_with_reads_under_way_can_be_dropped() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 100_000]).unwrap();
        for _ in 0..100 {
            let Some(mut ring) = ring(&file, &options(32, false)) else {
                return;
            };
            for block in 0..32 {
                ring.queue(block * 1000, 1000);
            }
            ring.submit(0).unwrap();
        }
    }

    /// Makes the kernel return EPERM when the calling thread creates a ring.
    fn forbid_rings() -> std::io::Result<()> {
        let load_number = libc::sock_filter {
            code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
            jt: 0,
            jf: 0,
            k: 0,
        };
        let is_setup = libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: libc::SYS_io_uring_setup as u32,
        };
        let answer = |k| libc::sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k,
        };
        let refuse = answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
        let mut filter = [
            load_number,
            is_setup,
            refuse,
            answer(libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_mut_ptr(),
        };
        let mode = libc::SECCOMP_MODE_FILTER;
        // SAFETY: the filter lives through the call, which copies it, and applies to this thread
        // only.
        let outcome = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program)
        };
        if outcome == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error())
        }
    }

    #[test]
    fn where_rings_are_forbidden_that_is_what_is_told() {
        let thread = std::thread::spawn(|| {
            if let Err(error) = forbid_rings() {
                return println!("skipped: no filter for system calls here: {error}");
            }
            let file = tempfile::tempfile().unwrap();
            let error = ReadRing::new(&file, &options(1, false)).unwrap_err();
            assert!(matches!(error, Error::NotPermitted { .. }), "{error}");
            let error = crate::stream_ring::StreamRing::new(1).unwrap_err();
            assert!(matches!(error, Error::NotPermitted { .. }), "{error}");
            assert!(error.to_string().contains("io_uring_disabled"), "{error}");
        });
        thread.join().unwrap();
    }
}
