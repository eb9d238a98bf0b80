//! Reads a file into a buffer and sends the buffer.

use crate::sender::flow::{Flow, Outcome, Stopped};
use platform::block_io::read_at;
use std::fs::File;
use std::ops::Range;

/// Sends a range of a file through `buffer`.
pub(in crate::sender) fn send(
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
