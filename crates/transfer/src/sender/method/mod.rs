//! The methods of sending a range of a file.

pub(super) mod uring;

use crate::connection::Outlet;
use crate::cover::Cover;
use crate::error::Error;
use crate::method::BLOCK;
use crate::protocol::{FOLLOWING, Header, LONGEST_BARE};
use platform::block_io::read_at;
use platform::file::{Access, LockedFile};
use platform::memory::{Advice, FileMapping};
use platform::socket::{Conduit, ZeroCopy, send_file};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Zeros that replace bytes that were announced but no longer exist.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The reason why a file was not sent completely.
pub(super) enum Stopped {
    /// The file could not be read, or changed.
    Source(String),
    /// The receiver refused the rest.
    Refused,
    /// The connection failed.
    Lost(Error),
}

impl Stopped {
    /// The file ended before its announced size.
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

/// A file while it is sent.
pub(super) struct Flow<'f> {
    pub(super) outlet: &'f mut Outlet,
    /// Offset of the next byte if none is skipped.
    pub(super) expected: u64,
    /// Returns true while the receiver still wants the file.
    pub(super) is_wanted: &'f dyn Fn() -> bool,
    pub(super) progress: &'f AtomicU64,
}

impl Flow<'_> {
    /// Accounts for `len` bytes at `offset`, immediately followed by `rest` more; returns their
    /// header.
    pub(super) fn begin(&mut self, offset: u64, len: usize, rest: u64) -> Outcome<Header> {
        if self.outlet.line.patience.shall_stop() {
            return Err(Stopped::Lost(Error::Interrupted));
        }
        if !(self.is_wanted)() {
            return Err(Stopped::Refused);
        }
        self.expected = offset + len as u64;
        self.progress.fetch_add(len as u64, Ordering::Relaxed);
        Ok(Header::data(offset, len as u32, rest >= FOLLOWING as u64))
    }

    /// Sends bytes that `rest` more immediately follow. Sealing encrypts them in place.
    pub(super) fn send(&mut self, offset: u64, bytes: &mut [u8], rest: u64) -> Outcome {
        let header = self.begin(offset, bytes.len(), rest)?;
        Ok(self.outlet.data(header, bytes)?)
    }

    /// Like [`Flow::send`], but leaves the bytes unchanged.
    pub(super) fn send_of(&mut self, offset: u64, bytes: &[u8], rest: u64) -> Outcome {
        let header = self.begin(offset, bytes.len(), rest)?;
        Ok(self.outlet.data_of(header, bytes)?)
    }

    /// Sends zeros in place of bytes that were announced but no longer exist.
    pub(super) fn pad(&mut self, mut len: usize) -> Outcome {
        while len > 0 {
            let step = &ZEROS[..len.min(ZEROS.len())];
            len -= self
                .outlet
                .send(|mut socket| io::Write::write(&mut socket, step))?;
        }
        Ok(())
    }
}

/// Sends a range of a file through `buffer`.
pub(super) fn send_read(
    buffer: &mut [u8],
    flow: &mut Flow<'_>,
    file: &File,
    range: Range<u64>,
) -> Outcome {
    let mut offset = range.start;
    while offset < range.end {
        let wanted = (range.end - offset).min(buffer.len() as u64) as usize;
        let count = read_at(file, &mut buffer[..wanted], offset)?;
        if count == 0 {
            return Err(Stopped::cut_short());
        }
        let end = offset + count as u64;
        flow.send(offset, &mut buffer[..count], range.end - end)?;
        offset = end;
    }
    Ok(())
}

/// Bytes to map at a time, so that a large file takes no more memory than this.
const WINDOW: u64 = 16 << 20;

/// Sends a range from successive windows of the mapped file.
pub(super) fn send_mapped(flow: &mut Flow<'_>, file: &File, range: Range<u64>) -> Outcome {
    let mut locked = LockedFile::lock(file.try_clone()?, Access::Read)?;
    let mut offset = range.start;
    while offset < range.end {
        // A window must begin at a page boundary.
        let window = offset / WINDOW * WINDOW;
        let end = range.end.min(window + WINDOW);
        let mut mapping = FileMapping::new(&mut locked, window, (end - window) as usize)?;
        // Only a hint, which some systems do not take.
        drop(mapping.advise(Advice::Sequential));
        for block in mapping.as_slice()[(offset - window) as usize..].chunks(BLOCK) {
            let block_end = offset + block.len() as u64;
            flow.send_of(offset, block, range.end - block_end)?;
            offset = block_end;
        }
        mapping.ensure_whole()?;
    }
    Ok(())
}

/// Sends a range of a file, by `splice` if there is a pipe, else by `sendfile`. For a checksum, each block is first read
/// into `buffer`.
pub(super) fn send_in_kernel(
    buffer: &mut [u8],
    mut conduit: Option<&mut Conduit>,
    flow: &mut Flow<'_>,
    file: &File,
    range: Range<u64>,
) -> Outcome {
    let is_bare = flow.outlet.contents() == Cover::Bare;
    let mut offset = range.start;
    while offset < range.end {
        let left = range.end - offset;
        let (summed, len) = if is_bare {
            (0, left.min(LONGEST_BARE.into()) as usize)
        } else {
            let wanted = left.min(buffer.len() as u64) as usize;
            match read_at(file, &mut buffer[..wanted], offset)? {
                0 => return Err(Stopped::cut_short()),
                count => (count, count),
            }
        };
        let header = flow.begin(offset, len, left - len as u64)?;
        flow.outlet.begin_data(header)?;
        let mut sent = 0;
        while sent < len {
            let (at, rest) = (offset + sent as u64, len - sent);
            let count = match &mut conduit {
                None => flow
                    .outlet
                    .send(|socket| send_file(socket, file, at, rest))?,
                Some(conduit) => flow
                    .outlet
                    .send_retrying(|socket, retry| conduit.send(file, at, socket, rest, retry))?,
            };
            if count == 0 {
                // The frame keeps its announced length, so that the connection stays usable for the
                // failure report.
                flow.pad(rest)?;
                buffer[sent.min(summed)..summed].fill(0);
                let check = flow.outlet.sum_data(&buffer[..summed]);
                flow.outlet.end_data(check);
                return Err(Stopped::cut_short());
            }
            sent += count;
        }
        let check = flow.outlet.sum_data(&buffer[..summed]);
        flow.outlet.end_data(check);
        offset += len as u64;
    }
    Ok(())
}

/// Sends a range of a file from the buffers.
pub(super) fn send_zero_copy(
    buffers: &mut ZeroCopy,
    flow: &mut Flow<'_>,
    file: &File,
    range: Range<u64>,
) -> Outcome {
    let mut offset = range.start;
    while offset < range.end {
        let wanted = (range.end - offset).min(BLOCK as u64) as usize;
        flow.outlet.send_retrying(|socket, retry| {
            while let Err(error) = buffers.advance(socket) {
                retry(error)?;
            }
            Ok(0)
        })?;
        let count = read_at(file, &mut buffers.buffer()[..wanted], offset)?;
        if count == 0 {
            return Err(Stopped::cut_short());
        }
        let end = offset + count as u64;
        let header = flow.begin(offset, count, range.end - end)?;
        flow.outlet.begin_data(header)?;
        let check = flow.outlet.sum_data(&buffers.buffer()[..count]);
        flow.outlet
            .send_retrying(|socket, retry| buffers.send(socket, count, retry).map(|()| count))?;
        flow.outlet.end_data(check);
        offset = end;
    }
    Ok(())
}
