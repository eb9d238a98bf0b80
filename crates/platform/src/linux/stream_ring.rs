use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, opcode};

use super::ring::set_up;
use crate::error::{Error, Result};
use crate::stream_ring::{Block, Done, Operation};

/// The operations in flight, by the number in the kernel's completions.
struct Flying {
    tag: u64,
    block: Block,
}

pub(crate) struct StreamRing {
    ring: IoUring,
    flying: Vec<Option<Flying>>,
    in_flight: usize,
}

/// `IORING_RECVSEND_POLL_FIRST` of `linux/io_uring.h`: start only when enough bytes for a wake-up
/// have arrived ([`crate::socket::wake_at`]); the remaining bytes alone might never cause one.
const POLL_FIRST: u16 = 1;
/// The number of the request that cancels all others.
const CANCEL: u64 = u64::MAX;
/// Time limit for cancelled operations to end: only a hanging device takes longer.
const CANCEL_TIME: Duration = Duration::from_secs(5);

impl std::fmt::Debug for StreamRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamRing")
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

impl StreamRing {
    pub(crate) fn new(depth: u32) -> Result<Self> {
        // One more entry, for the cancel request.
        let ring = set_up(depth + 1)?;
        let mut probe = Probe::new();
        ring.submitter()
            .register_probe(&mut probe)
            .map_err(Error::os("ask what io_uring can do"))?;
        // This operation came in the same kernel version as all others needed here: receiving only
        // with enough bytes, cancelling all operations, and waiting with a timeout.
        if !probe.is_supported(opcode::SendZc::CODE) {
            return Err(Error::NotSupported {
                what: "io_uring as of Linux 6.0",
            });
        }
        Ok(Self {
            ring,
            flying: (0..depth).map(|_| None).collect(),
            in_flight: 0,
        })
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Submits an operation on a range of `block` to the kernel, which from then on holds its own
    /// reference to the file or connection.
    pub(crate) fn begin(
        &mut self,
        tag: u64,
        operation: Operation<'_>,
        mut block: Block,
        range: Range<usize>,
    ) -> io::Result<()> {
        let bytes = &mut block.bytes_mut()[range];
        let len = u32::try_from(bytes.len()).expect("blocks are shorter than 4 GiB");
        let start = bytes.as_mut_ptr();
        let entry = match operation {
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
        };
        let free = self.flying.iter().position(Option::is_none);
        let number = free.expect("no more operations at a time than the ring is for");
        self.flying[number] = Some(Flying { tag, block });
        self.in_flight += 1;
        // SAFETY: the entry points into the block, whose memory does not move. The block stays in
        // `flying`, inaccessible to the caller, until the kernel reports completion.
        unsafe { self.ring.submission().push(&entry.user_data(number as u64)) }
            .expect("the queue has a place for each block");
        loop {
            match self.ring.submit() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome.map(drop),
            }
        }
    }

    pub(crate) fn wait(&mut self, timeout: Duration) -> io::Result<Done> {
        loop {
            if let Some(entry) = self.ring.completion().next() {
                if entry.user_data() == CANCEL {
                    continue;
                }
                let flying = self.flying[entry.user_data() as usize].take();
                let Flying { tag, block } = flying.expect("the kernel is done with each once");
                self.in_flight -= 1;
                let moved = usize::try_from(entry.result())
                    .map_err(|_| io::Error::from_raw_os_error(-entry.result()));
                return Ok(Done { tag, block, moved });
            }
            let timeout = Timespec::from(timeout);
            let arguments = SubmitArgs::new().timespec(&timeout);
            match self.ring.submitter().submit_with_args(1, &arguments) {
                Err(error) if error.raw_os_error() == Some(libc::ETIME) => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                outcome => outcome.map(drop)?,
            }
        }
    }

    /// Cancels all operations in flight; true if all have ended.
    fn cancel(&mut self) -> bool {
        let entry = opcode::AsyncCancel2::new(CancelBuilder::any()).build();
        // SAFETY: a cancel request has no pointers.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(CANCEL)) };
        let deadline = std::time::Instant::now() + CANCEL_TIME;
        while pushed.is_ok() && self.in_flight > 0 && std::time::Instant::now() < deadline {
            match self.wait(CANCEL_TIME) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.in_flight == 0
    }
}

impl Drop for StreamRing {
    fn drop(&mut self) {
        if self.in_flight > 0 && !self.cancel() {
            // The kernel may still use the blocks, so they are leaked.
            std::mem::forget(std::mem::take(&mut self.flying));
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
    use crate::stream_ring::StreamRing;

    const LONG: Duration = Duration::from_mins(1);

    /// `None`, with the reason printed, if this system has no rings.
    fn ring(depth: u32) -> Option<StreamRing> {
        match StreamRing::new(depth) {
            Ok(ring) => Some(ring),
            Err(error @ (Error::NotSupported { .. } | Error::NotPermitted { .. })) => {
                println!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn a_file_goes_through_a_connection_into_another() {
        const LEN: usize = 3_000_000;
        let Some(mut ring) = ring(4) else { return };
        let (near, far) = connected();
        let [source, target] = [(); 2].map(|()| tempfile::tempfile().unwrap());
        let contents: Vec<u8> = (0..LEN).map(|index| (index % 251) as u8).collect();
        crate::block_io::write_at(&source, &contents, 0).unwrap();
        ring.begin(
            1,
            Operation::Read(&source, 0),
            Block::new(LEN).unwrap(),
            0..LEN,
        )
        .unwrap();
        let Done {
            tag: 1,
            block,
            moved,
        } = ring.wait(LONG).unwrap()
        else {
            panic!("it was called 1")
        };
        assert_eq!(moved.unwrap(), LEN);
        // More than the connection buffers, so both operations must be in flight together.
        ring.begin(
            2,
            Operation::Receive(&far),
            Block::new(LEN).unwrap(),
            0..LEN,
        )
        .unwrap();
        ring.begin(3, Operation::Send(&near), block, 0..LEN)
            .unwrap();
        let done = [ring.wait(LONG).unwrap(), ring.wait(LONG).unwrap()];
        assert_eq!(ring.in_flight(), 0);
        for done in done {
            assert_eq!(done.moved.unwrap(), LEN);
            if done.tag == 2 {
                ring.begin(4, Operation::Write(&target, 0), done.block, 0..LEN)
                    .unwrap();
            }
        }
        assert_eq!(ring.wait(LONG).unwrap().moved.unwrap(), LEN);
        let mut stored = vec![0; LEN];
        crate::block_io::read_at(&target, &mut stored, 0).unwrap();
        assert!(stored == contents);
    }

    #[test]
    fn the_end_and_errors_are_told_apart() {
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
