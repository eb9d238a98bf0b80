//! `memory.latency`: the time of a load that the processor cannot predict, by working set.

mod definition;
mod findings;
mod points;

pub(super) use definition::{LOAD, PAGES, STRIDE, WORKING_SET};
pub(super) use findings::{capacities, in_both_pages};

use super::chain::time_loads;
use super::component::of_block;
use crate::prelude::*;
use definition::DESIGN;

/// The time of a load that the processor cannot predict, by working set.
pub(crate) struct Latency;

impl Experiment for Latency {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(points::LEAST_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn refined_axes(&self) -> &'static [RefinedAxis] {
        const { &[WORKING_SET.refined_by(1 << 10)] }
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let pages = point.level(PAGES).ok();
        Some(of_block(point.level(WORKING_SET).ok()?, pages))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let working_set = point.level(WORKING_SET)?.0 as usize;
        let stride = point.level(STRIDE)?.0 as usize;
        let places = working_set / stride;
        let pages = point.level(PAGES)?;
        time_loads(sampler, LOAD, pages, working_set, places, |place, _| {
            place * stride
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

#[cfg(test)]
mod tests {
    use super::{LOAD, Latency, PAGES, STRIDE, WORKING_SET};
    use crate::made_up::{count, measure};
    use crate::memory::pages::Pages;
    use crate::prelude::*;
    use platform::machine::Machine;
    use std::path::Path;

    #[test]
    fn a_load_is_timed_here() {
        let Some(base) = Pages::base(&Machine::read()) else {
            println!("skipped: the system does not report its page size");
            return;
        };
        for (working_set, stride) in [(16 << 10, 64), (1 << 20, 256)] {
            let point = Point::new()
                .at(WORKING_SET, Bytes(working_set))
                .at(STRIDE, Bytes(stride))
                .at(PAGES, base);
            let (samples, _) = measure(&Latency, &point, Path::new("/")).expect("memory works");
            assert!(count(&samples, LOAD) >= 1, "{point}");
        }
    }
}
