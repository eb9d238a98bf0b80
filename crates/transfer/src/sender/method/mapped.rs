//! Maps a file into memory and sends the mapping.

use crate::buffer::BLOCK;
use crate::sender::flow::{Flow, Outcome};
use platform::file::{Access, LockedFile};
use platform::memory::{Advice, FileMapping};
use std::fs::File;
use std::ops::Range;

/// Bytes to map at a time, so that a large file takes no more memory than this.
const WINDOW: u64 = 16 << 20;

/// Sends a range from successive windows of the mapped file.
pub(in crate::sender) fn send(flow: &mut Flow<'_>, file: &File, range: Range<u64>) -> Outcome {
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
