//! Sending a file through a ring: while one block is on its way, the next are read.

use crate::buffer::BLOCK;
use crate::connection::TICK;
use crate::error::Error;
use crate::protocol::{CHECK_BYTES, HEAD_BYTES};
use crate::sender::flow::{Flow, Outcome, Stopped};
use platform::stream_ring::{Block, Done, Operation, StreamRing};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;

/// Blocks under way: one is sent, the others are read or wait for their turn.
const BLOCKS: u32 = 4;
/// Where the bytes of the file begin in a block, with their head right before them and their check
/// right behind: where a page does, as in the file that they are copied from ([`crate::buffer`] says why).
const START: usize = 4096;
/// What the sending operation is called; those that read are called by their offsets.
const SENDING: u64 = u64::MAX;

/// A ring and its blocks. Each block has room for a whole frame, so that it goes in one operation.
pub(in crate::sender) struct Ring {
    queue: StreamRing,
    free: Vec<Block>,
}

/// A file on its way through the ring.
struct Run<'r, 'f, 'o> {
    ring: &'r mut Ring,
    flow: &'r mut Flow<'o>,
    file: &'f File,
    /// What nobody has begun to read.
    unread: Range<u64>,
    /// By offset: how much is being read, and how much of that is there.
    reading: BTreeMap<u64, (usize, usize)>,
    /// By offset: what is to be sent.
    read: BTreeMap<u64, (Block, usize)>,
    /// Of the block that is being sent.
    sending: Option<Range<usize>>,
    /// Where the next block to be sent begins.
    next: u64,
    end: u64,
    stopped: Option<Stopped>,
}

impl Ring {
    pub(in crate::sender) fn new() -> Outcome<Self> {
        let free = (0..BLOCKS).map(|_| Block::new(START + BLOCK + CHECK_BYTES));
        Ok(Self {
            queue: StreamRing::new(BLOCKS)?,
            free: free.collect::<platform::Result<_>>()?,
        })
    }

    /// Sends a range of a file. What was begun of it is sent as a whole, even if the rest cannot be
    /// read, so that the receiver can be told.
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
            let Run { ring, flow, .. } = &mut run;
            let done = flow.outlet.patiently(|_| ring.queue.wait(TICK))?;
            if let Err(stopped) = run.done(done) {
                run.stop(stopped)?;
            }
        }
    }
}

impl Run<'_, '_, '_> {
    /// Nothing more is begun, unless the connection itself is of no more use.
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

    /// Begins to read as much as there are blocks for.
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
        let (wanted, there) = self.reading[&offset];
        let range = START + there..START + wanted;
        let at = offset + there as u64;
        let ring = &mut self.ring.queue;
        ring.begin(offset, Operation::Read(self.file, at), block, range)
            .map_err(Error::system("read through a ring"))?;
        Ok(())
    }

    /// Begins to send the next block, if it is there and none is being sent.
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
        let (ring, socket) = (&mut self.ring.queue, self.flow.outlet.socket());
        ring.begin(SENDING, Operation::Send(socket), block, range)
            .map_err(Error::network)?;
        Ok(())
    }

    /// Takes in that an operation is done.
    fn done(&mut self, done: Done) -> Outcome {
        let Done { tag, block, moved } = done;
        if tag == SENDING {
            let sent = moved.map_err(Error::network)?;
            self.flow.outlet.sent(sent);
            let range = self.sending.take().unwrap_or_default();
            if sent < range.len() {
                return self.send_rest(block, range.start + sent..range.end);
            }
            self.ring.free.push(block);
            return Ok(());
        }
        let (wanted, there) = self.reading[&tag];
        let there = match moved {
            Ok(0) | Err(_) => {
                self.reading.remove(&tag);
                self.ring.free.push(block);
                return Err(moved.map_or_else(Stopped::from, |_| Stopped::cut_short()));
            }
            Ok(count) => there + count,
        };
        if there < wanted {
            self.reading.insert(tag, (wanted, there));
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
