//! `memory.latency`: how long a load takes that the processor cannot foresee, by working set.

mod findings;
mod points;

pub(super) use findings::{capacities, in_both_pages};

use super::chain::time_loads;
use super::levels::MODEL;
use super::pages::PAGES;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;

/// How long a load takes that the processor cannot foresee, by working set.
pub(crate) struct Latency;

const WORKING_SET: &str = "working_set";
const STRIDE: &str = "stride";
const LOAD: &str = "load";

/// A load from the nearest cache takes several cycles; no processor does ten in a nanosecond.
const SHORTEST_LOAD_NS: f64 = 0.1;

impl Experiment for Latency {
    fn id(&self) -> &'static str {
        "memory.latency"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Load latency by working set".into(),
            question: "How long does a program wait for a value in each cache and in memory, and \
                       how large is each cache?"
                .into(),
            method: format!(
                "A chain of addresses lies in memory, one in each stride, linked in random \
                     order; each load gives the address of the next, so that neither can loads \
                     overlap nor the processor fetch ahead. The time of a load is the difference \
                     of 2n and n steps, each going on where the last ended; the chain is gone \
                     through beforehand until what fits is in the caches. Huge pages keep the \
                     translation of addresses out of it, and are verified; base pages leave it \
                     in. Capacities are found from the curve with the largest pages and the \
                     smallest stride, {MODEL}."
            ),
            source: "common practice (lmbench's lat_mem_rd, in random order)".into(),
            axes: vec![
                Axis::bytes(WORKING_SET, "working set"),
                Axis::bytes(STRIDE, "stride"),
                Axis::choice(PAGES, "pages"),
            ],
            metrics: vec![
                Metric::new(LOAD, "load", Unit::Nanoseconds, Better::Lower)
                    .bounded(SHORTEST_LOAD_NS),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(points::LEAST_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let working_set = point.number(WORKING_SET)? as usize;
        let stride = point.number(STRIDE)? as usize;
        let places = working_set / stride;
        let pages = point.choice(PAGES)?;
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
    use super::{LOAD, Latency, STRIDE, WORKING_SET};
    use crate::made_up::{count, measure};
    use crate::memory::pages::{self, PAGES};
    use instrument::point::Point;
    use platform::machine::Machine;
    use std::path::Path;

    #[test]
    fn a_load_is_timed_here() {
        let Some(base) = pages::base(&Machine::read()) else {
            println!("skipped: the system does not tell its page size");
            return;
        };
        for (working_set, stride) in [(16 << 10, 64), (1 << 20, 256)] {
            let point = Point::new()
                .with(WORKING_SET, working_set)
                .with(STRIDE, stride)
                .with(PAGES, base.as_str());
            let (samples, _) = measure(&Latency, &point, Path::new("/")).expect("memory works");
            assert!(count(&samples, LOAD) >= 1, "{point}");
        }
    }
}
