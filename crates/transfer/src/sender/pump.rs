//! Moves bytes from their source into a connection.

use super::method::{
    Flow, Outcome, Stopped, send_in_kernel, send_mapped, send_read, send_zero_copy, uring,
};
use crate::connection::TICK;
use crate::error::{Error, is_passing};
use crate::method::{BLOCK, SendMethod, block_memory};
use platform::block_io::{read_at, wait_readable};
use platform::file::next_data;
use platform::memory::Mapping;
use platform::socket::{Conduit, ZeroCopy};
use std::fs::File;
use std::io::Read;
use std::ops::Range;

/// Maximum number of buffers that are sent without a copy at once.
const BUFFERS: usize = 8;

/// Sends the contents of files by a method, and keeps what the methods need for the next file.
pub(super) struct Pump {
    pub(super) method: SendMethod,
    buffer: Mapping,
    conduit: Option<Conduit>,
    zero_copy: Option<ZeroCopy>,
    ring: Option<uring::Ring>,
}

impl Pump {
    pub(super) fn new(method: SendMethod) -> Result<Self, Error> {
        Ok(Self {
            method,
            buffer: block_memory()?,
            conduit: None,
            zero_copy: None,
            ring: None,
        })
    }

    /// Sends `range` of the contents, without holes.
    pub(super) fn run(
        &mut self,
        flow: &mut Flow<'_>,
        contents: &mut Contents<'_>,
        range: Range<u64>,
    ) -> Outcome {
        let buffer = self.buffer.as_mut_slice();
        match contents {
            // Searching a small range for holes costs more than sending it.
            Contents::File(file) if is_small(&range) => send_read(buffer, flow, file, range),
            Contents::File(file) => {
                let mut offset = range.start;
                while let Some((start, end)) = next_data(file, offset, range.end)? {
                    self.send_range(flow, file, start..end)?;
                    offset = end;
                }
                Ok(())
            }
            Contents::Stream(stream) => send_stream(buffer, flow, stream),
            Contents::Memory(bytes) => {
                let bytes = &bytes[range.start as usize..range.end as usize];
                for (offset, block) in (range.start..).step_by(BLOCK).zip(bytes.chunks(BLOCK)) {
                    let end = offset + block.len() as u64;
                    flow.send_of(offset, block, range.end - end)?;
                }
                Ok(())
            }
            Contents::Blocks(blocks) => {
                blocks.try_for_each(|(offset, block)| flow.send_of(offset, block, 0))
            }
            Contents::Scattered {
                file,
                block,
                offsets,
            } => {
                let block = &mut buffer[..(*block).min(BLOCK)];
                offsets.try_for_each(|offset| {
                    let count = read_at(file, block, offset)?;
                    flow.send(offset, &mut block[..count], 0)
                })
            }
            Contents::Zeros => {
                buffer.fill(0);
                for offset in range.clone().step_by(BLOCK) {
                    let left = range.end - offset;
                    let len = left.min(BLOCK as u64);
                    // Sealing in place would overwrite the zeros, which are reused.
                    flow.send_of(offset, &buffer[..len as usize], left - len)?;
                }
                Ok(())
            }
        }
    }

    /// Sends a range of a file, which has no holes, by the method.
    fn send_range(&mut self, flow: &mut Flow<'_>, file: &File, range: Range<u64>) -> Outcome {
        let buffer = self.buffer.as_mut_slice();
        match self.method {
            SendMethod::File => send_read(buffer, flow, file, range),
            SendMethod::Mmap => send_mapped(flow, file, range),
            // The data between two holes may be small as well.
            _ if is_small(&range) => send_read(buffer, flow, file, range),
            SendMethod::SendFile => send_in_kernel(buffer, None, flow, file, range),
            SendMethod::Splice => {
                let mut conduit = match self.conduit.take() {
                    Some(conduit) => conduit,
                    None => Conduit::new(BLOCK)?,
                };
                send_in_kernel(buffer, Some(&mut conduit), flow, file, range)?;
                // After an error, the pipe may hold unwanted bytes; dropping it discards them.
                self.conduit = Some(conduit);
                Ok(())
            }
            SendMethod::ZeroCopy => {
                let socket = &flow.outlet.line.socket;
                let made = || ZeroCopy::new(socket, BUFFERS, BLOCK);
                let buffers = match &mut self.zero_copy {
                    Some(buffers) => buffers,
                    none => none.insert(made().map_err(Error::system("send without a copy"))?),
                };
                send_zero_copy(buffers, flow, file, range)
            }
            SendMethod::Uring => {
                let mut ring = match self.ring.take() {
                    Some(ring) => ring,
                    None => uring::Ring::new()?,
                };
                ring.send(flow, file, range)?;
                // After an error, the ring may hold unwanted blocks; dropping it discards them.
                self.ring = Some(ring);
                Ok(())
            }
        }
    }
}

/// True if the range is small enough to be read and sent in one call with its announcement.
fn is_small(range: &Range<u64>) -> bool {
    range.end - range.start < BLOCK as u64 / 16
}

fn send_stream(buffer: &mut [u8], flow: &mut Flow<'_>, stream: &File) -> Outcome {
    loop {
        let count = fill(buffer, flow, stream)?;
        if count == 0 {
            return Ok(());
        }
        flow.send(flow.expected, &mut buffer[..count], 0)?;
    }
}

/// Reads until the buffer is full or the stream ends; returns the number of bytes. Checks the stop
/// flag while waiting.
fn fill(buffer: &mut [u8], flow: &Flow<'_>, mut stream: &File) -> Outcome<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        while !wait_readable(stream, TICK)? {
            if flow.outlet.line.patience.shall_stop() {
                return Err(Stopped::Lost(Error::Interrupted));
            }
        }
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            // Another process may have read the available bytes.
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

/// The source of a file's bytes.
pub enum Contents<'c> {
    /// A regular file.
    File(&'c File),
    /// A pipe, a terminal or a device: anything that can only be read from start to end.
    Stream(&'c File),
    /// Bytes in memory, such as a mapped file that is sent repeatedly.
    Memory(&'c [u8]),
    /// Blocks of bytes in memory, each with its offset in the file, in sending order.
    Blocks(&'c mut dyn Iterator<Item = (u64, &'c [u8])>),
    /// Blocks of equal length from a file, read at the given offsets in the given order.
    Scattered {
        /// The file.
        file: &'c File,
        /// Length of each block in bytes, at most 256 KiB.
        block: usize,
        /// Offsets of the blocks.
        offsets: &'c mut dyn Iterator<Item = u64>,
    },
    /// Zero bytes, as many as were announced.
    Zeros,
}
