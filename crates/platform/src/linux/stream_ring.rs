use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::time::Duration;

use io_uring::types::Fd;
use io_uring::{Probe, opcode, squeue};

use super::uring::Uring;
use crate::error::{Error, Result};
use crate::stream_ring::{Block, Done, Operation};

/// A ring that moves blocks.
pub struct StreamRing {
    ring: Uring<Flying>,
}

/// The tag and the block of the operation in each slot.
type Flying = Vec<Option<(u64, Block)>>;

/// `IORING_RECVSEND_POLL_FIRST` of `linux/io_uring.h`: start only when enough bytes for a wake-up
/// have arrived ([`crate::socket::wake_at`]); the remaining bytes alone might never cause one.
const POLL_FIRST: u16 = 1;

impl StreamRing {
    /// A ring with up to `depth` operations in flight. Dropping it cancels them, and waits for
    /// `patience` until they have ended. The memory of those that have not is never freed.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if this kernel has no such rings, [`crate::Error::NotPermitted`]
    /// if they are forbidden.
    pub fn new(depth: u32, patience: Duration) -> Result<Self> {
        let flying = |slots| Ok((0..slots).map(|_| None).collect());
        let ring = Uring::new(depth, flying, Some(patience))?;
        let mut probe = Probe::new();
        ring.submitter()
            .register_probe(&mut probe)
            .map_err(Error::os("ask what io_uring can do"))?;
        // This operation came in the same kernel version as all others needed here: receiving only
        // with enough bytes, cancelling all operations, and waiting with a timeout.
        if !probe.is_supported(opcode::SendZc::CODE) {
            return Err(Error::NotSupported("io_uring as of Linux 6.0"));
        }
        Ok(Self { ring })
    }

    /// Number of blocks in flight.
    pub fn in_flight(&self) -> usize {
        self.ring.in_flight() as usize
    }

    /// Starts an operation on a range of the block.
    ///
    /// # Errors
    /// If the kernel accepts no more operations.
    ///
    /// # Panics
    /// If the range is beyond the block, or the ring's depth is exceeded.
    // Submits an operation on a range of `block` to the kernel, which from then on holds its own
    // reference to the file or connection.
    pub fn begin(
        &mut self,
        tag: u64,
        operation: Operation<'_>,
        mut block: Block,
        range: Range<usize>,
    ) -> io::Result<()> {
        let bytes = &mut block.bytes_mut()[range];
        let len = u32::try_from(bytes.len()).expect("blocks are shorter than 4 GiB");
        let entry = entry(operation, bytes.as_mut_ptr(), len);
        // SAFETY: the entry points into the block, whose memory does not move. The block stays with the
        // ring, inaccessible to the caller, until its slot is taken.
        unsafe {
            self.ring.queue(|slot, flying| {
                flying[usize::from(slot)] = Some((tag, block));
                entry
            });
        }
        self.ring.submit(0)
    }

    /// Waits until an operation completes, and returns its block.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if none completes within `timeout`,
    /// [`io::ErrorKind::Interrupted`] after a signal.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<Done> {
        loop {
            if let Some((slot, moved)) = self.ring.take() {
                let flying = self.ring.memory_mut()[usize::from(slot)].take();
                let (tag, block) = flying.expect("the kernel is done with each once");
                return Ok(Done { tag, block, moved });
            }
            self.ring.submit_within(timeout)?;
        }
    }
}

fn entry(operation: Operation<'_>, start: *mut u8, len: u32) -> squeue::Entry {
    match operation {
        Operation::Read(file, offset) => {
            let entry = opcode::Read::new(fd(file), start, len);
            entry.offset(offset).build()
        }
        Operation::Write(file, offset) => {
            let entry = opcode::Write::new(fd(file), start, len);
            entry.offset(offset).build()
        }
        Operation::Send(socket) => {
            let entry = opcode::Send::new(fd(socket), start, len);
            let flags = libc::MSG_WAITALL | libc::MSG_NOSIGNAL;
            entry.flags(flags).build()
        }
        Operation::Receive(socket) => {
            let entry = opcode::Recv::new(fd(socket), start, len);
            let entry = entry.flags(libc::MSG_WAITALL);
            entry.ioprio(POLL_FIRST).build()
        }
    }
}

fn fd(of: &impl AsRawFd) -> Fd {
    Fd(of.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;
    use crate::error::available;
    use crate::stream_ring::StreamRing;

    const LONG: Duration = Duration::from_mins(1);

    fn ring(depth: u32) -> Option<StreamRing> {
        available(StreamRing::new(depth, LONG))
    }

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn the_end_differs_from_errors() {
        let Some(mut ring) = ring(1) else { return };
        let (near, far) = connected();
        drop(near);
        ring.begin(0, Operation::Receive(&far), Block::new(10).unwrap(), 0..10)
            .unwrap();
        assert_eq!(ring.wait(LONG).unwrap().moved.unwrap(), 0);
        let file = tempfile::NamedTempFile::new().unwrap();
        let unreadable = File::options().write(true).open(file.path()).unwrap();
        ring.begin(
            0,
            Operation::Read(&unreadable, 0),
            Block::new(10).unwrap(),
            0..10,
        )
        .unwrap();
        ring.wait(LONG).unwrap().moved.unwrap_err();
    }

    #[test]
    fn waiting_ends_in_time_and_what_hangs_is_dropped() {
        for _ in 0..20 {
            let Some(mut ring) = ring(2) else { return };
            let (near, far) = connected();
            for (tag, socket) in [(0, &far), (1, &near)] {
                let block = Block::new(1 << 16).unwrap();
                ring.begin(tag, Operation::Receive(socket), block, 0..1 << 16)
                    .unwrap();
            }
            let error = ring.wait(Duration::from_millis(1)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
    }
}
