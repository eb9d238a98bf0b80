//! The pages that the kernel brings into memory around the reads of a program.

use super::super::page_cache::Chiller;
use super::super::scratch_file::ScratchFile;
use super::super::sizes::MIB;
use crate::prelude::*;
use platform::block_io::read_exact_at;
use platform::file::residency;
use platform::storage::Storage;
use std::path::Path;

/// The file in which pages are counted holds this many windows: the kernel grows to its full window
/// in steps.
const WINDOWS_IN_FILE: u64 = 6;
/// The largest window that is looked for if the kernel states none.
const UNSTATED_WINDOW: u64 = 4 * MIB;

/// The window as the kernel states it, if it does.
pub(super) fn stated_bytes(directory: &Path) -> Option<u64> {
    Storage::behind(directory).ok()?.read_ahead_bytes
}

/// The size of the file in which pages are counted.
pub(super) fn counted_size(stated: Option<u64>) -> u64 {
    let window = stated.unwrap_or(UNSTATED_WINDOW);
    let wanted = (window * WINDOWS_IN_FILE).max(1).next_power_of_two();
    wanted.clamp(4 * MIB, 64 * MIB)
}

/// Bytes found in the page cache.
pub(super) struct Counted {
    pub(super) ahead: u64,
    pub(super) first: u64,
    pub(super) lone: u64,
}

pub(super) fn count(file: &mut ScratchFile, chunk_size: u64) -> Result<Counted, MeasureError> {
    let mut chunk = vec![0; chunk_size as usize];
    let mut chiller = Chiller::new(file)?;
    let mut after_one = |file: &mut ScratchFile, offset: u64, chunk: &mut [u8]| {
        chiller.chill(file)?;
        read_exact_at(&file.file, chunk, offset)?;
        Ok::<_, MeasureError>(residency(&file.file)?.resident_bytes)
    };
    let first = after_one(file, 0, &mut chunk)?;
    let middle = file.len / 2;
    let lone = after_one(file, middle, &mut chunk)?;
    chiller.chill(file)?;
    let mut ahead = 0;
    // No further than to where a whole window still has room before the end.
    for start in (0..file.len / 2).step_by(chunk_size as usize) {
        read_exact_at(&file.file, &mut chunk, start)?;
        let resident = residency(&file.file)?.resident_bytes;
        ahead = ahead.max(resident.saturating_sub(start + chunk_size));
    }
    Ok(Counted { ahead, first, lone })
}
