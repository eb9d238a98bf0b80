//! The ways of reading a file through and of writing it through again.

use instrument::experiment::MeasureError;
use platform::file::{Access, LockedFile, OpenMode, open_read_write};
use platform::memory::FileMapping;
use platform::stdio::{Buffering, Stream};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

pub(in crate::file) const STDIO: &str = "fread, fwrite";
pub(super) const STDIO_UNBUFFERED: &str = "fread, fwrite unbuffered";
pub(in crate::file) const CALLS: &str = "read, write";
pub(in crate::file) const CALLS_SYNC: &str = "read, write O_SYNC";
pub(in crate::file) const MAPPING: &str = "mmap, msync";

pub(super) const WAYS: [&str; 5] = [STDIO, STDIO_UNBUFFERED, CALLS, CALLS_SYNC, MAPPING];

/// Whether each chunk waits for the device.
pub(super) fn waits(way: &str) -> bool {
    matches!(way, CALLS_SYNC | MAPPING)
}

/// A file that is gone through in chunks.
pub(super) enum Way {
    Stdio(Stream),
    Calls(File),
    Mapping(LockedFile),
}

impl Way {
    pub(super) fn open(way: &str, path: &Path) -> Result<Self, MeasureError> {
        let open = |mode| open_read_write(path, mode);
        let plain = || open(OpenMode::Plain);
        Ok(match way {
            STDIO => Self::Stdio(Stream::over(plain()?, Buffering::Default)?),
            STDIO_UNBUFFERED => Self::Stdio(Stream::over(plain()?, Buffering::None)?),
            CALLS => Self::Calls(plain()?),
            CALLS_SYNC => Self::Calls(open(OpenMode::Synchronous)?),
            MAPPING => Self::Mapping(LockedFile::lock(plain()?, Access::Write)?),
            other => {
                let reason = format!("there is no way '{other}'");
                return Err(MeasureError::Unsupported(reason));
            }
        })
    }

    /// Reads the file from its start into `chunk`, as often as it takes.
    pub(super) fn read(&mut self, len: u64, chunk: &mut [u8]) -> Result<(), MeasureError> {
        let offsets = (0..len).step_by(chunk.len());
        match self {
            Self::Stdio(stream) => {
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
            Self::Mapping(file) => offsets.into_iter().try_for_each(|offset| {
                let mapping = FileMapping::new(file, offset, chunk.len())?;
                chunk.copy_from_slice(mapping.as_slice());
                Ok(mapping.ensure_whole()?)
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
            Self::Calls(file) => file
                .seek(SeekFrom::Start(0))
                .and_then(|_| offsets.into_iter().try_for_each(|_| file.write_all(chunk)))
                .map_err(MeasureError::system("write the scratch file")),
            Self::Mapping(file) => offsets.into_iter().try_for_each(|offset| {
                let mut mapping = FileMapping::new(file, offset, chunk.len())?;
                let bytes = mapping.as_mut_slice();
                bytes
                    .expect("the file is locked for writing")
                    .copy_from_slice(chunk);
                mapping.ensure_whole()?;
                Ok(mapping.sync()?)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{WAYS, Way};
    use crate::file::testing::scratch;
    use std::fs;

    #[test]
    fn every_way_reads_and_writes_the_whole_file() {
        let scratch = scratch();
        let path = scratch.path().join("file");
        for (index, way) in WAYS.into_iter().enumerate() {
            fs::write(&path, vec![index as u8; 65536]).expect("there is room");
            let mut file = Way::open(way, &path).expect(way);
            let mut chunk = vec![0xff; 16384];
            file.read(65536, &mut chunk).expect(way);
            assert_eq!(chunk, vec![index as u8; 16384], "{way}");
            file.write(65536, &[7; 16384]).expect(way);
            assert_eq!(fs::read(&path).expect("there"), vec![7; 65536], "{way}");
            file.read(65536, &mut chunk).expect(way);
            assert_eq!(chunk, vec![7; 16384], "{way}");
        }
        Way::open("telepathy", &path).err().expect("no such way");
    }
}
