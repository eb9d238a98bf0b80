//! Moving bytes from a file into a connection, in each of the methods.

use super::contents::Contents;
use super::ring::Ring;
use crate::buffer::{self, BLOCK};
use crate::connection::{Outlet, TICK};
use crate::digest::Digest;
use crate::error::{Error, is_passing};
use crate::method::SendMethod;
use crate::protocol::Frame;
use platform::block_io::{read_at, wait_readable};
use platform::file::{Access, LockedFile, next_data};
use platform::memory::{Advice, FileMapping, Mapping};
use platform::socket::{Conduit, ZeroCopy, send_file};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are mapped at a time, so that a large file takes no more memory than this.
const WINDOW: u64 = 16 << 20;
/// Buffers that may be on their way at a time without a copy.
const ZERO_COPY_BUFFERS: usize = 8;
/// Zeros that take the place of bytes that were promised and are gone.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Why a file was not sent to its end.
pub(super) enum Stopped {
    /// It could not be read, or changed.
    Source(String),
    /// The receiver does not want the rest.
    Refused,
    /// The connection is of no more use.
    Lost(Error),
}

impl Stopped {
    /// The file ended where more of it was to come.
    pub(super) fn cut_short() -> Self {
        Self::Source("it became shorter while it was sent".into())
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Lost(error)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Source(error.to_string())
    }
}

impl From<platform::Error> for Stopped {
    fn from(error: platform::Error) -> Self {
        Self::Source(error.to_string())
    }
}

pub(super) type Outcome<T = ()> = Result<T, Stopped>;

/// A file on its way.
pub(super) struct Flow<'f> {
    pub(super) outlet: &'f mut Outlet,
    pub(super) digest: Digest,
    /// Where the next byte goes if nothing is left out.
    pub(super) expected: u64,
    /// Whether the receiver still wants it.
    pub(super) is_wanted: &'f dyn Fn() -> bool,
    pub(super) progress: &'f AtomicU64,
}

impl Flow<'_> {
    /// Says that `len` bytes for `offset` follow.
    fn announce(&mut self, offset: u64, len: usize) -> Outcome {
        let len = self.begin(offset, len)?;
        Ok(self.outlet.frame(&Frame::Data { offset, len })?)
    }

    /// Takes note that `len` bytes for `offset` follow.
    pub(super) fn begin(&mut self, offset: u64, len: usize) -> Outcome<u32> {
        if self.outlet.shall_stop() {
            return Err(Stopped::Lost(Error::Interrupted));
        }
        if !(self.is_wanted)() {
            return Err(Stopped::Refused);
        }
        if offset != self.expected {
            self.digest.jump(offset);
        }
        self.expected = offset + len as u64;
        self.progress.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len as u32)
    }

    /// Reads until the buffer is full or the stream ends; returns how many bytes came. While nothing
    /// comes, a wish to stop is heard.
    fn fill(&self, buffer: &mut [u8], mut stream: &File) -> Outcome<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            while !wait_readable(stream, TICK)? {
                if self.outlet.shall_stop() {
                    return Err(Stopped::Lost(Error::Interrupted));
                }
            }
            match stream.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                // Somebody else may have read what was there.
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(filled)
    }

    fn send(&mut self, offset: u64, bytes: &[u8]) -> Outcome {
        self.announce(offset, bytes.len())?;
        self.digest.update(bytes);
        Ok(self.outlet.bytes(bytes)?)
    }

    /// Makes up for bytes that were promised and are gone.
    fn pad(&mut self, mut len: usize) -> Outcome {
        while len > 0 {
            let step = len.min(ZEROS.len());
            self.outlet.bytes(&ZEROS[..step])?;
            len -= step;
        }
        Err(Stopped::cut_short())
    }
}

/// What a method needs to have at hand, kept from file to file.
pub(super) struct Pump {
    method: SendMethod,
    buffer: Mapping,
    conduit: Option<Conduit>,
    zero_copy: Option<ZeroCopy>,
    ring: Option<Ring>,
}

impl Pump {
    pub(super) fn new(method: SendMethod) -> Result<Self, Error> {
        Ok(Self {
            method,
            buffer: buffer::block()?,
            conduit: None,
            zero_copy: None,
            ring: None,
        })
    }

    /// Sends `range` of what there is, holes left out.
    pub(super) fn run(
        &mut self,
        flow: &mut Flow<'_>,
        contents: &mut Contents<'_>,
        range: Range<u64>,
    ) -> Outcome {
        match contents {
            // Holes in it are not worth looking for.
            Contents::File(file) if is_small(&range) => self.read(flow, file, range),
            Contents::File(file) => {
                let mut offset = range.start;
                while let Some((start, end)) = next_data(file, offset, range.end)? {
                    self.file(flow, file, start..end)?;
                    offset = end;
                }
                Ok(())
            }
            Contents::Stream(stream) => self.stream(flow, stream),
            Contents::Memory(bytes) => {
                let bytes = &bytes[range.start as usize..range.end as usize];
                let mut offset = range.start;
                for block in bytes.chunks(BLOCK) {
                    flow.send(offset, block)?;
                    offset += block.len() as u64;
                }
                Ok(())
            }
            Contents::Blocks(blocks) => {
                blocks.try_for_each(|(offset, block)| flow.send(offset, block))
            }
            Contents::Scattered {
                file,
                block,
                offsets,
            } => {
                let block = &mut self.buffer.as_mut_slice()[..(*block).min(BLOCK)];
                offsets.try_for_each(|offset| {
                    let count = read_at(file, block, offset)?;
                    flow.send(offset, &block[..count])
                })
            }
            Contents::Zeros(_) => {
                self.buffer.as_mut_slice().fill(0);
                for offset in range.clone().step_by(BLOCK) {
                    let len = (range.end - offset).min(BLOCK as u64) as usize;
                    flow.send(offset, &self.buffer.as_slice()[..len])?;
                }
                Ok(())
            }
        }
    }

    fn file(&mut self, flow: &mut Flow<'_>, file: &File, range: Range<u64>) -> Outcome {
        match self.method {
            SendMethod::File => self.read(flow, file, range),
            SendMethod::Mmap => mapped(flow, file, range),
            // What is left of a file between holes may be small as well.
            _ if is_small(&range) => self.read(flow, file, range),
            SendMethod::SendFile => self.in_kernel(flow, file, range, false),
            SendMethod::Splice => self.in_kernel(flow, file, range, true),
            SendMethod::ZeroCopy => self.zero_copy(flow, file, range),
            SendMethod::Uring => {
                let mut ring = match self.ring.take() {
                    Some(ring) => ring,
                    None => Ring::new()?,
                };
                ring.send(flow, file, range)?;
                // After an error it may hold blocks that nobody wants, and is dropped with them.
                self.ring = Some(ring);
                Ok(())
            }
        }
    }

    fn read(&mut self, flow: &mut Flow<'_>, file: &File, range: Range<u64>) -> Outcome {
        let mut offset = range.start;
        while offset < range.end {
            let wanted = (range.end - offset).min(BLOCK as u64) as usize;
            let count = read_at(file, &mut self.buffer.as_mut_slice()[..wanted], offset)?;
            if count == 0 {
                return Err(Stopped::cut_short());
            }
            flow.send(offset, &self.buffer.as_slice()[..count])?;
            offset += count as u64;
        }
        Ok(())
    }

    fn stream(&mut self, flow: &mut Flow<'_>, stream: &File) -> Outcome {
        loop {
            let count = flow.fill(self.buffer.as_mut_slice(), stream)?;
            if count == 0 {
                return Ok(());
            }
            flow.send(flow.expected, &self.buffer.as_slice()[..count])?;
        }
    }

    /// The kernel sends each block after it was read for its checksum.
    fn in_kernel(
        &mut self,
        flow: &mut Flow<'_>,
        file: &File,
        range: Range<u64>,
        through_pipe: bool,
    ) -> Outcome {
        let conduit = match &mut self.conduit {
            Some(conduit) => conduit,
            none => none.insert(Conduit::new(BLOCK)?),
        };
        let mut offset = range.start;
        while offset < range.end {
            let wanted = (range.end - offset).min(BLOCK as u64) as usize;
            let len = match &flow.digest {
                Digest::None => wanted,
                _ => read_at(file, &mut self.buffer.as_mut_slice()[..wanted], offset)?,
            };
            if len == 0 {
                return Err(Stopped::cut_short());
            }
            flow.announce(offset, len)?;
            flow.digest.update(&self.buffer.as_slice()[..len]);
            flow.outlet.flush_for_more()?;
            let mut left = len;
            while left > 0 {
                let sent = if through_pipe {
                    flow.outlet.send_retrying(|socket, retry| {
                        conduit.send(file, offset, socket, left, retry)
                    })?
                } else {
                    flow.outlet
                        .send(|socket| send_file(socket, file, offset, left))?
                };
                if sent == 0 {
                    return flow.pad(left);
                }
                left -= sent;
                offset += sent as u64;
            }
        }
        Ok(())
    }

    fn zero_copy(&mut self, flow: &mut Flow<'_>, file: &File, range: Range<u64>) -> Outcome {
        let ring = match &mut self.zero_copy {
            Some(ring) => ring,
            none => {
                let ring = ZeroCopy::new(flow.outlet.socket(), ZERO_COPY_BUFFERS, BLOCK);
                none.insert(ring.map_err(Error::system("send without a copy"))?)
            }
        };
        let mut offset = range.start;
        while offset < range.end {
            let wanted = (range.end - offset).min(BLOCK as u64) as usize;
            flow.outlet.send_retrying(|socket, retry| {
                while let Err(error) = ring.advance(socket) {
                    retry(error)?;
                }
                Ok(0)
            })?;
            let count = read_at(file, &mut ring.buffer()[..wanted], offset)?;
            if count == 0 {
                return Err(Stopped::cut_short());
            }
            flow.announce(offset, count)?;
            flow.digest.update(&ring.buffer()[..count]);
            flow.outlet.flush_for_more()?;
            flow.outlet
                .send_retrying(|socket, retry| ring.send(socket, count, retry).map(|()| count))?;
            offset += count as u64;
        }
        Ok(())
    }
}

/// Whether so little is read and sent together with what is said of it, in one call.
fn is_small(range: &Range<u64>) -> bool {
    range.end - range.start < BLOCK as u64 / 8
}

/// Sends a range out of windows of the mapped file.
fn mapped(flow: &mut Flow<'_>, file: &File, range: Range<u64>) -> Outcome {
    let mut locked = LockedFile::lock(file.try_clone()?, Access::Read)?;
    let mut offset = range.start;
    while offset < range.end {
        // Windows begin where pages do.
        let window = offset / WINDOW * WINDOW;
        let end = range.end.min(window + WINDOW);
        let mut mapping = FileMapping::new(&mut locked, window, (end - window) as usize)?;
        mapping.advise(Advice::Sequential)?;
        for block in mapping.as_slice()[(offset - window) as usize..].chunks(BLOCK) {
            flow.send(offset, block)?;
            offset += block.len() as u64;
        }
        mapping.ensure_whole()?;
    }
    Ok(())
}
