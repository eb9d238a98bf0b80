//! The kernel moves arriving bytes through a pipe into the file.

use super::Arrival;
use crate::cover::Cover;
use crate::error::Result;
use platform::block_io::read_exact_at;
use platform::socket::Conduit;
use std::fs::File;

/// Capacity of the pipe in bytes: the default limit for an unprivileged user.
const PIPE: usize = 1 << 20;

/// Moves data without copying it into this process; returns true if the checksum is right. To
/// compute that, the data is read back into `buffer`. The pipe is kept for the next data.
pub(in crate::receiver) fn take(
    kept: &mut Option<Conduit>,
    buffer: &mut [u8],
    arrival: &mut Arrival<'_>,
    file: &File,
) -> Result<bool> {
    let conduit = match kept.take() {
        Some(conduit) => Ok(conduit),
        None => Conduit::new(PIPE),
    };
    let mut conduit = match conduit {
        Ok(conduit) => conduit,
        Err(error) => return arrival.give_up(0, buffer, error),
    };
    let (offset, len) = (arrival.offset, arrival.len);
    let ahead = arrival.inlet.ahead(len);
    let mut taken = ahead.len();
    if let Err(error) = arrival.target.write(ahead, offset) {
        return arrival.give_up(taken, buffer, error);
    }
    arrival.inlet.expect_data(len - taken)?;
    while taken < len {
        let count = arrival
            .inlet
            .receive(|socket| conduit.take(socket, len - taken))?;
        let put = conduit.put(file, offset + taken as u64, count);
        taken += count;
        if let Err(error) = put {
            return arrival.give_up(taken, buffer, error);
        }
    }
    *kept = Some(conduit);
    if arrival.inlet.contents() == Cover::Bare {
        return Ok(true);
    }
    // Checked data fits into the buffer.
    let block = &mut buffer[..len];
    if let Err(error) = read_exact_at(file, block, offset) {
        return arrival.give_up(taken, buffer, error);
    }
    arrival.inlet.check_data(block)
}
