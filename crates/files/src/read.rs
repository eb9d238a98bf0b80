//! Reads the blocks of a lane by each method.

use crate::lane::Lane;
use crate::memory::{ensure_fits, ensure_sane};
use crate::{Error, Method, Result, Source, Watch};
use platform::block_io::{read_at, wait_readable};
use platform::file::{Access, LockedFile};
use platform::memory::{FileMapping, Mapping, PageSize};
use platform::ring::{ReadRing, RingOptions};
use platform::stdio::{Buffering, Stream};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

/// Queue depth of a ring.
const RING_DEPTH: u32 = 8;
/// Time to wait for a pipe between two checks of the stop flag.
const PATIENCE: Duration = Duration::from_millis(50);
/// Alignment of a mapping's offset and of direct reads: the largest page size of common systems, and a
/// multiple of all sectors.
const PAGE_BYTES: u64 = 65_536;

/// Reads the blocks of `lane` and passes each to `visit`, with its offset. The blocks come in
/// order, except from rings, which pass them in the order of completion. The first error of `visit`
/// ends the work.
///
/// # Errors
/// If a block cannot be read completely, because the file was truncated or the system refuses; if
/// the blocks need too much memory; if `watch` stops the work; those of `visit`.
pub fn read(
    source: &Source,
    method: Method,
    lane: &Lane,
    watch: &Watch<'_>,
    visit: impl FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = buffer_for(method, lane)?;
    read_into(&mut buffer, source, method, lane, watch, visit)
}

/// The buffer for [`read_into`].
pub(crate) fn buffer_for(method: Method, lane: &Lane) -> Result<Mapping> {
    let len = lane.end.saturating_sub(lane.start);
    ensure_fits(lane.block_bytes, Some(len), buffers(method))?;
    match method {
        // These methods have buffers of their own.
        Method::Mmap | Method::Uring | Method::DirectUring => populated(1),
        Method::Read | Method::Pread | Method::Stdio | Method::Direct => {
            populated(asked_bytes(method, lane, lane.longest_block()).max(1))
        }
    }
}

/// Maximum number of buffers that one thread uses at once.
pub(crate) const fn buffers(method: Method) -> u64 {
    match method {
        Method::Mmap => 0,
        Method::Uring | Method::DirectUring => RING_DEPTH as u64,
        Method::Read | Method::Pread | Method::Stdio | Method::Direct => 1,
    }
}

/// The length of a call that reads a block of `len` bytes. Direct reads need whole sectors, also at the
/// end of the file.
fn asked_bytes(method: Method, lane: &Lane, len: usize) -> usize {
    if method.is_direct() {
        lane.block_bytes
            .min(len.next_multiple_of(PAGE_BYTES as usize))
    } else {
        len
    }
}

/// As [`read()`], into a buffer that exists already.
pub(crate) fn read_into(
    buffer: &mut Mapping,
    source: &Source,
    method: Method,
    lane: &Lane,
    watch: &Watch<'_>,
    visit: impl FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    ensure_sane(lane.block_bytes)?;
    source.required_size()?;
    if method.is_direct() {
        source.ensure_aligned(lane.block_bytes as u64)?;
        source.ensure_aligned(lane.start)?;
    }
    let reader = Reader {
        source,
        method,
        lane,
        buffer: buffer.as_mut_slice(),
        watch,
        visit,
    };
    match method {
        Method::Read => reader.by_read(),
        Method::Pread => reader.by_pread(source.file()),
        Method::Stdio => reader.by_stdio(),
        Method::Mmap => reader.by_mmap(),
        Method::Uring => reader.by_ring(source.file()),
        Method::Direct => {
            let file = source.reopen(method)?;
            reader.by_pread(&file)
        }
        Method::DirectUring => {
            let file = source.reopen(method)?;
            reader.by_ring(&file)
        }
    }
}

/// Reads from the file's position to its end, in blocks of up to `block_bytes`, and passes each
/// block to `visit`, whose first error ends the work. Returns the number of bytes. For pipes and
/// devices.
///
/// # Errors
/// If the system refuses; if the block needs too much memory; if `watch` stops the work; those of
/// `visit`.
pub fn read_stream(
    source: &Source,
    block_bytes: usize,
    watch: &Watch<'_>,
    visit: impl FnMut(u64, &[u8]) -> Result<()>,
) -> Result<u64> {
    let mut buffer = stream_buffer(block_bytes, source.size())?;
    read_stream_into(&mut buffer, source, u64::MAX, watch, visit)
}

/// The buffer for [`read_stream_into`], of at most `len` bytes if the length is known.
pub(crate) fn stream_buffer(block_bytes: usize, len: Option<u64>) -> Result<Mapping> {
    ensure_fits(block_bytes, len, 1)?;
    let bytes = len.map_or(block_bytes, |len| len.min(block_bytes as u64) as usize);
    populated(bytes.max(1))
}

/// As [`read_stream`], with blocks of the size of `buffer`, up to `limit_bytes` in total.
pub(crate) fn read_stream_into(
    buffer: &mut Mapping,
    source: &Source,
    limit_bytes: u64,
    watch: &Watch<'_>,
    mut visit: impl FnMut(u64, &[u8]) -> Result<()>,
) -> Result<u64> {
    let block_bytes = buffer.len();
    let refused = Error::on(source.path());
    let mut offset = 0;
    loop {
        // A blocking read could not be stopped while no data arrives.
        while !source.is_regular() && !wait_readable(source.file(), PATIENCE).map_err(&refused)? {
            watch.pass(0)?;
        }
        let asked = (limit_bytes - offset).min(block_bytes as u64) as usize;
        match source.file().read(&mut buffer.as_mut_slice()[..asked]) {
            Ok(0) => return Ok(offset),
            Ok(count) => {
                visit(offset, &buffer.as_slice()[..count])?;
                offset += count as u64;
                watch.pass(count as u64)?;
            }
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock
                ) =>
            {
                watch.pass(0)?;
            }
            Err(error) => return Err(Error::io(source.path(), "read a file")(error)),
        }
    }
}

/// A buffer whose pages are allocated, so that reads do not fault.
fn populated(bytes: usize) -> Result<Mapping> {
    let mut buffer = Mapping::anonymous(bytes, PageSize::Base)?;
    buffer.populate()?;
    Ok(buffer)
}

struct Reader<'a, V> {
    source: &'a Source,
    method: Method,
    lane: &'a Lane,
    buffer: &'a mut [u8],
    watch: &'a Watch<'a>,
    visit: V,
}

impl<V: FnMut(u64, &[u8]) -> Result<()>> Reader<'_, V> {
    fn by_read(mut self) -> Result<()> {
        let mut file = self.source.reopen(self.method)?;
        let seek = |file: &mut File, offset| file.seek(SeekFrom::Start(offset)).map(drop);
        let refused = Error::io(self.source.path(), "read a file");
        seek(&mut file, self.lane.start).map_err(&refused)?;
        for (offset, len) in self.lane.blocks() {
            if !self.lane.is_gapless() {
                seek(&mut file, offset).map_err(&refused)?;
            }
            self.fill(offset, 0, len, |rest, _| file.read(rest).map_err(&refused))?;
        }
        Ok(())
    }

    fn by_pread(mut self, file: &File) -> Result<()> {
        let refused = Error::on(self.source.path());
        let is_direct = self.method.is_direct();
        for (offset, len) in self.lane.blocks() {
            let asked = asked_bytes(self.method, self.lane, len);
            let count = read_at(file, &mut self.buffer[..asked], offset).map_err(&refused)?;
            if is_direct && count < len {
                return Err(self.source.changed("cut short"));
            }
            self.fill(offset, count.min(len), len, |rest, at| {
                read_at(file, rest, at).map_err(&refused)
            })?;
        }
        Ok(())
    }

    fn by_stdio(mut self) -> Result<()> {
        let file = self.source.reopen(self.method)?;
        let mut stream = Stream::over(file, Buffering::Default)?;
        let refused = Error::on(self.source.path());
        stream.seek(self.lane.start).map_err(&refused)?;
        for (offset, len) in self.lane.blocks() {
            if !self.lane.is_gapless() {
                stream.seek(offset).map_err(&refused)?;
            }
            self.fill(offset, 0, len, |rest, _| {
                stream.read(rest).map_err(&refused)
            })?;
        }
        Ok(())
    }

    fn by_mmap(mut self) -> Result<()> {
        let refused = Error::on(self.source.path());
        let file = self.source.reopen(self.method)?;
        let mut file = LockedFile::lock(file, Access::Read).map_err(&refused)?;
        for (offset, len) in self.lane.blocks() {
            let before = offset % PAGE_BYTES;
            let mapped = before as usize + len;
            let mapping = FileMapping::new(&mut file, offset - before, mapped).map_err(&refused)?;
            let block = &mapping.as_slice()[before as usize..];
            let visited = (self.visit)(offset, block);
            if mapping.ensure_whole().is_err() {
                return Err(self.source.changed("cut short"));
            }
            if visited.is_err() {
                // A system call that is given lost pages fails without a signal.
                self.source.ensure_unchanged()?;
            }
            visited?;
            self.watch.pass(len as u64)?;
        }
        Ok(())
    }

    fn by_ring(mut self, file: &File) -> Result<()> {
        let longest = asked_bytes(self.method, self.lane, self.lane.longest_block());
        let options = RingOptions {
            depth: self.lane.blocks().take(RING_DEPTH as usize).count().max(1) as u32,
            block_bytes: longest.max(1),
            registered_buffers: false,
            registered_file: true,
        };
        let mut ring = ReadRing::new(file, &options)?;
        let mut blocks = self.lane.blocks().peekable();
        while blocks.peek().is_some() || ring.in_flight() > 0 {
            while ring.has_room()
                && let Some((offset, len)) = blocks.next()
            {
                ring.queue(offset, asked_bytes(self.method, self.lane, len));
            }
            ring.submit(1)?;
            while let Some(done) = ring.take() {
                let len = (self.lane.end - done.offset).min(self.lane.block_bytes as u64) as usize;
                let bytes = done
                    .bytes
                    .map_err(Error::io(self.source.path(), "read a file"))?;
                match bytes.get(..len) {
                    Some(block) => {
                        (self.visit)(done.offset, block)?;
                        self.watch.pass(len as u64)?;
                    }
                    None => return Err(self.source.changed("cut short")),
                }
            }
        }
        Ok(())
    }

    /// Reads until the block holds `len` bytes (`filled` of them are there already), then passes it
    /// on.
    fn fill(
        &mut self,
        offset: u64,
        mut filled: usize,
        len: usize,
        mut read: impl FnMut(&mut [u8], u64) -> Result<usize>,
    ) -> Result<()> {
        while filled < len {
            match read(&mut self.buffer[filled..len], offset + filled as u64)? {
                0 => return Err(self.source.changed("cut short")),
                count => filled += count,
            }
        }
        (self.visit)(offset, &self.buffer[..len])?;
        self.watch.pass(len as u64)
    }
}
