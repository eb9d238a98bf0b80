//! `memory.page_fault`: the cost of touching a page that is not there yet.

use super::{SUPPLIED, pages};
use crate::estimates::{by_ratio, found, grade, known, of_values, ratio};
use crate::figures::bars;
use crate::file::page_cache::{self, Chiller};
use crate::file::scratch_file::ScratchFile;
use crate::prelude::*;
use platform::file::{Access, LockedFile, OpenMode, evict, open_read};
use platform::memory::{Advice, FileMapping, Mapping, PageSize, page_bytes};
use platform::process::Twin;
use platform::storage::Storage;
use platform::usage::Usage;
use std::cell::{Cell, RefCell};
use std::hint::black_box;

const TOUCH: AxisOf<Touch> = AxisOf::new("touch", "touch");
const COST: Metric = Metric::time("cost", "cost of a page");
const MINOR: Metric = Metric::fact("minor_faults", "minor faults a page", Unit::Count);
const MAJOR: Metric = Metric::fact("major_faults", "major faults a page", Unit::Count);

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    #[choice("first touch")]
    First,
    #[choice("first touch, huge page")]
    FirstOfHugePage,
    #[choice("file, in page cache")]
    FileInPageCache,
    #[choice("file, on device")]
    FileOnDevice,
    CopyOnWrite,
}

const DESIGN: Design = Design {
    id: "memory.page_fault",
    title: "Page faults",
    question: "What does a page fault cost?",
    method: "One byte of each page of a mapping is touched, page after page, and the time is divided by \
             the number of pages. No page is mapped when a sample begins. First touch: written, in \
             private memory, where the kernel supplies a page of zeros; the same in huge pages, which \
             are verified. File, in page cache: read, in a mapping of a file that was evicted and read \
             in again from start to end. The way a file came into the cache decides how large the \
             pieces are in which the kernel holds it, and how many neighbours of a page it maps at \
             once. File, on device: read, in a mapping of a file of which nothing is cached, as \
             verified, without read-ahead, at pages far apart. Copy on write: written, in memory \
             shared with a forked copy of the process, where the kernel copies the page. Faults per \
             page are counted, those that read from the device (major) apart.",
    source: "common practice (lmbench's lat_pagefault)",
    axes: &[TOUCH.axis()],
    metrics: &[COST, MINOR, MAJOR],
};

pub(crate) struct PageFault;

const LEAST_MEMORY: u64 = 128 << 20;

impl Experiment for PageFault {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let has_huge = setting.machine.huge_page_bytes.is_some();
        let page = setting.machine.page_bytes.unwrap_or(0);
        let has_room = page > 0 && setting.free_bytes > 2 * PAGES as u64 * page;
        // A file system in memory has no device to read from.
        let storage = Storage::behind(&setting.directory);
        let has_device = storage.is_ok_and(|storage| !storage.is_memory());
        let is_possible = |touch: &&Touch| match touch {
            Touch::First | Touch::CopyOnWrite => true,
            Touch::FirstOfHugePage => has_huge,
            Touch::FileInPageCache => has_room,
            Touch::FileOnDevice => has_room && has_device,
        };
        let possible = Touch::ALL.iter().filter(is_possible);
        possible
            .map(|touch| Point::new().at(TOUCH, *touch))
            .collect()
    }

    fn counterpart(&self, _point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(SUPPLIED)
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        Some(match point.level(TOUCH).ok()? {
            Touch::FirstOfHugePage => Component::HugePages,
            Touch::FileOnDevice => Component::Disk,
            _ => Component::Processes,
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let unknown = || unsupported("the system does not report its page size");
        let page = page_bytes(PageSize::Base).ok_or_else(unknown)? as usize;
        let huge = page_bytes(PageSize::Huge).map(|bytes| bytes as usize);
        match point.level(TOUCH)? {
            Touch::First => first_touch(sampler, PAGES, page, PageSize::Base),
            Touch::FirstOfHugePage => {
                let huge = huge.ok_or_else(|| unsupported("this machine has no huge pages"))?;
                first_touch(sampler, HUGE_PAGES, huge, PageSize::Huge)
            }
            Touch::FileInPageCache => of_file(sampler, PAGES, page, false),
            Touch::FileOnDevice => of_file(sampler, COLD_PAGES, page, true),
            Touch::CopyOnWrite => copy_on_write(sampler, page),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([
            single(results, "first_touch", Touch::First, |cost| {
                sentence!("A page fault at the first write to fresh memory costs {cost}.")
            }),
            huge_pages(results),
            single(results, "file_cached", Touch::FileInPageCache, |cost| {
                sentence!(
                    "A page fault at the first access to a page of a mapped, cached file costs {cost}."
                )
            }),
            single(results, "file_cold", Touch::FileOnDevice, |cost| {
                sentence!(
                    "A major page fault, for a page of a mapped file that is read from the device \
                     without read-ahead, costs {cost}."
                )
            }),
            copying(results),
        ])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = results.series(COST.title, COST, TOUCH, &[]);
        let title = "Touching a page that is not there yet";
        vec![bars(COST, title, (TOUCH, COST), vec![series])]
    }
}

/// Pages touched in a sample: enough to take long compared to the clock's error.
const PAGES: usize = 2048;

const HUGE_PAGES: usize = 8;

/// Each of these waits for the device.
const COLD_PAGES: usize = 64;

const FILE: &str = "page-fault";

/// Times `touch`, which touches `pages` pages, after `prepare`, and counts the faults of the last sample.
fn time(
    sampler: &mut Sampler<'_>,
    pages: usize,
    mut prepare: impl FnMut() -> Result<(), MeasureError>,
    mut touch: impl FnMut(),
) -> Result<(), MeasureError> {
    let before = Cell::new(Usage::default());
    let prepare = |_: &mut Sampler<'_>| {
        prepare()?;
        before.set(Usage::of_thread()?);
        Ok(())
    };
    let touch = || {
        touch();
        Ok(())
    };
    sampler.once(COST, pages as f64, prepare, touch)?;
    let faults = Usage::of_thread()?.since(&before.get());
    sampler.value(MINOR, faults.minor_faults as f64 / pages as f64);
    sampler.value(MAJOR, faults.major_faults as f64 / pages as f64);
    Ok(())
}

fn write_to_each(memory: &mut Mapping, page: usize) {
    for byte in memory.as_mut_slice().iter_mut().step_by(page) {
        *byte = black_box(1);
    }
}

fn first_touch(
    sampler: &mut Sampler<'_>,
    count: usize,
    page: usize,
    page_size: PageSize,
) -> Result<(), MeasureError> {
    let new = || Mapping::anonymous(count * page, page_size);
    let memory = RefCell::new(new()?);
    let prepare = || {
        memory.replace(new()?);
        Ok(())
    };
    let touch = || write_to_each(&mut memory.borrow_mut(), page);
    time(sampler, count, prepare, touch)?;
    pages::verify(sampler, &memory.borrow(), page_size)
}

fn of_file(
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
    let prepare = || {
        // Unmaps the pages, as if the mapping were new; without that none can be evicted.
        mapping.borrow_mut().advise(Advice::DontNeed)?;
        let cached = if is_cold {
            chiller.chill(&mut scratch)
        } else {
            page_cache::warm(&scratch)
        };
        cached.map(drop)
    };
    let touch = || {
        let mapping = mapping.borrow();
        let touched = mapping.as_slice().iter().step_by(stride);
        black_box(touched.fold(0, |sum, byte| sum ^ black_box(*byte)));
    };
    time(sampler, count, prepare, touch)?;
    mapping.borrow().ensure_whole()?;
    chiller.remark_on(sampler)
}

fn copy_on_write(sampler: &mut Sampler<'_>, page: usize) -> Result<(), MeasureError> {
    let memory = RefCell::new(Mapping::anonymous(PAGES * page, PageSize::Base)?);
    memory.borrow_mut().populate()?;
    let twin = RefCell::new(None);
    let prepare = || {
        // The twin of the sample before ends first, or the pages would still be shared with it.
        twin.replace(None);
        twin.replace(Some(Twin::fork()?));
        Ok(())
    };
    let touch = || write_to_each(&mut memory.borrow_mut(), page);
    time(sampler, PAGES, prepare, touch)
}

fn cost<'r>(results: &'r Results, touch: Touch) -> Option<&'r Estimate> {
    results.sound(COST, &[TOUCH.at(touch)])
}

/// The cost of one kind of touch by itself.
fn single(
    results: &Results,
    key: &str,
    touch: Touch,
    say: fn(&Estimate) -> Sentence,
) -> Option<Finding> {
    let cost = cost(results, touch)?;
    Some(of_values(key, say(cost), [cost]))
}

/// The saving by a huge page, byte for byte.
fn huge_pages(results: &Results) -> Option<Finding> {
    let huge = cost(results, Touch::FirstOfHugePage)?;
    let base = cost(results, Touch::First)?;
    let pages_in_one = results.machine.huge_page_bytes? as f64 / results.machine.page_bytes? as f64;
    let saving = ratio(base, huge)?.times(pages_in_one);
    let (said, grade) = if saving.is_vague() {
        let said = sentence!(
            "The first write to a huge page of {size} costs {cost}.",
            size = Bytes(results.machine.huge_page_bytes?),
            cost = huge,
        );
        (said, known([huge]))
    } else {
        let said = sentence!(
            "The first write to a huge page costs {cost}: byte for byte, fresh memory is supplied \
             {saving} as fast as in base pages.",
            cost = huge,
        );
        (said, grade(&saving, 1.0))
    };
    let finding = Finding::new("huge_pages", said).with_number("saving", saving);
    Some(finding.graded(grade).weighing(0.55))
}

/// The cost of a page that a fork shares, over that of a fresh page.
fn copying(results: &Results) -> Option<Finding> {
    let copied = cost(results, Touch::CopyOnWrite)?;
    let fresh = cost(results, Touch::First)?;
    let ratio = ratio(copied, fresh)?;
    let said = sentence!(
        "After a fork, the first write to a page costs {cost}, because the kernel copies the page: \
         {ratio} the cost of a fresh one.",
        cost = copied,
    );
    Some(by_ratio("copy_on_write", said, &ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{measure, setting, values};

    fn point(touch: Touch) -> Point {
        Point::new().at(TOUCH, touch)
    }

    #[test]
    fn every_touch_takes_the_faults_that_its_name_says() {
        let scratch = scratch();
        let is_cold_possible = can_be_cold(scratch.path());
        for touch in Touch::ALL.iter().copied() {
            if touch == Touch::FileOnDevice && !is_cold_possible {
                continue;
            }
            let (samples, _) = match measure(&PageFault, &point(touch), scratch.path()) {
                Err(error) if touch == Touch::FirstOfHugePage => {
                    assert!(error.to_string().contains("huge"), "{error}");
                    continue;
                }
                measured => measured.unwrap_or_else(|error| panic!("{touch}: {error}")),
            };
            let [minor, major] = [MINOR, MAJOR].map(|faults| values(&samples, faults)[0]);
            let is_expected = match touch {
                Touch::FileInPageCache => minor > 0.0 && minor <= 1.1 && major < 0.01,
                Touch::FileOnDevice => major > 0.5,
                // A part of the memory may be in base pages.
                Touch::FirstOfHugePage => minor < 600.0,
                Touch::First | Touch::CopyOnWrite => minor > 0.9 && major < 0.01,
            };
            assert!(is_expected, "{touch}: {minor} {major}");
        }
    }

    #[test]
    fn what_the_machine_does_not_have_is_no_point() {
        let mut plain = setting(Profile::Quick);
        plain.machine.huge_page_bytes = None;
        plain.free_bytes = 0;
        let points = PageFault.points(&plain);
        assert_eq!(points, [point(Touch::First), point(Touch::CopyOnWrite)]);
    }
}
