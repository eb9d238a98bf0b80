//! The ways of reading, and how each reads.

use crate::file::buffer;
use crate::prelude::*;
use platform::block_io::{ReadManner, read_at, read_at_as};
use platform::file::{Access, LockedFile, OpenMode, open_read};
use platform::memory::{Advice, FileMapping, Mapping};
use platform::ring::{ReadRing, RingOptions};
use std::fmt;
use std::fs::File;
use std::hint::black_box;
use std::path::Path;

/// A way of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::file) enum Engine {
    Pread,
    WithoutWaiting,
    WithoutCaching,
    Mmap,
    Ring { depth: u32, registered: bool },
    Overlapped { depth: u32 },
}

/// Reads in flight at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) struct Queue {
    /// The name of the mechanism in sentences.
    pub of: &'static str,
    /// The number of reads.
    pub depth: u32,
}

impl Engine {
    /// Those of this system: with these numbers of reads in flight, and on Linux the deepest ring also
    /// registered.
    pub(super) fn all(depths: &[u32]) -> Vec<Self> {
        let ring = |registered| move |&depth: &u32| Self::Ring { depth, registered };
        let overlapped = |&depth: &u32| Self::Overlapped { depth };
        if cfg!(windows) {
            let others = [Self::Pread, Self::Mmap].into_iter();
            return others.chain(depths.iter().map(overlapped)).collect();
        }
        Self::WITH_ONE_READ
            .into_iter()
            .chain(depths.iter().map(ring(false)))
            .chain(depths.last().map(ring(true)))
            .collect()
    }

    const WITH_ONE_READ: [Self; 4] = [
        Self::Pread,
        Self::WithoutWaiting,
        Self::WithoutCaching,
        Self::Mmap,
    ];

    /// Its queue, if it can have several reads in flight.
    pub(super) fn queue(self) -> Option<Queue> {
        let (of, depth) = match self {
            Self::Ring { depth, .. } => ("io_uring", depth),
            Self::Overlapped { depth } => ("overlapped reads", depth),
            _ => return None,
        };
        Some(Queue { of, depth })
    }

    fn named(name: &str) -> Option<Self> {
        let depth = name.split(' ').find_map(|word| word.parse().ok());
        let of_depth = depth.map(|depth| {
            let ring = [false, true].map(|registered| Self::Ring { depth, registered });
            ring.into_iter().chain([Self::Overlapped { depth }])
        });
        let mut engines = Self::WITH_ONE_READ
            .into_iter()
            .chain(of_depth.into_iter().flatten());
        engines.find(|engine| engine.to_string() == name)
    }

    /// True if it can read directly. The ways that control the page cache cannot.
    pub(super) fn can_be_direct(self) -> bool {
        self == Self::Pread || self.queue().is_some()
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pread => f.write_str("pread"),
            Self::WithoutWaiting => f.write_str("preadv2 RWF_NOWAIT"),
            Self::WithoutCaching => f.write_str("preadv2 RWF_DONTCACHE"),
            Self::Mmap => f.write_str("mmap"),
            Self::Overlapped { depth } => write!(f, "overlapped {depth}"),
            Self::Ring { depth, registered } => {
                let registered = if *registered { " registered" } else { "" };
                write!(f, "io_uring {depth}{registered}")
            }
        }
    }
}

impl LevelOf for Engine {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.to_string())
    }

    fn of(level: &Level) -> Option<Self> {
        read_back(level, Self::named)
    }
}

/// The reads of one pass.
pub(super) struct Reads<'a> {
    pub file: &'a File,
    pub path: &'a Path,
    pub len: u64,
    pub block_bytes: usize,
    pub offsets: &'a [u64],
}

/// A way of reading, with all that it needs.
pub(super) enum Way<'a> {
    Pread(Mapping),
    Manner(Mapping, ReadManner),
    Mmap(Mapping, LockedFile),
    Ring(Box<ReadRing<'a>>),
}

impl Reads<'_> {
    /// Makes all that is needed once.
    pub(super) fn by(&self, engine: Engine) -> Result<Way<'_>, MeasureError> {
        let buffer = || buffer(self.block_bytes);
        Ok(match engine {
            Engine::Pread => Way::Pread(buffer()?),
            Engine::WithoutWaiting => Way::Manner(buffer()?, ReadManner::WithoutWaiting),
            Engine::WithoutCaching => Way::Manner(buffer()?, ReadManner::WithoutCaching),
            Engine::Mmap => {
                let file = open_read(self.path, OpenMode::Plain)?;
                Way::Mmap(buffer()?, LockedFile::lock(file, Access::Read)?)
            }
            Engine::Ring { depth, registered } if !cfg!(windows) => self.ring(depth, registered)?,
            Engine::Overlapped { depth } if cfg!(windows) => self.ring(depth, false)?,
            Engine::Ring { .. } => return Err(unsupported("io_uring is a part of Linux")),
            Engine::Overlapped { .. } => {
                return Err(unsupported("overlapped reads are a part of Windows"));
            }
        })
    }

    fn ring(&self, depth: u32, registered: bool) -> Result<Way<'_>, MeasureError> {
        let options = RingOptions {
            depth,
            block_bytes: self.block_bytes,
            registered_buffers: registered,
            registered_file: registered,
        };
        Ok(Way::Ring(Box::new(ReadRing::new(self.file, &options)?)))
    }

    fn ensure_full(&self, count: usize) -> Result<(), MeasureError> {
        if count == self.block_bytes {
            return Ok(());
        }
        let ended = std::io::ErrorKind::UnexpectedEof;
        Err(MeasureError::system("read the scratch file")(
            std::io::Error::from(ended),
        ))
    }
}

impl Way<'_> {
    pub(super) fn read_all(&mut self, reads: &Reads<'_>) -> Result<(), MeasureError> {
        match self {
            Self::Pread(buffer) => {
                for offset in reads.offsets {
                    let count = read_at(reads.file, buffer.as_mut_slice(), *offset)?;
                    reads.ensure_full(count)?;
                }
                Ok(())
            }
            Self::Manner(buffer, manner) => {
                let mut waits = 0;
                for offset in reads.offsets {
                    let buffer = buffer.as_mut_slice();
                    let at_once =
                        read_at_as(reads.file, buffer, *offset, *manner)?.unwrap_or_default();
                    if at_once < reads.block_bytes {
                        // Only the start of the block was in the page cache, or nothing. Programs
                        // that read without waiting then wait for the rest.
                        waits += 1;
                        let rest = offset + at_once as u64;
                        let waited = read_at(reads.file, &mut buffer[at_once..], rest)?;
                        reads.ensure_full(at_once + waited)?;
                    }
                }
                ensure_few(waits, reads.offsets.len())
            }
            Self::Mmap(buffer, file) => {
                let mut mapping = FileMapping::new(file, 0, reads.len as usize)?;
                // Windows takes no advice on the order of access.
                let advised = mapping.advise(Advice::Random);
                advised.or_else(|error| {
                    if error.is_unavailable() {
                        Ok(())
                    } else {
                        Err(error)
                    }
                })?;
                for offset in reads.offsets {
                    let block = &mapping.as_slice()[*offset as usize..][..reads.block_bytes];
                    buffer.as_mut_slice().copy_from_slice(block);
                    black_box(buffer.as_slice());
                }
                Ok(mapping.ensure_whole()?)
            }
            Self::Ring(ring) => by_ring(ring, reads),
        }
    }
}

/// The kernel may take a page or two out of the page cache at any time; where more of `reads` had to
/// wait, it was not reading without waiting that was measured.
fn ensure_few(waits: usize, reads: usize) -> Result<(), MeasureError> {
    const FEW: f64 = 0.001;
    if waits as f64 <= (reads as f64 * FEW).max(1.0) {
        return Ok(());
    }
    Err(MeasureError::Disturbed(format!(
        "{waits} of {reads} reads with RWF_NOWAIT would have waited: the file system does not \
         support it, or the file left the page cache in the meantime"
    )))
}

/// Keeps the ring full: all free entries are submitted at once.
fn by_ring(ring: &mut ReadRing<'_>, reads: &Reads<'_>) -> Result<(), MeasureError> {
    let mut offsets = reads.offsets.iter();
    loop {
        while ring.has_room()
            && let Some(offset) = offsets.next()
        {
            ring.queue(*offset, reads.block_bytes);
        }
        if ring.in_flight() == 0 {
            return Ok(());
        }
        ring.submit(1)?;
        while let Some(done) = ring.take() {
            let bytes = done
                .bytes
                .map_err(MeasureError::system("read several blocks at once"))?;
            reads.ensure_full(bytes.len())?;
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Engine, Reads};
    use platform::block_io::read_at;
    use platform::file::evict;

    #[test]
    fn a_block_of_which_only_the_start_is_cached_is_read_whole() {
        const BLOCK_BYTES: usize = 1 << 20;
        let scratch = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(scratch.path(), vec![7; 4 * BLOCK_BYTES]).unwrap();
        let file = scratch.as_file();
        evict(file).unwrap();
        read_at(file, &mut [0; 4096], 0).unwrap();
        let reads = Reads {
            file,
            path: scratch.path(),
            len: 4 * BLOCK_BYTES as u64,
            block_bytes: BLOCK_BYTES,
            offsets: &[0],
        };
        let mut way = reads.by(Engine::WithoutWaiting).unwrap();
        way.read_all(&reads).unwrap();
    }
}
