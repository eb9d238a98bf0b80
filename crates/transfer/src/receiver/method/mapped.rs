//! Receives into a mapping of the file, which grows first.

use super::Arrival;
use crate::error::Result;
use crate::receiver::failure::Failure;
use platform::file::{Access, LockedFile};
use platform::memory::FileMapping;
use std::fs::File;

/// Mappings begin at multiples of this, a multiple of every page size.
const MAP_UNIT: u64 = 1 << 16;

/// Receives data directly into the mapped file; returns true if the checksum is right.
pub(in crate::receiver) fn take(
    buffer: &mut [u8],
    arrival: &mut Arrival<'_>,
    file: &File,
) -> Result<bool> {
    let (offset, len) = (arrival.offset, arrival.len);
    let start = offset / MAP_UNIT * MAP_UNIT;
    let before = (offset - start) as usize;
    let mut locked = match lock(arrival, file, offset, offset + len as u64) {
        Ok(locked) => locked,
        Err(reason) => return arrival.give_up(0, buffer, &reason),
    };
    let mut mapping = match FileMapping::new(&mut locked, start, before + len) {
        Ok(mapping) => mapping,
        Err(error) => return arrival.give_up(0, buffer, error),
    };
    let Some(memory) = mapping.as_mut_slice() else {
        return arrival.give_up(0, buffer, "it may not be written to");
    };
    let is_right = arrival.inlet.data(&mut memory[before..])?;
    if let Err(error) = mapping.ensure_whole() {
        arrival.target.spoil(error);
    }
    Ok(is_right)
}

/// Grows the file as needed, and locks it for the mapping.
fn lock(
    arrival: &Arrival<'_>,
    file: &File,
    offset: u64,
    end: u64,
) -> std::result::Result<LockedFile, Failure> {
    arrival.target.grow(offset, end)?;
    let file = file.try_clone().map_err(Failure::from)?;
    LockedFile::lock_again(file, Access::Write).map_err(Failure::from)
}
