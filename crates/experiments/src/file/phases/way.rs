//! The two ways through the file, each phase timed.

use super::super::page_cache;
use super::super::rewrite_passes::move_on;
use super::super::scratch_file::ScratchFile;
use super::super::sizes::KIB;
use super::definition::{LOOP, MAP, MAP_LOOP, MAP_SYNC, MAP_TOTAL};
use super::definition::{PAGE, READ, TOTAL, UNMAP, WRITE};
use super::definition::{START, START_LOOP, START_TOTAL, START_UNMAP};
use crate::prelude::*;
use platform::file::{Access, LockedFile, OpenMode, open_read_write};
use platform::memory::{self, FileMapping, Mapping, PageSize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Opens the file anew so that its writes wait.
fn open_synchronous(path: &Path) -> Result<File, MeasureError> {
    Ok(open_read_write(path, OpenMode::Synchronous)?)
}

fn kibibytes(file: &ScratchFile) -> f64 {
    file.len as f64 / KIB as f64
}

pub(super) fn by_read_and_write(
    sampler: &mut Sampler<'_>,
    file: &ScratchFile,
    buffer_size: u64,
) -> Result<(), MeasureError> {
    let mut synchronous = open_synchronous(&file.path)?;
    let mut memory = Mapping::anonymous(buffer_size as usize, PageSize::Base)?;
    memory.populate()?;
    let buffer = memory.as_mut_slice();
    sampler.phases(kibibytes(file), |phases| {
        start_clean(file)?;
        synchronous
            .seek(SeekFrom::Start(0))
            .map_err(MeasureError::system("wind back the scratch file"))?;
        for offset in (0..file.len).step_by(buffer_size as usize) {
            phases.time(&[READ, TOTAL], || {
                let read = synchronous.read_exact(buffer);
                read.map_err(MeasureError::system("read the scratch file"))
            })?;
            phases.time(&[LOOP, TOTAL], || {
                kernels::change(buffer);
                Ok(())
            })?;
            phases.time(&[WRITE, TOTAL], || {
                let back = synchronous.seek(SeekFrom::Start(offset));
                back.and_then(|_| synchronous.write_all(buffer))
                    .map_err(MeasureError::system("write the scratch file"))
            })?;
        }
        Ok(())
    })
}

pub(super) fn by_mapping(
    sampler: &mut Sampler<'_>,
    file: &ScratchFile,
    buffer_size: u64,
) -> Result<(), MeasureError> {
    let page_bytes = memory::page_bytes(PageSize::Base).unwrap_or(PAGE);
    let mut locked = LockedFile::lock(open_synchronous(&file.path)?, Access::Write)?;
    sampler.phases(kibibytes(file), |phases| {
        start_clean(file)?;
        for offset in (0..file.len).step_by(buffer_size as usize) {
            let before = offset % page_bytes;
            let len = (before + buffer_size) as usize;
            let mut mapping = phases.time(&[MAP, MAP_TOTAL], || {
                Ok(FileMapping::new(&mut locked, offset - before, len)?)
            })?;
            let bytes = mapping
                .as_mut_slice()
                .expect("the file is locked for writing");
            let bytes = &mut bytes[before as usize..];
            phases.time(&[MAP_LOOP, MAP_TOTAL], || {
                kernels::change(bytes);
                Ok(())
            })?;
            mapping.ensure_whole()?;
            phases.time(&[UNMAP, MAP_TOTAL], || {
                drop(mapping);
                Ok(())
            })?;
        }
        phases.time(&[MAP_SYNC], || {
            let synced = locked.file().sync_all();
            synced.map_err(MeasureError::system("synchronise the scratch file"))
        })
    })
}

/// The report's listing as it is printed.
pub(super) fn by_mapping_of_start(
    sampler: &mut Sampler<'_>,
    file: &ScratchFile,
    buffer_size: u64,
) -> Result<(), MeasureError> {
    let mut locked = LockedFile::lock(open_synchronous(&file.path)?, Access::Write)?;
    sampler.phases(kibibytes(file), |phases| {
        start_clean(file)?;
        for _ in (0..file.len).step_by(buffer_size as usize) {
            let mut mapping = phases.time(&[START, START_TOTAL], || {
                Ok(FileMapping::new(&mut locked, 0, buffer_size as usize)?)
            })?;
            let bytes = mapping
                .as_mut_slice()
                .expect("the file is locked for writing");
            phases.time(&[START_LOOP, START_TOTAL], || {
                kernels::change(bytes);
                Ok(())
            })?;
            mapping.ensure_whole()?;
            phases.time(&[START_UNMAP, START_TOTAL], || {
                drop(mapping);
                Ok(())
            })?;
            phases.time(&[START_UNMAP, START_TOTAL], || {
                move_on(&locked, buffer_size as usize)
            })?;
        }
        Ok(())
    })
}

/// In the page cache, and nothing of it still to be written.
fn start_clean(file: &ScratchFile) -> Result<(), MeasureError> {
    file.file
        .sync_all()
        .map_err(MeasureError::system("synchronise the scratch file"))?;
    page_cache::warm(file).map(drop)
}
