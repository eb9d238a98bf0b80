//! `memory.page_fault`: what it costs to touch a page that is not there yet.

mod findings;
mod touch;

use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale};
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use platform::machine::Machine;
use platform::memory::PageSize;
use platform::storage::Storage;
use touch::{COLD_PAGES, HUGE_PAGES, PAGES, copy_on_write, first_touch, of_file};

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

const LEAST_MEMORY: u64 = 128 << 20;
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
        findings::all(results)
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

#[cfg(test)]
mod tests {
    use super::{
        COPY_ON_WRITE, FILE_CACHED, FILE_COLD, FIRST_TOUCH, FIRST_TOUCH_HUGE, MAJOR, MINOR,
        PageFault, TOUCH,
    };
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{measure, setting, values};
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
    fn what_the_machine_lacks_is_no_point() {
        let mut plain = setting(Profile::Quick);
        plain.machine.huge_page_bytes = None;
        plain.free_bytes = 0;
        let points = PageFault.points(&plain);
        assert_eq!(points, [point(FIRST_TOUCH), point(COPY_ON_WRITE)]);
    }
}
