//! Receives into a buffer and writes the buffer.

use super::Arrival;
use crate::connection::Inlet;
use crate::error::Result;

/// Stores data through `buffer`; returns true if the checksum is right.
pub(in crate::receiver) fn take(buffer: &mut [u8], arrival: &mut Arrival<'_>) -> Result<bool> {
    let mut taken = 0;
    while taken < arrival.len {
        let len = (arrival.len - taken).min(buffer.len());
        let block = &mut buffer[..len];
        if !arrival.inlet.data(block)? {
            return Ok(false);
        }
        let written = arrival.target.write(block, arrival.offset + taken as u64);
        taken += len;
        if let Err(error) = written {
            arrival.target.spoil(error);
            // Data without a check may be longer than the buffer.
            return drain(buffer, arrival.inlet, arrival.len - taken);
        }
    }
    Ok(true)
}

/// Receives `len` bytes through `buffer` and discards them; returns true if the checksum is right.
pub(in crate::receiver) fn drain(buffer: &mut [u8], inlet: &mut Inlet, len: usize) -> Result<bool> {
    let mut is_right = true;
    let mut left = len;
    while left > 0 {
        let step = left.min(buffer.len());
        is_right &= inlet.data(&mut buffer[..step])?;
        left -= step;
    }
    Ok(is_right)
}
