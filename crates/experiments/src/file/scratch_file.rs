//! The files that experiments read and write.

use instrument::experiment::MeasureError;
use instrument::quantity::Bytes;
use instrument::statistics::random::Random;
use platform::file::{OpenMode, create, evict, null_device, open_read, open_read_write};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file in the experiment's scratch directory, made by the first process that needs it.
pub(crate) struct ScratchFile {
    pub file: File,
    pub path: PathBuf,
    pub len: u64,
}

/// Bytes that are made or read at a time.
const CHUNK: usize = 1 << 20;

impl ScratchFile {
    /// Opens the file if it is there in full. Else makes it of pseudo-random bytes and puts it on the
    /// device. It is not in the page cache then: its pages would lie there as they were written, and
    /// not as [`read_in`](Self::read_in) leaves them.
    pub(crate) fn open_or_make(path: &Path, len: u64, seed: u64) -> Result<Self, MeasureError> {
        if !fs::metadata(path).is_ok_and(|metadata| metadata.len() == len) {
            // It has another name until it is whole, so that no later process uses an unfinished file.
            let unfinished = path.with_added_extension("unfinished");
            make(&unfinished, len, seed)?;
            fs::rename(&unfinished, path).map_err(MeasureError::system("name a scratch file"))?;
        }
        let file = open_read_write(path, OpenMode::Plain)?;
        Ok(Self {
            file,
            path: path.to_owned(),
            len,
        })
    }

    /// Makes an empty file, to be written up to `len`.
    pub(super) fn make_empty(path: &Path, len: u64) -> Result<Self, MeasureError> {
        Ok(Self {
            file: create(path, OpenMode::Plain)?,
            path: path.to_owned(),
            len,
        })
    }

    /// Closes the file after all of it is on the device, does something at its path, and opens it again, at its
    /// start.
    pub(super) fn while_closed<T>(
        &mut self,
        act: impl FnOnce(&Path) -> Result<T, MeasureError>,
    ) -> Result<T, MeasureError> {
        let synced = self.file.sync_all();
        synced.map_err(MeasureError::system("synchronise the scratch file"))?;
        // Another handle takes its place until then.
        self.file = open_read(null_device()?, OpenMode::Plain)?;
        let outcome = act(&self.path);
        self.file = open_read_write(&self.path, OpenMode::Plain)?;
        outcome
    }

    /// Moves the position back to the start.
    pub(super) fn wind_back(&self) -> Result<(), MeasureError> {
        let start = (&self.file).seek(SeekFrom::Start(0));
        start
            .map(drop)
            .map_err(MeasureError::system("wind back the scratch file"))
    }

    /// Reads the file from the position to its end, one call for each block.
    pub(super) fn read_through(&self, block: &mut [u8]) -> Result<(), MeasureError> {
        let mut done = 0;
        while done < self.len {
            match (&self.file).read(block) {
                Ok(0) => return Err(read_failed(io::ErrorKind::UnexpectedEof)),
                Ok(count) => done += count as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_failed(error)),
            }
        }
        Ok(())
    }

    /// Reads the next block, which is in the file as a whole.
    pub(super) fn read_block(&self, block: &mut [u8]) -> Result<(), MeasureError> {
        (&self.file).read_exact(block).map_err(read_failed)
    }

    /// Overwrites the next block.
    pub(super) fn write_block(&self, block: &[u8]) -> Result<(), MeasureError> {
        let written = (&self.file).write_all(block);
        written.map_err(MeasureError::system("write the scratch file"))
    }

    /// Overwrites the file from the position to its end, one call for each block.
    pub(super) fn write_through(&self, block: &[u8]) -> Result<(), MeasureError> {
        let mut left = self.len;
        while left > 0 {
            let count = left.min(block.len() as u64);
            self.write_block(&block[..count as usize])?;
            left -= count;
        }
        Ok(())
    }

    /// Brings the whole file into the page cache.
    pub(crate) fn read_in(&self) -> Result<(), MeasureError> {
        self.wind_back()?;
        self.read_through(&mut vec![0; CHUNK])
    }
}

fn read_failed(error: impl Into<io::Error>) -> MeasureError {
    MeasureError::system("read the scratch file")(error)
}

fn make(path: &Path, len: u64, seed: u64) -> Result<(), MeasureError> {
    let mut file = create(path, OpenMode::Plain)?;
    let mut random = Random::new(seed);
    let mut chunk = vec![0; CHUNK];
    let mut left = len as usize;
    let mut write_all = || {
        while left > 0 {
            for word in chunk.chunks_exact_mut(8) {
                word.copy_from_slice(&random.bits().to_le_bytes());
            }
            let count = left.min(CHUNK);
            file.write_all(&chunk[..count])?;
            left -= count;
        }
        file.sync_all()
    };
    write_all().map_err(|source| MeasureError::System {
        action: format!("make a scratch file of {:.3}", Bytes(len)),
        source,
    })?;
    // If the system cannot evict it, all passes find it as it was written.
    drop(evict(&file));
    Ok(())
}

/// The position of a walk through a file. After the last block it continues with the first.
///
/// A whole pass takes milliseconds, in which other programs interrupt it. Pieces of a fraction of a
/// millisecond, one after the other, do the same work, and most of them are not interrupted.
pub(super) struct Walk<'f> {
    file: &'f ScratchFile,
    left: u64,
}

impl<'f> Walk<'f> {
    /// From the start of `file`. Nothing else may move its position once the first block was visited.
    pub(super) fn new(file: &'f ScratchFile) -> Self {
        Self { file, left: 0 }
    }

    /// Does `act` with the file for each of the next `blocks`, with the length of the block, which
    /// the last of the file may cut short. `act` moves the position by that length.
    pub(super) fn go(
        &mut self,
        blocks: u64,
        block_size: u64,
        mut act: impl FnMut(&ScratchFile, u64) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        for _ in 0..blocks {
            if self.left == 0 {
                self.file.wind_back()?;
                self.left = self.file.len;
            }
            let len = self.left.min(block_size);
            act(self.file, len)?;
            self.left -= len;
        }
        Ok(())
    }

    /// Reads the next `blocks`, one call for each.
    pub(super) fn read(&mut self, blocks: u64, block: &mut [u8]) -> Result<(), MeasureError> {
        self.go(blocks, block.len() as u64, |file, len| {
            file.read_block(&mut block[..len as usize])
        })
    }

    /// Overwrites the next `blocks`, one call for each.
    pub(super) fn write(&mut self, blocks: u64, block: &[u8]) -> Result<(), MeasureError> {
        self.go(blocks, block.len() as u64, |file, len| {
            file.write_block(&block[..len as usize])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tempfile::TempDir;

    const LEN: u64 = 3 << 19;

    /// A directory, and a path in it.
    fn place() -> (TempDir, PathBuf) {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let path = scratch.path().join("file");
        (scratch, path)
    }

    #[test]
    fn a_file_is_made_once_and_whole_of_all_bytes() {
        let (scratch, path) = place();
        ScratchFile::open_or_make(&path, LEN, 1).expect("there is room");
        let made = fs::read(&path).expect("it is there");
        assert_eq!(made.len() as u64, LEN);
        let different: BTreeSet<u8> = made.iter().copied().collect();
        assert_eq!(different.len(), 256);

        ScratchFile::open_or_make(&path, LEN, 2).expect("it is there");
        assert_eq!(fs::read(&path).expect("it is there"), made);
        ScratchFile::open_or_make(&path, LEN / 2, 2).expect("there is room");
        assert_eq!(fs::metadata(&path).expect("it is there").len(), LEN / 2);
        assert_eq!(
            fs::read_dir(scratch.path()).expect("it is there").count(),
            1
        );
    }

    #[test]
    fn a_file_is_the_same_after_it_was_closed() {
        let (_scratch, path) = place();
        let mut file = ScratchFile::open_or_make(&path, LEN, 1).expect("there is room");
        file.write_block(b"written").expect("there is room");
        file.while_closed(|path| {
            assert_eq!(fs::read(path).expect("it is there")[..7], *b"written");
            files::cache::chill_closed(path).map(drop).or(Ok(()))
        })
        .expect("it opens again");
        let mut start = [0; 7];
        file.read_block(&mut start).expect("it is there");
        assert_eq!(&start, b"written");
        let refused = MeasureError::Disturbed(String::new());
        file.while_closed(|_| Err::<(), _>(refused)).unwrap_err();
        file.wind_back().expect("a file has a position");
        file.read_through(&mut [0; 4096]).expect("it is there");
    }

    #[test]
    fn blocks_cover_the_file_and_no_more() {
        let (_scratch, path) = place();
        let file = ScratchFile::open_or_make(&path, LEN, 1).expect("there is room");
        for block_size in [512, 1000, 1 << 21] {
            file.wind_back().expect("a file has a position");
            file.write_through(&vec![7; block_size])
                .expect("there is room");
            assert_eq!(fs::read(&path).expect("it is there"), vec![7; LEN as usize]);
            file.wind_back().expect("a file has a position");
            file.read_through(&mut vec![0; block_size])
                .expect("it is there");
        }
        file.read_through(&mut [0; 512])
            .expect_err("the position is at the end");
    }

    #[test]
    fn a_walk_reaches_every_byte_and_begins_again() {
        let (_scratch, path) = place();
        let file = ScratchFile::open_or_make(&path, 1000, 1).expect("there is room");
        let mut walk = Walk::new(&file);
        // Three blocks of 300 bytes and one of 100.
        walk.write(3, &[7; 300]).expect("there is room");
        let written = fs::read(&path).expect("it is there");
        assert_eq!(written[..900], [7; 900]);
        assert_ne!(written[900..], [7; 100]);
        walk.write(2, &[8; 300]).expect("there is room");
        let written = fs::read(&path).expect("it is there");
        assert_eq!(
            (&written[..300], &written[900..]),
            (&[8; 300][..], &[8; 100][..])
        );
        assert_eq!(written.len(), 1000);

        let mut block = [0; 300];
        walk.read(3, &mut block).expect("it is there");
        assert_eq!(block[..100], [8; 100]);
        assert_eq!(block[100..], [7; 200]);
        walk.read(1, &mut block).expect("it is there");
        assert_eq!(block, [8; 300]);
    }
}
