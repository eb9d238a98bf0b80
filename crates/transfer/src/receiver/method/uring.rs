//! Receives through an `io_uring`: while one block arrives, earlier ones are written.

use super::Arrival;
use crate::connection::{Inlet, TICK};
use crate::error::{Error, Result, is_passing};
use crate::method::{BLOCK, ring};
use crate::receiver::Failure;
use crate::receiver::target::Target;
use platform::socket::wake_at;
use platform::stream_ring::{Block, Done, Operation, StreamRing};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Blocks in flight: one is received, the others are written.
const BLOCKS: u32 = 4;
/// Tag of the receive operation. The tags of writes are their numbers.
const RECEIVING: u64 = u64::MAX;

/// A ring, its blocks, and its pending writes.
pub(in crate::receiver) struct Ring {
    queue: StreamRing,
    free: Vec<Block>,
    /// Pending writes in order of arrival; their numbers are consecutive.
    writes: VecDeque<Write>,
    /// Number of the first one.
    first: u64,
    /// The reason why a write failed, until it is reported.
    failure: Option<Failure>,
}

/// A block that is being written to a file.
struct Write {
    target: Arc<Target>,
    offset: u64,
    len: usize,
    written: usize,
}

impl Ring {
    pub(in crate::receiver) fn new() -> platform::Result<Self> {
        let free = (0..BLOCKS).map(|_| Block::new(BLOCK));
        Ok(Self {
            queue: ring(BLOCKS)?,
            free: free.collect::<platform::Result<_>>()?,
            writes: VecDeque::new(),
            first: 0,
            failure: None,
        })
    }

    /// Receives the next data and starts to write it to its target; returns true if the checksum is
    /// right. After a write has failed, nothing more is written, and the rest is discarded through
    /// `buffer`.
    pub(in crate::receiver) fn take(
        &mut self,
        buffer: &mut [u8],
        arrival: &mut Arrival<'_>,
    ) -> Result<bool> {
        let mut taken = 0;
        while taken < arrival.len {
            if let Some(reason) = self.failure.take() {
                return arrival.give_up(taken, buffer, reason);
            }
            let block = self.free_block()?;
            let step = (arrival.len - taken).min(BLOCK);
            let mut block = self.receive(arrival.inlet, block, step)?;
            if !arrival.inlet.check_data(&mut block.bytes_mut()[..step])? {
                self.free.push(block);
                return Ok(false);
            }
            self.writes.push_back(Write {
                target: Arc::clone(arrival.target),
                offset: arrival.offset + taken as u64,
                len: step,
                written: 0,
            });
            let number = self.first + self.writes.len() as u64 - 1;
            self.write_rest(number, block)?;
            taken += step;
        }
        Ok(true)
    }

    /// Waits until all received data is in its file; returns the reason if that failed.
    pub(in crate::receiver) fn settle(&mut self) -> Result<Option<Failure>> {
        while !self.writes.is_empty() {
            self.wait_for_write()?;
        }
        Ok(self.failure.take())
    }

    /// True if all received data is in its file.
    pub(in crate::receiver) fn is_settled(&self) -> bool {
        self.writes.is_empty()
    }

    /// A block to receive into; waits for a write if none is free.
    fn free_block(&mut self) -> Result<Block> {
        loop {
            if let Some(block) = self.free.pop() {
                return Ok(block);
            }
            self.wait_for_write()?;
        }
    }

    /// Waits for a write, for as long as the device takes.
    fn wait_for_write(&mut self) -> Result<()> {
        match self.queue.wait(TICK) {
            Ok(done) => self.wrote(done),
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) => Err(Error::system("wait for a ring")(error)),
        }
    }

    /// Fills a block with the next data.
    fn receive(&mut self, inlet: &mut Inlet, mut block: Block, len: usize) -> Result<Block> {
        let mut filled = inlet.ahead_into(&mut block.bytes_mut()[..len]);
        while filled < len {
            inlet.expect_data(len - filled)?;
            let mut waiting = Some((block, filled..len));
            let done = loop {
                let done = inlet.patiently(|socket| {
                    if let Some((block, range)) = waiting.take() {
                        let receive = Operation::Receive(socket);
                        self.queue.begin(RECEIVING, receive, block, range)?;
                    }
                    let done = self.queue.wait(TICK);
                    if done.is_err() {
                        // The sender announced more than it sent, perhaps because it is done.
                        // Waking for any number of bytes avoids a deadlock.
                        wake_at(socket, 1)?;
                    }
                    done
                })?;
                if done.tag == RECEIVING {
                    break done;
                }
                self.wrote(done)?;
            };
            filled += inlet.received(done.moved.map_err(Error::network)?)?;
            block = done.block;
        }
        Ok(block)
    }

    /// Starts to write the remainder of a block.
    fn write_rest(&mut self, number: u64, block: Block) -> Result<()> {
        let write = &self.writes[(number - self.first) as usize];
        let range: Range<usize> = write.written..write.len;
        let at = write.offset + write.written as u64;
        let Some(file) = write.target.file() else {
            unreachable!("what is thrown away is not taken by a ring")
        };
        let write = Operation::Write(file, at);
        let begun = self.queue.begin(number, write, block, range);
        begun.map_err(Error::system("write through a ring"))
    }

    /// Handles a completed write, which may be partial.
    fn wrote(&mut self, done: Done) -> Result<()> {
        let Done { tag, block, moved } = done;
        if tag == RECEIVING {
            // The connection was given up; nothing waits for this write.
            return Ok(());
        }
        let write = &mut self.writes[(tag - self.first) as usize];
        let failure = match moved {
            Ok(0) => Some(io::Error::from(io::ErrorKind::WriteZero)),
            Ok(count) => {
                write.written += count;
                None
            }
            Err(error) => Some(error),
        };
        if let Some(error) = failure {
            let reason = Failure::from(error);
            write.target.spoil(reason.clone());
            self.failure.get_or_insert(reason);
            write.written = write.len;
        }
        if write.written < write.len {
            return self.write_rest(tag, block);
        }
        self.free.push(block);
        while let Some(write) = self.writes.pop_front_if(|write| write.written == write.len) {
            write.target.wrote(write.offset, write.len as u64);
            self.first += 1;
        }
        Ok(())
    }
}
