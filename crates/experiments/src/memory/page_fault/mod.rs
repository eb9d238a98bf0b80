//! `memory.page_fault`: the cost of touching a page that is not there yet.

mod definition;
mod findings;
mod touch;

use super::counterparts::SUPPLIED;
use crate::figures::{axis_of, bars, scale_of};
use crate::prelude::*;
use definition::{COST, DESIGN, TOUCH, Touch};
use platform::memory::{PageSize, page_bytes};
use platform::storage::Storage;
use touch::{COLD_PAGES, HUGE_PAGES, PAGES, copy_on_write, first_touch, of_file};

/// The cost of touching a page that is not there yet.
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
        let unknown =
            || MeasureError::Unsupported("the system does not report its page size".into());
        let page = page_bytes(PageSize::Base).ok_or_else(unknown)? as usize;
        let huge = page_bytes(PageSize::Huge).map(|bytes| bytes as usize);
        match point.level(TOUCH)? {
            Touch::First => first_touch(sampler, PAGES, page, PageSize::Base),
            Touch::FirstOfHugePage => {
                let huge = huge.ok_or_else(|| {
                    MeasureError::Unsupported("this machine has no huge pages".into())
                })?;
                first_touch(sampler, HUGE_PAGES, huge, PageSize::Huge)
            }
            Touch::FileInPageCache => of_file(sampler, PAGES, page, false),
            Touch::FileOnDevice => of_file(sampler, COLD_PAGES, page, true),
            Touch::CopyOnWrite => copy_on_write(sampler, page),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = results.series(COST.title, COST, TOUCH, &[]);
        vec![bars(
            COST,
            "Touching a page that is not there yet",
            (axis_of(TOUCH), scale_of(COST)),
            vec![series],
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::definition::{MAJOR, MINOR};
    use super::{PageFault, TOUCH, Touch};
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{measure, setting, values};
    use crate::prelude::*;

    fn point(touch: Touch) -> Point {
        Point::new().at(TOUCH, touch)
    }

    #[test]
    fn every_touch_takes_the_faults_that_its_name_says() {
        let scratch = scratch();
        let is_cold_possible = can_be_cold(scratch.path());
        for touch in Touch::ALL.iter().copied() {
            if touch == Touch::FirstOfHugePage
                || (touch == Touch::FileOnDevice && !is_cold_possible)
            {
                println!("skipped here: {touch}");
                continue;
            }
            let (samples, _) = measure(&PageFault, &point(touch), scratch.path())
                .unwrap_or_else(|error| panic!("{touch}: {error}"));
            let [minor, major] = [MINOR, MAJOR].map(|faults| values(&samples, faults)[0]);
            match touch {
                Touch::FileInPageCache => {
                    assert!(minor > 0.0 && minor <= 1.1 && major < 0.01, "{minor}");
                }
                Touch::FileOnDevice => assert!(major > 0.5, "{touch}: {major}"),
                _ => assert!(minor > 0.9 && major < 0.01, "{touch}: {minor} {major}"),
            }
        }
    }

    #[test]
    fn huge_pages_are_there_or_the_point_says_why_not() {
        let scratch = scratch();
        match measure(&PageFault, &point(Touch::FirstOfHugePage), scratch.path()) {
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
        assert_eq!(points, [point(Touch::First), point(Touch::CopyOnWrite)]);
    }
}
