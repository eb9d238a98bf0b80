//! Copies a file by each method.

use crate::dd::Dd;
use crate::lane::Lane;
use crate::memory::{ensure_fits, ensure_sane};
use crate::partial::{Partial, names_standard_output, part_file};
use crate::read::{buffers, read, read_stream, read_stream_into, stream_buffer};
use crate::{Error, Method, Result, Source, Watch, timed};
use choice::Choice;
use platform::block_io::{copy_range, share_blocks, write_at};
use platform::file::{OpenMode, allow_holes, create_new, is_at, is_same_file, next_data};
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::path::Path;
use tempfile::NamedTempFile;

/// Rounds of a comparison: the minimum for a median and a spread.
const ROUNDS: usize = 5;

/// A method of copying a file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyMethod {
    /// `read` and `write`, block by block.
    #[choice("read-write")]
    ReadWrite,
    /// `copy_file_range`: the copy stays within the kernel.
    #[choice("copy-file-range")]
    CopyFileRange,
    /// The source is mapped, and written block by block.
    Mmap,
    /// `io_uring`, on Windows overlapped reads: several blocks are read concurrently, and each is written when its
    /// read completes.
    Uring,
    /// Both files share their blocks until one changes (`FICLONE`): nothing is copied.
    Reflink,
}

impl CopyMethod {
    /// The size of its blocks, unless another is asked for, in bytes. The kernel copies large ranges
    /// at once. What a program writes to a new file goes in blocks far below 1 MiB, from which on
    /// some systems are several times slower.
    pub const fn usual_block_bytes(self) -> usize {
        match self {
            Self::CopyFileRange | Self::Reflink => 8 << 20,
            Self::ReadWrite | Self::Mmap | Self::Uring => 128 << 10,
        }
    }

    /// Maximum number of its buffers.
    const fn buffers(self) -> u64 {
        match self {
            Self::ReadWrite => buffers(Method::Read),
            Self::Mmap => buffers(Method::Mmap),
            Self::Uring => buffers(Method::Uring),
            Self::CopyFileRange | Self::Reflink => 0,
        }
    }

    /// True if the program itself writes the blocks.
    pub const fn writes(self) -> bool {
        matches!(self, Self::ReadWrite | Self::Mmap | Self::Uring)
    }
}

/// Options of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOptions {
    /// The method; `None` for the best that both files allow: [`CopyMethod::Reflink`], else
    /// [`CopyMethod::CopyFileRange`], else [`CopyMethod::ReadWrite`].
    pub method: Option<CopyMethod>,
    /// Size of a block, in bytes; `None` for that of
    /// [`usual_block_bytes`](CopyMethod::usual_block_bytes).
    pub block_bytes: Option<usize>,
    /// True if an existing target may be overwritten.
    pub force: bool,
}

/// A finished copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Number of bytes, those of holes included.
    pub bytes: u64,
    /// Number of bytes in holes, which were not copied.
    pub hole_bytes: u64,
    /// The method that copied.
    pub method: CopyMethod,
    /// The size of its blocks.
    pub block_bytes: usize,
}

impl Copied {
    /// Number of bytes that were copied: none of holes, and none of shared blocks.
    pub fn moved_bytes(&self) -> u64 {
        match self.method {
            CopyMethod::Reflink => 0,
            _ => self.bytes - self.hole_bytes,
        }
    }
}

/// Copies `source` to `target`. A hole of the source becomes a hole of a target that is a new file.
/// The copy does not wait for the device.
///
/// # Errors
/// If the target exists and may not be overwritten, the source changes during the copy, the blocks need
/// too much memory, or the system refuses. No partial target is left then.
pub fn copy(
    source: &Source,
    target: &Path,
    options: &CopyOptions,
    watch: &Watch<'_>,
) -> Result<Copied> {
    let same = || Error::SameFile(source.path().to_owned(), target.to_owned());
    if !names_standard_output(target) && is_at(source.file(), target) {
        return Err(same());
    }
    let fallback = options.method.unwrap_or(CopyMethod::ReadWrite);
    let block_bytes = options.block_bytes.unwrap_or(fallback.usual_block_bytes());
    ensure_fits(block_bytes, source.size(), fallback.buffers())?;
    let partial = Partial::begin(
        target,
        OpenMode::Plain,
        options.force,
        source.model(),
        watch,
    )?;
    // A copy of a file to its own end would never come to an end.
    if source.is_regular() && is_same_file(source.file(), partial.file()) {
        return Err(same());
    }
    let by = |method: CopyMethod| {
        let block_bytes = options.block_bytes.unwrap_or(method.usual_block_bytes());
        let job = Job {
            source,
            target,
            to: &partial,
            block_bytes,
            watch,
            hole_bytes: Cell::new(0),
        };
        let bytes = job.copy(method)?;
        Ok(Copied {
            bytes,
            hole_bytes: job.hole_bytes.get(),
            method,
            block_bytes,
        })
    };
    let copied = match options.method {
        Some(method) => by(method)?,
        None => by_the_best(source, &partial, by)?,
    };
    source.ensure_unchanged()?;
    partial.finish()?;
    Ok(copied)
}

/// Copies by the first of the methods that both files allow.
fn by_the_best(
    source: &Source,
    to: &Partial,
    by: impl Fn(CopyMethod) -> Result<Copied>,
) -> Result<Copied> {
    // Files in /proc have contents that only reading shows.
    if source.size().is_none() {
        return by(CopyMethod::ReadWrite);
    }
    let is_whole = source.path() != Path::new("-");
    if is_whole && to.is_new_file() {
        // If it fails in any way, copying the bytes shows why, or works.
        if let Ok(copied) = by(CopyMethod::Reflink) {
            return Ok(copied);
        }
    }
    match by(CopyMethod::CopyFileRange) {
        Err(error) if is_not_supported(&error) => by(CopyMethod::ReadWrite),
        other => other,
    }
}

fn is_not_supported(error: &Error) -> bool {
    error
        .refusal()
        .is_some_and(platform::Error::is_not_supported)
}

/// Checks that a copy to `target` can be compared: the copies are files in its directory.
///
/// # Errors
/// [`Error::InOrderOnly`] for a pipe or a device.
pub fn ensure_comparable(target: &Path) -> Result<()> {
    let is_stream = fs::metadata(target).is_ok_and(|metadata| !metadata.is_file());
    if names_standard_output(target) || is_stream {
        return Err(Error::InOrderOnly(target.to_owned()));
    }
    Ok(())
}

/// Copies a file several times, alternating between this program and dd, to names next to `target`.
/// Each copy is removed at once. Returns the wall times of each round in ns: first this program's, then dd's by its own
/// clock.
///
/// # Errors
/// As [`copy`], if the target is no regular file, and if dd is missing or fails.
pub fn against_dd(
    from: &Path,
    target: &Path,
    options: &CopyOptions,
    watch: &Watch<'_>,
) -> Result<Vec<(f64, f64)>> {
    ensure_comparable(target)?;
    // dd makes a buffer for a whole block.
    let longest = Source::open(from)?
        .size()
        .map_or(usize::MAX, |size| size.max(1) as usize);
    let place = || {
        let made = part_file(target, |path| create_new(path, OpenMode::Plain));
        made.map(NamedTempFile::into_temp_path)
            .map_err(Error::on(target))
    };
    let copy_by_us = || {
        let source = Source::open(from)?;
        let place = place()?;
        let again = CopyOptions {
            force: true,
            ..*options
        };
        let timed = timed(|| copy(&source, &place, &again, watch))?;
        Ok::<_, Error>(timed.wall_ns as f64)
    };
    let copy_by_dd = || {
        let place = place()?;
        let dd = Dd {
            input: from,
            output: &place,
            block_bytes: options
                .block_bytes
                .unwrap_or(CopyMethod::ReadWrite.usual_block_bytes())
                .min(longest),
            count: None,
            in_place: false,
        };
        Ok::<_, Error>(dd.run(watch)?.wall_ns)
    };
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push((copy_by_us()?, copy_by_dd()?));
        watch.pass(0)?;
    }
    Ok(rounds)
}

struct Job<'a> {
    source: &'a Source,
    target: &'a Path,
    to: &'a Partial,
    block_bytes: usize,
    watch: &'a Watch<'a>,
    hole_bytes: Cell<u64>,
}

impl Job<'_> {
    fn copy(&self, method: CopyMethod) -> Result<u64> {
        match method {
            CopyMethod::ReadWrite => self.by_read_and_write(),
            CopyMethod::CopyFileRange => self.within_the_kernel(),
            CopyMethod::Mmap => self.by_blocks(Method::Mmap),
            CopyMethod::Uring => self.by_blocks(Method::Uring),
            CopyMethod::Reflink => self.by_sharing(),
        }
    }

    fn by_read_and_write(&self) -> Result<u64> {
        let write = |_, block: &[u8]| self.to.write_all(block, self.watch);
        match self.source.size() {
            Some(size) if self.to.is_new_file() => {
                let mut buffer = stream_buffer(self.block_bytes, Some(size))?;
                self.each_extent(self.source.origin()?, size, |len| {
                    let read = read_stream_into(&mut buffer, self.source, len, self.watch, write)?;
                    self.ensure_all(read, len)
                })
            }
            _ => read_stream(self.source, self.block_bytes, self.watch, write),
        }
    }

    fn by_blocks(&self, method: Method) -> Result<u64> {
        let size = self.source.required_size()?;
        let takes_offsets = self.to.takes_offsets();
        // The blocks come in any order.
        if method == Method::Uring && !takes_offsets {
            return Err(Error::InOrderOnly(self.target.to_owned()));
        }
        self.each_range(0, size, |start, end| {
            let lane = Lane::whole(start, end, self.block_bytes);
            read(self.source, method, &lane, self.watch, |offset, block| {
                if takes_offsets {
                    write_at(self.to.file(), block, offset).map_err(Error::on(self.target))
                } else {
                    self.to.write_all(block, self.watch)
                }
            })
        })?;
        Ok(size)
    }

    fn within_the_kernel(&self) -> Result<u64> {
        ensure_sane(self.block_bytes)?;
        match self.source.size() {
            Some(size) if self.to.is_new_file() => {
                self.each_extent(self.source.origin()?, size, |len| {
                    let copied = self.copy_ranges(len)?;
                    self.ensure_all(copied, len)
                })
            }
            _ => self.copy_ranges(u64::MAX),
        }
    }

    /// Copies up to `len` bytes from the current position of one file to that of the other.
    fn copy_ranges(&self, len: u64) -> Result<u64> {
        let mut bytes = 0;
        loop {
            let asked = (len - bytes).min(self.block_bytes as u64) as usize;
            let count = copy_range(self.source.file(), self.to.file(), asked)
                .map_err(Error::between(self.source.path(), self.target))?;
            if count == 0 {
                return Ok(bytes);
            }
            bytes += count as u64;
            self.watch.pass(count as u64)?;
        }
    }

    /// Calls `copy` with the length of each data range of the source, with both files at its start:
    /// offset `origin` of the source is offset 0 of the target. Returns the target's length in
    /// bytes.
    fn each_extent(
        &self,
        origin: u64,
        size: u64,
        mut copy: impl FnMut(u64) -> Result<()>,
    ) -> Result<u64> {
        let go_to = |offset| -> Result<()> {
            Self::seek(self.source.path(), self.source.file(), offset)?;
            Self::seek(self.target, self.to.file(), offset - origin)
        };
        self.each_range(origin, size, |start, end| {
            go_to(start)?;
            copy(end - start)
        })?;
        // A process that shares the file position then sees the whole source as read.
        go_to(size.max(origin))?;
        Ok(size.saturating_sub(origin))
    }

    /// Calls `copy` with each data range of the source. The gaps become holes in a target that is a
    /// new file, and zeros in any other target.
    fn each_range(
        &self,
        origin: u64,
        size: u64,
        mut copy: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        if !self.to.is_new_file() {
            return copy(origin, size);
        }
        let skip = |bytes: u64| {
            if bytes > 0 {
                allow_holes(self.to.file()).map_err(Error::on(self.target))?;
                self.hole_bytes.set(self.hole_bytes.get() + bytes);
            }
            self.watch.pass(bytes)
        };
        let mut copied = origin;
        let refused = Error::io(self.source.path(), "find the data of a file");
        while let Some((start, end)) =
            next_data(self.source.file(), copied, size).map_err(&refused)?
        {
            skip(start - copied)?;
            copy(start, end)?;
            copied = end;
        }
        if copied < size {
            skip(size - copied)?;
            let lengthened = self.to.file().set_len(size - origin);
            lengthened.map_err(Error::io(self.target, "lengthen a file"))?;
        }
        Ok(())
    }

    fn seek(path: &Path, mut file: &File, offset: u64) -> Result<()> {
        let sought = file.seek(SeekFrom::Start(offset)).map(drop);
        sought.map_err(Error::io(path, "find a place in a file"))
    }

    fn ensure_all(&self, copied: u64, len: u64) -> Result<()> {
        if copied < len {
            return Err(self.source.changed("cut short"));
        }
        Ok(())
    }

    fn by_sharing(&self) -> Result<u64> {
        let size = self.source.required_size()?;
        // Sharing replaces all of the target.
        if !self.to.is_new_file() {
            return Err(Error::InOrderOnly(self.target.to_owned()));
        }
        share_blocks(self.source.file(), self.to.file())
            .map_err(Error::between(self.source.path(), self.target))?;
        Ok(size)
    }
}
