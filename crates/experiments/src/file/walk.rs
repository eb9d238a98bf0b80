//! Walks through a file block by block, in pieces of any number of blocks.

use super::scratch_file::ScratchFile;
use instrument::experiment::MeasureError;

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
    use super::Walk;
    use crate::file::scratch_file::ScratchFile;
    use std::fs;

    #[test]
    fn it_reaches_every_byte_and_begins_again() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let path = scratch.path().join("file");
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
