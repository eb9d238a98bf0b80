//! Many concurrent reads by one thread: through `io_uring(7)`, where they are submitted and completed through
//! memory that is shared with the kernel, or on Windows overlapped reads and a completion port.

use std::io;

pub use crate::os::ring::ReadRing;

/// Options of a [`ReadRing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOptions {
    /// Queue depth: reads in flight at once, from 1 to 4096; each has its own buffer.
    pub depth: u32,
    /// Size of each buffer, in bytes: for a file that is open for direct reads, a multiple of their
    /// alignment.
    pub block_bytes: usize,
    /// True to register the buffers with the kernel once, instead of passing them with each read. Windows has
    /// no such thing.
    pub registered_buffers: bool,
    /// True to register the file with the kernel once, instead of passing it with each read. On Windows it
    /// always is: it belongs to the completion port.
    pub registered_file: bool,
}

/// A completed read.
#[derive(Debug)]
pub struct Completed<'ring> {
    /// Its offset in the file.
    pub offset: u64,
    /// The bytes read, fewer than requested only at the end of the file; or the kernel's error.
    pub bytes: io::Result<&'ring [u8]>,
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;
    use crate::error::available;

    fn options(depth: u32, registered: bool) -> RingOptions {
        RingOptions {
            depth,
            block_bytes: 1000,
            registered_buffers: registered,
            registered_file: registered,
        }
    }

    fn ring<'f>(file: &'f File, options: &RingOptions) -> Option<ReadRing<'f>> {
        available(ReadRing::new(file, options))
    }

    #[test]
    fn every_block_comes_back_once_and_whole() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..10_500_u32).map(|index| (index / 7) as u8).collect();
        file.write_all(&bytes).unwrap();
        for (depth, registered) in [(1, false), (4, false), (4, true), (64, true)] {
            let Some(mut ring) = ring(file.as_file(), &options(depth, registered)) else {
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
    fn behind_the_end_of_a_file_there_are_no_bytes() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[1; 1500]).unwrap();
        let Some(mut ring) = ring(file.as_file(), &options(2, false)) else {
            return;
        };
        for offset in [1500, 1 << 30] {
            ring.queue(offset, 1000);
            ring.submit(1).unwrap();
            let done = ring.take().unwrap();
            assert_eq!((done.offset, done.bytes.unwrap().len()), (offset, 0));
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
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![1; 100_000]).unwrap();
        for _ in 0..100 {
            let Some(mut ring) = ring(file.as_file(), &options(32, false)) else {
                return;
            };
            for block in 0..32 {
                ring.queue(block * 1000, 1000);
            }
            ring.submit(0).unwrap();
        }
    }
}
