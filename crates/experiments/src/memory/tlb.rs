//! `memory.tlb`: the number of pages that a program can use before address translation costs time.

pub(super) use super::pages::AXIS as PAGES;
use super::pages::{Pages, in_both};
use super::{SHARE_OF_MEMORY, time_loads};
use crate::estimates::ratio;
use crate::figures::{curves, linear, lines};
use crate::judging::above_from;
use crate::planning::{by_profile, powers};
use crate::prelude::*;

pub(crate) struct Tlb;

pub(super) const STRIDES: AxisOf<Count> = AxisOf::new("strides", "places, 4 KiB apart");
pub(super) const LOAD: Metric = Metric::time("load", "load");

/// The distance of the places, in bytes: the smallest page of every machine, so that both page sizes
/// use the same places.
const STRIDE: u64 = 4096;
/// The usual length of a cache line in bytes. Each place is a random line within its stride.
const LINE: usize = 64;
const FEWEST: u64 = 16;
const MOST: u64 = 1 << 15;
const LEAST_MEMORY: u64 = 1024 * STRIDE * SHARE_OF_MEMORY;
/// A load that takes this much longer is slowed down.
const SLOWED_DOWN: f64 = 1.1;

const DESIGN: Design = Design {
    id: "memory.tlb",
    title: "Address translation by number of pages",
    question: "How many pages can a program use in turn before address translation slows it down, and \
               how much do larger pages save?",
    method: "A chain of addresses has one place in each 4 KiB, at a random cache line. It is \
             followed in random order: each load yields the address of the next. In base pages of \
             4 KiB each step needs the translation of another page; in huge pages hundreds of steps \
             share one. The caches hold the same lines in both cases, so the difference between \
             the two is translation. Huge pages are verified. The time of a load is that of n \
             steps over n, less the fixed cost that fewer steps show.",
    source: "common practice (lmbench's tlb)",
    axes: &[STRIDES.refined_by(1), PAGES.axis()],
    metrics: &[LOAD],
};

impl Experiment for Tlb {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    /// In huge pages the curve is smooth, and the quick profile looks at every second point.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let possible = setting.available_bytes / SHARE_OF_MEMORY / STRIDE;
        let (most, step_in_huge) =
            by_profile(setting.profile, [(MOST / 2, 2), (MOST, 1), (MOST, 1)]);
        let most = possible.min(most);
        let counts: Vec<u64> = powers(FEWEST, most.max(1)).collect();
        let in_pages = |pages: Option<Pages>, step| {
            let counts = counts.iter().step_by(step);
            let point = move |count: &u64| {
                let point = Point::new().at(STRIDES, Count(*count));
                Some(point.at(PAGES, pages?))
            };
            counts.filter_map(point)
        };
        let in_base = in_pages(Pages::base(&setting.machine), 1);
        let in_huge = in_pages(Pages::huge(&setting.machine), step_in_huge);
        in_base.chain(in_huge).collect()
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let is_huge = point.level(PAGES).is_ok_and(Pages::is_huge);
        Some(if is_huge {
            Component::HugePages
        } else {
            Component::Core
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let places = point.level(STRIDES)?.0 as usize;
        let stride = STRIDE as usize;
        let line =
            |place: usize, random: &mut Random| place * stride + random.below(stride / LINE) * LINE;
        let pages = point.level(PAGES)?;
        time_loads(sampler, LOAD, pages, places * stride, places, line)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        reach(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let axes = (STRIDES, linear("time of a load", Unit::Nanoseconds));
        let lines = lines(results, LOAD, STRIDES, PAGES, &[]);
        vec![curves(LOAD, "Loads from many pages", axes, lines)]
    }
}

/// The numbers of places that were measured in both page sizes, with their loads in base and in huge
/// pages.
fn pairs<'r>(results: &'r Results) -> Vec<(Count, &'r Estimate, &'r Estimate)> {
    let curve = |pages| results.along(STRIDES, LOAD, &[PAGES.at(pages)]);
    in_both(results.machine, curve)
}

/// The most places that were measured in both page sizes, and their loads in base and in huge pages.
pub(super) fn in_both_pages<'r>(
    results: &'r Results,
) -> Option<(Count, &'r Estimate, &'r Estimate)> {
    pairs(results).pop()
}

/// The number of pages up to which translation costs nothing.
fn reach(results: &Results) -> Option<Finding> {
    let pairs = pairs(results);
    let slowed = pairs
        .iter()
        .filter_map(|(count, base, huge)| Some((*count, ratio(base, huge)?)));
    let onset = above_from(&slowed.collect::<Vec<_>>(), SLOWED_DOWN).ok()?;
    let (slow, base, huge) = pairs.iter().find(|(count, ..)| *count == onset.from)?;
    let page_bytes = results.machine.page_bytes?;
    let pages = |places: Count| Count((places.0 * STRIDE).div_ceil(page_bytes));
    let said = sentence!(
        "Translating the addresses of {free} pages ({free_bytes}) in turn costs no visible time; with \
         {slow} pages, a load takes {base} in {base_pages} and {huge} in {huge_pages}.",
        free = pages(onset.after),
        slow = pages(*slow),
        free_bytes = Bytes(onset.after.0 * STRIDE),
        base_pages = Pages::base(results.machine)?,
        huge_pages = Pages::huge(results.machine)?,
    );
    (!onset.is_everywhere()).then(|| Finding::new("reach", said).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::super::pages::made_up::HUGE;
    use super::*;
    use crate::made_up::{machine, measured, results};
    use platform::machine::Machine;

    #[test]
    fn pages_are_those_of_the_machine() {
        let machine = Machine {
            page_bytes: Some(64 << 10),
            ..machine()
        };
        let large = Pages::base(&machine).expect("it has pages");
        let point = |places, pages, load_ns| {
            let point = Point::new().at(STRIDES, Count(places));
            measured(point.at(PAGES, pages), &[(LOAD, load_ns)])
        };
        let curves = [(large, [2.0, 2.0, 4.0]), (HUGE, [2.0, 2.0, 2.0])];
        let points = curves.into_iter().flat_map(|(pages, loads)| {
            let places = [64, 256, 1024].into_iter().zip(loads);
            places.map(move |(places, load_ns)| point(places, pages, load_ns))
        });
        let definition = Tlb.definition();
        let results = results(&definition, &machine, points.collect());
        let said = reach(&results).expect("a reach").sentence.to_string();
        assert!(said.contains("of 16 pages (1 MiB)"), "{said}");
        assert!(said.contains("with 64 pages"), "{said}");
    }
}
