//! The ways of reading a file through and of writing it through again.

use crate::prelude::*;
use platform::file::{Access, LockedFile, OpenMode, open_read, open_read_write};
use platform::memory::{FileMapping, PageSize, page_bytes};
use platform::stdio::{Buffering, Stream};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

pub(in crate::file) const WAY: AxisOf<Way> = AxisOf::new("way", "way");
pub(super) const MEMORY: AxisOf<Memory> = AxisOf::new("memory", "memory");

pub(in crate::file) const READ: Metric = Metric::time("read", "read, per KiB");
pub(in crate::file) const REWRITE: Metric = Metric::time("rewrite", "written over, per KiB");
pub(in crate::file) const READ_AGAIN: Metric = Metric::time("read_again", "read again, per KiB");
pub(super) const KEPT: Metric = Metric::fact(
    "kept",
    "in the page cache before reading again",
    Unit::Share,
);
pub(super) const FROM_STORAGE: Metric = Metric::fact(
    "from_storage",
    "of reading again, from storage",
    Unit::Share,
);

/// The file is this many times as large as the memory that the measurement may use.
pub(super) const FILE_OVER_MEMORY: u64 = 2;
/// The memory of a worker without chunks: its own 1.6 MiB, 0.6 MiB of the kernel for it, and as much page
/// cache as keeps the kernel from killing it.
const OWN_MEMORY: u64 = 8 * MIB;

/// The least memory in which a worker can go through a file in chunks. It holds one chunk in memory of its
/// own, and as much of the file at a time.
pub(super) fn least_memory(Bytes(chunk): Bytes) -> Bytes {
    Bytes(OWN_MEMORY + 2 * chunk)
}

/// The memory that a worker may use, page cache included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Limited(Bytes),
    NotLimited,
}

pub(super) const NOT_LIMITED: &str = "not limited";

impl LevelOf for Memory {
    const KIND: AxisKind = AxisKind::Bytes;

    fn level(&self) -> Level {
        match self {
            Self::Limited(bytes) => bytes.level(),
            Self::NotLimited => NOT_LIMITED.into(),
        }
    }

    fn of(level: &Level) -> Option<Self> {
        match level {
            Level::Number(bytes) => Some(Self::Limited(Bytes(*bytes))),
            Level::Choice(name) => (name == NOT_LIMITED).then_some(Self::NotLimited),
        }
    }
}

/// A way through the file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) enum Way {
    #[choice("fread, fwrite")]
    Stdio,
    #[choice("fread, fwrite unbuffered")]
    StdioUnbuffered,
    #[choice("read, write")]
    Calls,
    #[choice("read, write O_SYNC")]
    CallsSync,
    #[choice("mmap, msync")]
    Mapping,
    /// The report's listing: it maps the first chunk each time, and moves a position on that no mapping
    /// follows.
    #[choice("mmap of offset 0, as printed")]
    MappingOfStart,
    /// The report's listing: it opens the file for reading and writes to it, which fails each time.
    #[choice("fread, fwrite opened for reading, as printed")]
    StdioReadOnly,
}

impl Way {
    /// Each chunk waits for the device.
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::CallsSync | Self::Mapping)
    }

    pub(super) fn open(self, path: &Path) -> Result<Opened, MeasureError> {
        let open = |mode| open_read_write(path, mode);
        let plain = || open(OpenMode::Plain);
        Ok(match self {
            Self::Stdio => Opened::Stdio(Stream::over(plain()?, Buffering::Default)?),
            Self::StdioUnbuffered => Opened::Stdio(Stream::over(plain()?, Buffering::None)?),
            Self::StdioReadOnly => {
                let file = open_read(path, OpenMode::Plain)?;
                Opened::ReadOnly(Stream::over(file, Buffering::Default)?)
            }
            Self::Calls => Opened::Calls(plain()?),
            Self::CallsSync => Opened::Calls(open(OpenMode::Synchronous)?),
            Self::Mapping | Self::MappingOfStart => Opened::Mapping {
                file: LockedFile::lock(plain()?, Access::Write)?,
                of_start: self == Self::MappingOfStart,
            },
        })
    }
}

/// A file opened to be read and written in chunks.
pub(super) enum Opened {
    Stdio(Stream),
    /// A stream that cannot be written to.
    ReadOnly(Stream),
    Calls(File),
    Mapping {
        file: LockedFile,
        /// Maps the first chunk each time, and moves the position on.
        of_start: bool,
    },
}

/// Maps `len` bytes of the file at `offset`, from the start of the page that holds the first: that byte's place in the
/// mapping goes with it.
pub(in crate::file) fn map_part(
    file: &mut LockedFile,
    offset: u64,
    len: u64,
) -> Result<(FileMapping<'_>, usize), MeasureError> {
    let before = offset % page_bytes(PageSize::Base).unwrap_or(4 * KIB);
    let mapping = FileMapping::new(file, offset - before, (before + len) as usize)?;
    Ok((mapping, before as usize))
}

impl Opened {
    /// Reads the file from its start into `chunk`, as often as it takes.
    pub(super) fn read(&mut self, len: u64, chunk: &mut [u8]) -> Result<(), MeasureError> {
        let offsets = (0..len).step_by(chunk.len());
        match self {
            Self::Stdio(stream) | Self::ReadOnly(stream) => {
                stream.seek(0)?;
                for _ in offsets {
                    if stream.read(chunk)? < chunk.len() {
                        let short = std::io::ErrorKind::UnexpectedEof;
                        return Err(MeasureError::system("read the scratch file")(short));
                    }
                }
                Ok(())
            }
            Self::Calls(file) => file
                .seek(SeekFrom::Start(0))
                .and_then(|_| offsets.into_iter().try_for_each(|_| file.read_exact(chunk)))
                .map_err(MeasureError::system("read the scratch file")),
            Self::Mapping { file, of_start } => offsets.into_iter().try_for_each(|offset| {
                let offset = if *of_start { 0 } else { offset };
                let (mapping, at) = map_part(file, offset, chunk.len() as u64)?;
                chunk.copy_from_slice(&mapping.as_slice()[at..]);
                mapping.ensure_whole()?;
                if *of_start {
                    drop(mapping);
                    move_on(file, chunk.len())?;
                }
                Ok(())
            }),
        }
    }

    /// Writes `chunk` over the file from its start, as often as it takes.
    pub(super) fn write(&mut self, len: u64, chunk: &[u8]) -> Result<(), MeasureError> {
        let offsets = (0..len).step_by(chunk.len());
        match self {
            Self::Stdio(stream) => {
                stream.seek(0)?;
                for _ in offsets {
                    stream.write(chunk)?;
                }
                Ok(stream.flush()?)
            }
            Self::ReadOnly(stream) => {
                stream.seek(0)?;
                for _ in offsets {
                    if stream.write(chunk).is_ok() {
                        return Err(unsupported(
                            "a stream that was opened for reading took what was written",
                        ));
                    }
                }
                Ok(())
            }
            Self::Calls(file) => file
                .seek(SeekFrom::Start(0))
                .and_then(|_| offsets.into_iter().try_for_each(|_| file.write_all(chunk)))
                .map_err(MeasureError::system("write the scratch file")),
            Self::Mapping { file, of_start } => offsets.into_iter().try_for_each(|offset| {
                let offset = if *of_start { 0 } else { offset };
                let (mut mapping, at) = map_part(file, offset, chunk.len() as u64)?;
                let bytes = mapping.as_mut_slice();
                bytes.expect("the file is locked for writing")[at..].copy_from_slice(chunk);
                mapping.ensure_whole()?;
                if *of_start {
                    drop(mapping);
                    move_on(file, chunk.len())
                } else {
                    Ok(mapping.sync()?)
                }
            }),
        }
    }
}

/// Moves the position of the file on, as the report's listing does.
pub(in crate::file) fn move_on(file: &LockedFile, bytes: usize) -> Result<(), MeasureError> {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let moved = file.file().seek(SeekFrom::Current(bytes));
    moved
        .map(drop)
        .map_err(MeasureError::system("move the position of a file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use std::fs;

    #[test]
    fn the_listing_as_printed_touches_the_first_chunk_only() {
        let scratch = scratch();
        let path = scratch.path().join("file");
        fs::write(&path, vec![1; 65536]).expect("there is room");
        let mut file = Way::MappingOfStart.open(&path).expect("it opens");
        let mut chunk = vec![0xff; 16384];
        file.read(65536, &mut chunk).expect("it reads");
        assert_eq!(chunk, vec![1; 16384]);
        file.write(65536, &[7; 16384]).expect("it writes");
        let bytes = fs::read(&path).expect("there");
        assert!(bytes[..16384].iter().all(|byte| *byte == 7));
        assert!(bytes[16384..].iter().all(|byte| *byte == 1));
    }

    #[test]
    fn the_listing_that_opens_for_reading_writes_nothing() {
        let scratch = scratch();
        let path = scratch.path().join("file");
        fs::write(&path, vec![1; 65536]).expect("there is room");
        let mut file = Way::StdioReadOnly.open(&path).expect("it opens");
        let mut chunk = vec![0xff; 16384];
        for _ in 0..2 {
            file.read(65536, &mut chunk).expect("it reads");
            assert_eq!(chunk, vec![1; 16384]);
            file.write(65536, &[7; 16384]).expect("each call fails");
            assert_eq!(fs::read(&path).expect("there"), vec![1; 65536]);
        }
    }

    #[test]
    fn every_way_reads_and_writes_the_whole_file() {
        let scratch = scratch();
        let path = scratch.path().join("file");
        let mistaken = [Way::MappingOfStart, Way::StdioReadOnly];
        let whole = Way::ALL.iter().filter(|way| !mistaken.contains(way));
        for (index, way) in whole.enumerate() {
            // The smaller ones are parts of a page.
            for size in [16384, 1024] {
                let name = way.name();
                fs::write(&path, vec![index as u8; 65536]).expect("there is room");
                let mut file = way.open(&path).expect(name);
                let mut chunk = vec![0xff; size];
                file.read(65536, &mut chunk).expect(name);
                assert_eq!(chunk, vec![index as u8; size], "{name}");
                file.write(65536, &vec![7; size]).expect(name);
                assert_eq!(fs::read(&path).expect("there"), vec![7; 65536], "{name}");
                file.read(65536, &mut chunk).expect(name);
                assert_eq!(chunk, vec![7; size], "{name}");
            }
        }
    }
}
