//! Reads a file into buffers that the kernel sends without a copy.

use crate::buffer::BLOCK;
use crate::error::Error;
use crate::sender::flow::{Flow, Outcome, Stopped};
use platform::block_io::read_at;
use platform::socket::ZeroCopy;
use std::fs::File;
use std::net::TcpStream;
use std::ops::Range;

/// Maximum number of buffers in flight.
const BUFFERS: usize = 8;

/// The buffers of a connection.
pub(in crate::sender) fn buffers(socket: &TcpStream) -> Outcome<ZeroCopy> {
    let buffers = ZeroCopy::new(socket, BUFFERS, BLOCK);
    Ok(buffers.map_err(Error::system("send without a copy"))?)
}

/// Sends a range of a file from the buffers.
pub(in crate::sender) fn send(
    buffers: &mut ZeroCopy,
    flow: &mut Flow<'_>,
    file: &File,
    range: Range<u64>,
) -> Outcome {
    let mut offset = range.start;
    while offset < range.end {
        let wanted = (range.end - offset).min(BLOCK as u64) as usize;
        flow.outlet.send_retrying(|socket, retry| {
            while let Err(error) = buffers.advance(socket) {
                retry(error)?;
            }
            Ok(0)
        })?;
        let count = read_at(file, &mut buffers.buffer()[..wanted], offset)?;
        if count == 0 {
            return Err(Stopped::cut_short());
        }
        let end = offset + count as u64;
        let header = flow.begin(offset, count, range.end - end)?;
        flow.outlet.begin_data(header)?;
        let check = flow.outlet.sum_data(&buffers.buffer()[..count]);
        flow.outlet
            .send_retrying(|socket, retry| buffers.send(socket, count, retry).map(|()| count))?;
        flow.outlet.end_data(check);
        offset = end;
    }
    Ok(())
}
