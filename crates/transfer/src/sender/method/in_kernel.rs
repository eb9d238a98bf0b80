//! The kernel sends a file, without copying it into this process.

use crate::cover::Cover;
use crate::protocol::LONGEST_BARE;
use crate::sender::flow::{Flow, Outcome, Stopped};
use platform::block_io::read_at;
use platform::socket::{Conduit, send_file};
use std::fs::File;
use std::ops::Range;

/// The system call to use.
pub(in crate::sender) enum Way {
    /// `sendfile`, directly.
    SendFile,
    /// `splice`, through a pipe.
    Splice(Conduit),
}

/// Sends a range of a file. For a checksum, each block is first read into `buffer`.
pub(in crate::sender) fn send(
    buffer: &mut [u8],
    way: &mut Way,
    flow: &mut Flow<'_>,
    file: &File,
    range: Range<u64>,
) -> Outcome {
    let is_bare = flow.outlet.contents() == Cover::Bare;
    let mut offset = range.start;
    while offset < range.end {
        let left = range.end - offset;
        let summed = if is_bare {
            0
        } else {
            let wanted = left.min(buffer.len() as u64) as usize;
            read_at(file, &mut buffer[..wanted], offset)?
        };
        let len = match is_bare {
            true => left.min(LONGEST_BARE.into()) as usize,
            false if summed == 0 => return Err(Stopped::cut_short()),
            false => summed,
        };
        let header = flow.begin(offset, len, left - len as u64)?;
        flow.outlet.begin_data(header)?;
        let mut sent = 0;
        while sent < len {
            let (at, rest) = (offset + sent as u64, len - sent);
            let count = match way {
                Way::SendFile => flow
                    .outlet
                    .send(|socket| send_file(socket, file, at, rest))?,
                Way::Splice(conduit) => flow
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
