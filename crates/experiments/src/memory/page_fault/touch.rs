//! Touching pages that were made to be missing.

use super::definition::{COST, MAJOR, MINOR};
use crate::file::page_cache::{self, Chiller};
use crate::file::scratch_file::ScratchFile;
use crate::memory::pages;
use crate::prelude::*;
use platform::file::{Access, LockedFile, OpenMode, evict, open_read};
use platform::memory::{Advice, FileMapping, Mapping, PageSize};
use platform::process::Twin;
use platform::usage::Usage;
use std::cell::{Cell, RefCell};
use std::hint::black_box;

/// Pages touched in a sample: enough to take long compared to the clock's error.
pub(super) const PAGES: usize = 2048;

pub(super) const HUGE_PAGES: usize = 8;

/// Each of these waits for the device.
pub(super) const COLD_PAGES: usize = 64;

const FILE: &str = "page-fault";

/// Counts the faults of the last sample.
#[derive(Default)]
struct Faults(Cell<Usage>);

impl Faults {
    fn begin(&self) -> Result<(), MeasureError> {
        self.0.set(Usage::of_thread()?);
        Ok(())
    }

    fn end(&self, sampler: &mut Sampler<'_>, pages: usize) -> Result<(), MeasureError> {
        let faults = Usage::of_thread()?.since(&self.0.get());
        sampler.value(MINOR, faults.minor_faults as f64 / pages as f64);
        sampler.value(MAJOR, faults.major_faults as f64 / pages as f64);
        Ok(())
    }
}

fn write_to_each(memory: &mut Mapping, page: usize) {
    for byte in memory.as_mut_slice().iter_mut().step_by(page) {
        *byte = black_box(1);
    }
}

pub(super) fn first_touch(
    sampler: &mut Sampler<'_>,
    count: usize,
    page: usize,
    page_size: PageSize,
) -> Result<(), MeasureError> {
    let new = || Mapping::anonymous(count * page, page_size);
    let memory = RefCell::new(new()?);
    let faults = Faults::default();
    sampler.once(
        COST,
        count as f64,
        |_| {
            memory.replace(new()?);
            faults.begin()
        },
        || {
            write_to_each(&mut memory.borrow_mut(), page);
            Ok(())
        },
    )?;
    faults.end(sampler, count)?;
    if let Some(remark) = pages::remark(&memory.borrow(), page_size)? {
        sampler.remark(remark);
    }
    Ok(())
}

pub(super) fn of_file(
    sampler: &mut Sampler<'_>,
    count: usize,
    page: usize,
    is_cold: bool,
) -> Result<(), MeasureError> {
    let len = PAGES * page;
    let path = sampler.scratch().join(FILE);
    let mut scratch = ScratchFile::open_or_make(&path, len as u64, sampler.seed())?;
    let mut chiller = Chiller::new(&scratch)?;
    // A few pages far apart, so that none of them lies in what was read for another.
    let stride = len / count;
    let mut locked = LockedFile::lock(open_read(&path, OpenMode::Plain)?, Access::Read)?;
    let mapping = RefCell::new(FileMapping::new(&mut locked, 0, len)?);
    if is_cold {
        mapping.borrow_mut().advise(Advice::Random)?;
    } else {
        // The file may be cached in another way by earlier use. Eviction fails in a file system in
        // memory, where a file is cached in only one way.
        evict(&scratch.file).ok();
    }
    let faults = Faults::default();
    sampler.once(
        COST,
        count as f64,
        |_| {
            // Unmaps the pages, as if the mapping were new; without that none can be evicted.
            mapping.borrow_mut().advise(Advice::DontNeed)?;
            if is_cold {
                chiller.chill(&mut scratch)?;
            } else {
                page_cache::warm(&scratch)?;
            }
            faults.begin()
        },
        || {
            let mapping = mapping.borrow();
            let touched = mapping.as_slice().iter().step_by(stride);
            black_box(touched.fold(0, |sum, byte| sum ^ black_box(*byte)));
            Ok(())
        },
    )?;
    faults.end(sampler, count)?;
    mapping.borrow().ensure_whole()?;
    chiller.remark_on(sampler)
}

pub(super) fn copy_on_write(sampler: &mut Sampler<'_>, page: usize) -> Result<(), MeasureError> {
    let memory = RefCell::new(Mapping::anonymous(PAGES * page, PageSize::Base)?);
    memory.borrow_mut().populate()?;
    let twin = RefCell::new(None);
    let faults = Faults::default();
    sampler.once(
        COST,
        PAGES as f64,
        |_| {
            // The twin of the sample before ends first, or the pages would still be shared with it.
            twin.replace(None);
            twin.replace(Some(Twin::fork()?));
            faults.begin()
        },
        || {
            write_to_each(&mut memory.borrow_mut(), page);
            Ok(())
        },
    )?;
    faults.end(sampler, PAGES)
}
