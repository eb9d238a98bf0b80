//! Sends a file through an `io_uring`: while one block is sent, the next are read.

use super::{Flow, Outcome, Stopped};
use crate::connection::TICK;
use crate::error::{Error, is_passing};
use crate::method::{BLOCK, ring};
use crate::protocol::{CHECK_BYTES, HEAD_BYTES};
use platform::stream_ring::{Block, Done, Operation, StreamRing};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;

/// Blocks in flight: one is sent, the others are read or wait for their turn.
const BLOCKS: u32 = 4;
/// Offset of the file's bytes within a block. The frame's header and its check end right before it,
/// the data's check follows the data. The bytes are page-aligned, like those in the file that they
/// are copied from ([`crate::method`] gives the reason).
const START: usize = 4096;
/// Tag of the send operation. The tags of reads are their offsets.
const SENDING: u64 = u64::MAX;

/// A ring and its blocks. A block holds a whole frame, so that one operation sends it.
pub(in crate::sender) struct Ring {
    queue: StreamRing,
    free: Vec<Block>,
}

/// A file while it is sent through the ring.
struct Run<'r, 'f, 'o> {
    ring: &'r mut Ring,
    flow: &'r mut Flow<'o>,
    file: &'f File,
    /// Range whose read has not started.
    unread: Range<u64>,
    /// Reads in flight, by offset: the requested length, and the number of bytes read so far.
    reading: BTreeMap<u64, (usize, usize)>,
    /// Blocks ready to send, by offset.
    read: BTreeMap<u64, (Block, usize)>,
    /// The unsent range within the block that is being sent.
    sending: Option<Range<usize>>,
    /// Offset of the next block to send.
    next: u64,
    end: u64,
    stopped: Option<Stopped>,
}

impl Ring {
    pub(in crate::sender) fn new() -> Outcome<Self> {
        let free = (0..BLOCKS).map(|_| Block::new(START + BLOCK + CHECK_BYTES));
        Ok(Self {
            queue: ring(BLOCKS)?,
            free: free.collect::<platform::Result<_>>()?,
        })
    }

    /// Sends a range of a file. Frames that were started are completed even if the rest cannot be
    /// read, so that the connection stays usable for the failure report.
    pub(in crate::sender) fn send(
        &mut self,
        flow: &mut Flow<'_>,
        file: &File,
        range: Range<u64>,
    ) -> Outcome {
        let (next, end) = (range.start, range.end);
        let mut run = Run {
            ring: self,
            flow,
            file,
            unread: range,
            reading: BTreeMap::new(),
            read: BTreeMap::new(),
            sending: None,
            next,
            end,
            stopped: None,
        };
        loop {
            run.read_ahead()?;
            if let Err(stopped) = run.send_next() {
                run.stop(stopped)?;
            }
            if run.ring.queue.in_flight() == 0 {
                return run.stopped.map_or(Ok(()), Err);
            }
            let done = run.wait()?;
            if let Err(stopped) = run.done(done) {
                run.stop(stopped)?;
            }
        }
    }
}

impl Run<'_, '_, '_> {
    /// Starts no more operations. A connection failure is returned at once.
    fn stop(&mut self, stopped: Stopped) -> Outcome {
        if matches!(stopped, Stopped::Lost(_)) {
            return Err(stopped);
        }
        self.stopped.get_or_insert(stopped);
        self.unread = 0..0;
        let blocks = std::mem::take(&mut self.read).into_values();
        self.ring.free.extend(blocks.map(|(block, _)| block));
        Ok(())
    }

    /// Starts reads into all free blocks.
    fn read_ahead(&mut self) -> Outcome {
        while !self.unread.is_empty()
            && let Some(block) = self.ring.free.pop()
        {
            let offset = self.unread.start;
            let wanted = (self.unread.end - offset).min(BLOCK as u64) as usize;
            self.unread.start += wanted as u64;
            self.reading.insert(offset, (wanted, 0));
            self.read_rest(offset, block)?;
        }
        Ok(())
    }

    fn read_rest(&mut self, offset: u64, block: Block) -> Outcome {
        let (wanted, filled) = self.reading[&offset];
        let range = START + filled..START + wanted;
        let at = offset + filled as u64;
        let ring = &mut self.ring.queue;
        ring.begin(offset, Operation::Read(self.file, at), block, range)
            .map_err(Error::system("read through a ring"))?;
        Ok(())
    }

    /// Starts to send the next block, if it is ready and none is being sent.
    fn send_next(&mut self) -> Outcome {
        if self.sending.is_some() {
            return Ok(());
        }
        let Some((mut block, len)) = self.read.remove(&self.next) else {
            return Ok(());
        };
        let rest = self.end - self.next - len as u64;
        let header = match self.flow.begin(self.next, len, rest) {
            Ok(header) => header,
            Err(stopped) => {
                self.ring.free.push(block);
                return Err(stopped);
            }
        };
        let outlet = &mut *self.flow.outlet;
        let (before, bytes) = block.bytes_mut().split_at_mut(START);
        before[START - HEAD_BYTES..].copy_from_slice(&outlet.head(header));
        let mut frame_end = START + len;
        if let Some(check) = outlet.seal_data(&mut bytes[..len]) {
            bytes[len..len + CHECK_BYTES].copy_from_slice(&check);
            frame_end += CHECK_BYTES;
        }
        outlet.flush_for_more()?;
        self.next += len as u64;
        self.send_rest(block, START - HEAD_BYTES..frame_end)
    }

    fn send_rest(&mut self, block: Block, range: Range<usize>) -> Outcome {
        self.sending = Some(range.clone());
        let (ring, socket) = (&mut self.ring.queue, &self.flow.outlet.line.socket);
        ring.begin(SENDING, Operation::Send(socket), block, range)
            .map_err(Error::network)?;
        Ok(())
    }

    /// Waits for an operation to complete. Only while a block is sent, the receiver has to take it
    /// in time; reads take as long as they take.
    fn wait(&mut self) -> Outcome<Done> {
        let Run { ring, flow, .. } = self;
        if self.sending.is_some() {
            return Ok(flow.outlet.patiently(|_| ring.queue.wait(TICK))?);
        }
        loop {
            match ring.queue.wait(TICK) {
                Err(error) if is_passing(&error) => {}
                done => return Ok(done.map_err(Error::system("wait for a ring"))?),
            }
            if flow.outlet.line.patience.shall_stop() {
                return Err(Stopped::Lost(Error::Interrupted));
            }
        }
    }

    /// Handles a completed operation.
    fn done(&mut self, done: Done) -> Outcome {
        let Done { tag, block, moved } = done;
        if tag == SENDING {
            let sent = moved.map_err(Error::network)?;
            self.flow.outlet.line.patience.moved(sent);
            let range = self.sending.take().unwrap_or_default();
            if sent < range.len() {
                return self.send_rest(block, range.start + sent..range.end);
            }
            self.flow.outlet.end_data(None);
            self.ring.free.push(block);
            return Ok(());
        }
        let (wanted, filled) = self.reading[&tag];
        let filled = match moved {
            Ok(0) | Err(_) => {
                self.reading.remove(&tag);
                self.ring.free.push(block);
                return Err(moved.map_or_else(Stopped::from, |_| Stopped::cut_short()));
            }
            Ok(count) => filled + count,
        };
        if filled < wanted {
            self.reading.insert(tag, (wanted, filled));
            return self.read_rest(tag, block);
        }
        self.reading.remove(&tag);
        if self.stopped.is_none() {
            self.read.insert(tag, (block, wanted));
        } else {
            self.ring.free.push(block);
        }
        Ok(())
    }
}
