//! `memory.page_fault`: what it costs to touch a page that is not there yet.

use super::pages;
use crate::estimates::{self, WithEstimate, estimated, grade, ratio};
use crate::file::page_cache::{self, Chiller};
use crate::file::scratch_file::ScratchFile;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale};
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use instrument::statistics::{Estimated, Interval};
use platform::file::{Access, LockedFile, OpenMode, Reach, evict, open_read};
use platform::machine::Machine;
use platform::memory::{Advice, FileMapping, Mapping, PageSize};
use platform::process::Twin;
use platform::storage::Storage;
use platform::usage::Usage;
use std::cell::{Cell, RefCell};
use std::hint::black_box;

/// What it costs to touch a page that is not there yet.
pub(crate) struct PageFault;

const TOUCH: &str = "touch";
const COST: &str = "cost";
const MINOR: &str = "minor_faults";
const MAJOR: &str = "major_faults";

const FIRST_TOUCH: &str = "first touch";
const FIRST_TOUCH_HUGE: &str = "first touch, huge page";
const FILE_CACHED: &str = "file, in page cache";
const FILE_COLD: &str = "file, on device";
const COPY_ON_WRITE: &str = "copy on write";

/// Pages touched in a sample: enough to be long beside the clock's error.
const PAGES: usize = 2048;
const HUGE_PAGES: usize = 8;
/// Each of these waits for the device.
const COLD_PAGES: usize = 64;
const LEAST_MEMORY: u64 = 128 << 20;
const FILE: &str = "page-fault";

impl Experiment for PageFault {
    fn id(&self) -> &'static str {
        "memory.page_fault"
    }

    fn definition(&self) -> Definition {
        let faults = |name, title| Metric::new(name, title, Unit::Count, Better::Neither);
        Definition {
            id: self.id().into(),
            title: "Page faults".into(),
            question: "What does it cost to touch memory that is not there yet?".into(),
            method: "One byte of each page of a mapping is touched, a page after the other, and \
                     the time is divided by the number of pages; nothing of it is mapped when a \
                     sample begins. First touch: written, in private memory, where the system makes a \
                     page of zeros; the same in huge pages, which are verified. File, in page \
                     cache: read, in a mapping of a file that was evicted and read in again from \
                     its start to its end, since how large the pieces are in which the kernel \
                     holds a file, and how many neighbours of a page it maps along with it, \
                     depends on how the file came there. File, on device: read, in a \
                     mapping of a file of which nothing is cached, as verified, and without \
                     reading ahead, the pages far apart. Copy on write: written, in memory shared with a forked copy \
                     of the process, where the system copies the page. How many faults a page \
                     took is counted, those that read from the device (major) apart."
                .into(),
            source: "common practice (lmbench's lat_pagefault)".into(),
            axes: vec![Axis::choice(TOUCH, "touch")],
            metrics: vec![
                Metric::new(COST, "cost of a page", Unit::Nanoseconds, Better::Lower),
                faults(MINOR, "minor faults a page"),
                faults(MAJOR, "major faults a page"),
            ],
            isolation: Isolation::FreshProcess,
        }
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
        let touches = [
            (FIRST_TOUCH, true),
            (FIRST_TOUCH_HUGE, has_huge),
            (FILE_CACHED, has_room),
            (FILE_COLD, has_room && has_device),
            (COPY_ON_WRITE, true),
        ];
        let possible = touches.into_iter().filter(|(_, is_possible)| *is_possible);
        possible
            .map(|(touch, _)| Point::new().with(TOUCH, touch))
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let machine = Machine::read();
        let unknown = || MeasureError::Unsupported("the system does not tell its page size".into());
        let page = machine.page_bytes.ok_or_else(unknown)? as usize;
        let huge = machine.huge_page_bytes.map(|bytes| bytes as usize);
        match point.choice(TOUCH)? {
            FIRST_TOUCH => first_touch(sampler, PAGES, page, PageSize::Base),
            FIRST_TOUCH_HUGE => {
                let huge = huge.ok_or_else(|| {
                    MeasureError::Unsupported("this machine has no huge pages".into())
                })?;
                first_touch(sampler, HUGE_PAGES, huge, PageSize::Huge)
            }
            FILE_CACHED => of_file(sampler, PAGES, page, false),
            FILE_COLD => of_file(sampler, COLD_PAGES, page, true),
            COPY_ON_WRITE => copy_on_write(sampler, page),
            other => Err(MeasureError::Unsupported(format!(
                "pages cannot be touched by '{other}'"
            ))),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        vec![Figure {
            key: COST.into(),
            title: "Touching a page that is not there yet".into(),
            kind: FigureKind::Bars,
            x: FigureAxis {
                title: "touch".into(),
                unit: None,
                scale: FigureScale::Linear,
            },
            y: FigureAxis {
                title: "cost of a page".into(),
                unit: Some(Unit::Nanoseconds),
                scale: FigureScale::Logarithmic,
            },
            series: vec![results.series("cost of a page", COST, TOUCH, &[])],
            marks: Vec::new(),
        }]
    }
}

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
        sampler.value(MINOR, faults.minor_faults as f64 / pages as f64)?;
        sampler.value(MAJOR, faults.major_faults as f64 / pages as f64)
    }
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
    match pages::remark(&memory.borrow(), page_size)? {
        Some(remark) => sampler.remark(remark),
        None => Ok(()),
    }
}

fn of_file(
    sampler: &mut Sampler<'_>,
    count: usize,
    page: usize,
    is_cold: bool,
) -> Result<(), MeasureError> {
    let len = PAGES * page;
    let path = sampler.scratch().join(FILE);
    let scratch = ScratchFile::open_or_make(&path, len as u64, sampler.seed())?;
    let mut chiller = Chiller::new(&scratch.file, &path)?;
    // A few pages far apart, so that none of them lies in what was read for another.
    let stride = len / count;
    let mut locked = LockedFile::lock(open_read(&path, OpenMode::Plain)?, Access::Read)?;
    let mapping = RefCell::new(FileMapping::new(&mut locked, 0, len)?);
    if is_cold {
        mapping.borrow_mut().advise(Advice::Random)?;
    } else {
        // Else it would be as whoever was here before has left it. Where nothing can be evicted, as
        // in a file system in memory, there is one way only.
        evict(&scratch.file, Reach::File).ok();
    }
    let faults = Faults::default();
    sampler.once(
        COST,
        count as f64,
        |_| {
            // Unmaps the pages, as if the mapping were new; without that none can be evicted.
            mapping.borrow_mut().advise(Advice::DontNeed)?;
            if is_cold {
                chiller.chill()?;
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
    match chiller.remark() {
        Some(remark) => sampler.remark(remark),
        None => Ok(()),
    }
}

fn copy_on_write(sampler: &mut Sampler<'_>, page: usize) -> Result<(), MeasureError> {
    let memory = RefCell::new(Mapping::anonymous(PAGES * page, PageSize::Base)?);
    memory.borrow_mut().populate()?;
    let twin = RefCell::new(None);
    let faults = Faults::default();
    sampler.once(
        COST,
        PAGES as f64,
        |_| {
            // The one before ends first, or the pages would be shared with it already.
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

/// The cost of a page, where it is known.
fn cost<'r>(results: &'r Results, touch: &str) -> Option<&'r Estimate> {
    let estimate = results.at(&[(TOUCH, touch.into())])?.estimate(COST)?;
    estimate.is_sound().then_some(estimate)
}

fn findings(results: &Results) -> Vec<Finding> {
    let told = |key: &str, touch: &str, template: &str| {
        let cost = cost(results, touch)?;
        let finding = Finding::new(key, template)
            .with("cost", &estimated(cost), Unit::Nanoseconds)
            .graded(estimates::told(cost))
            .weighing(0.5);
        Some(finding)
    };
    let findings = [
        told(
            "first_touch",
            FIRST_TOUCH,
            "The first touch of a page of fresh memory costs {cost}.",
        ),
        huge_pages(results),
        told(
            "file_cached",
            FILE_CACHED,
            "A page of a cached file that is mapped costs {cost} at its first touch.",
        ),
        told(
            "file_cold",
            FILE_COLD,
            "A page of a mapped file that must be read from the device costs {cost}.",
        ),
        copying(results),
    ];
    findings.into_iter().flatten().collect()
}

/// What a huge page saves, byte for byte.
fn huge_pages(results: &Results) -> Option<Finding> {
    let huge = cost(results, FIRST_TOUCH_HUGE)?;
    let base = cost(results, FIRST_TOUCH)?;
    let pages_in_one = results.machine.huge_page_bytes? as f64 / results.machine.page_bytes? as f64;
    let ratio = ratio(base, huge)?;
    let saving = Estimated {
        centre: ratio.centre * pages_in_one,
        interval: ratio
            .interval
            .and_then(|ratio| Interval::new(ratio.low * pages_in_one, ratio.high * pages_in_one)),
        ..ratio
    };
    let template = "The first touch of a huge page costs {cost}: byte for byte, fresh memory comes \
                    {saving} as fast as in small pages.";
    let finding = Finding::new("huge_pages", template)
        .with("cost", &estimated(huge), Unit::Nanoseconds)
        .with("saving", &saving, Unit::Ratio);
    Some(finding.graded(grade(&saving, 1.0)).weighing(0.55))
}

/// What a page costs that a fork shares, over one that is merely new.
fn copying(results: &Results) -> Option<Finding> {
    let copied = cost(results, COPY_ON_WRITE)?;
    let fresh = cost(results, FIRST_TOUCH)?;
    let ratio = ratio(copied, fresh)?;
    let template = "After a fork, the first write to each page costs {cost}, since the page is \
                    copied: {ratio} the cost of a fresh page.";
    let finding = Finding::new("copy_on_write", template)
        .with("cost", &estimated(copied), Unit::Nanoseconds)
        .with("ratio", &ratio, Unit::Ratio);
    Some(finding.graded(grade(&ratio, 1.0)).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::{
        COPY_ON_WRITE, COST, FILE_CACHED, FILE_COLD, FIRST_TOUCH, FIRST_TOUCH_HUGE, MAJOR, MINOR,
        PageFault, TOUCH,
    };
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{machine, measure, result, results, setting, values};
    use instrument::experiment::Experiment;
    use instrument::plan::Profile;
    use instrument::point::Point;

    fn point(touch: &str) -> Point {
        Point::new().with(TOUCH, touch)
    }

    #[test]
    fn every_touch_takes_the_faults_that_its_name_says() {
        let scratch = scratch();
        let is_cold_possible = can_be_cold(scratch.path());
        for touch in [FIRST_TOUCH, FILE_CACHED, FILE_COLD, COPY_ON_WRITE] {
            if touch == FILE_COLD && !is_cold_possible {
                continue;
            }
            let (samples, _) = measure(&PageFault, &point(touch), scratch.path())
                .unwrap_or_else(|error| panic!("{touch}: {error}"));
            let [minor, major] = [MINOR, MAJOR].map(|faults| values(&samples, faults)[0]);
            match touch {
                FILE_CACHED => assert!(minor > 0.0 && minor <= 1.1 && major < 0.01, "{minor}"),
                FILE_COLD => assert!(major > 0.5, "{touch}: {major}"),
                _ => assert!(minor > 0.9 && major < 0.01, "{touch}: {minor} {major}"),
            }
        }
    }

    #[test]
    fn huge_pages_are_there_or_the_point_says_why_not() {
        let scratch = scratch();
        match measure(&PageFault, &point(FIRST_TOUCH_HUGE), scratch.path()) {
            Ok((samples, _)) => assert!(values(&samples, MINOR)[0] < 600.0),
            Err(error) => assert!(error.to_string().contains("huge"), "{error}"),
        }
    }

    #[test]
    fn costs_are_told_and_set_against_each_other() {
        let costs = [
            (FIRST_TOUCH, 500.0),
            (FIRST_TOUCH_HUGE, 64_000.0),
            (FILE_CACHED, 100.0),
            (COPY_ON_WRITE, 1000.0),
        ];
        let points = costs.map(|(touch, cost)| result(point(touch), &[(COST, cost)]));
        let (definition, machine) = (PageFault.definition(), machine());
        let found = PageFault.findings(&results(&definition, &machine, points.to_vec()));
        let keys: Vec<&str> = found.iter().map(|finding| finding.key.as_str()).collect();
        assert_eq!(
            keys,
            ["first_touch", "huge_pages", "file_cached", "copy_on_write"]
        );
        assert!((found[1].numbers[1].value - 4.0).abs() < 0.01, "{found:?}");
        assert!((found[3].numbers[1].value - 2.0).abs() < 0.01);
    }

    #[test]
    fn what_the_machine_lacks_is_no_point() {
        let mut plain = setting(Profile::Quick);
        plain.machine.huge_page_bytes = None;
        plain.free_bytes = 0;
        let points = PageFault.points(&plain);
        assert_eq!(points, [point(FIRST_TOUCH), point(COPY_ON_WRITE)]);
    }
}
