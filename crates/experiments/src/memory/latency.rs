//! `memory.latency`: the time of a load that the processor cannot predict, by working set.

pub(super) use super::pages::AXIS as PAGES;

use super::hierarchy::{self, FoundCache, MODEL, found, in_words, marks};
use super::pages::{Pages, in_both};
use super::{SHARE_OF_MEMORY, SHORTEST_LOAD_NS, of_block, time_loads};
use crate::estimates::{extra_cost, of_values};
use crate::figures::{curves, logarithmic};
use crate::planning::{by_profile, powers};
use crate::prelude::*;
use std::collections::BTreeSet;

pub(super) const WORKING_SET: AxisOf<Bytes> = AxisOf::new("working_set", "working set");
pub(super) const STRIDE: AxisOf<Bytes> = AxisOf::new("stride", "stride");
pub(super) const LOAD: Metric = Metric::time("load", "load").bounded(SHORTEST_LOAD_NS);

/// The usual length of a cache line: the shortest stride at which each place has its own.
const SHORTEST_STRIDE: Bytes = Bytes(64);

const DESIGN: Design = Design {
    id: "memory.latency",
    title: "Load latency by working set",
    question: "How long does a program wait for a value from each cache and from memory, and how large \
               is each cache?",
    method: formatcp!(
        "A chain of addresses lies in memory, one in each stride, linked in random order. Each \
         load yields the address of the next, so loads cannot overlap and the processor cannot \
         prefetch. The time of a load is that of n steps over n, less the fixed cost that fewer \
         steps show; each leg continues where the last ended. Untimed steps before that bring what \
         fits into the caches. Huge pages keep address translation out of the time, and are \
         verified; base pages include it. Capacities are found from the curve with the largest \
         pages and the smallest stride, {MODEL}."
    ),
    source: "common practice (lmbench's lat_mem_rd, in random order)",
    axes: &[WORKING_SET.refined_by(1 << 10), STRIDE.axis(), PAGES.axis()],
    metrics: &[LOAD],
};

pub(crate) struct Latency;

impl Experiment for Latency {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    /// The whole curve in the largest pages, where capacities show best, and a few working sets in base
    /// pages and with longer strides.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let largest = largest(setting);
        let (Some(base), true) = (Pages::base(&setting.machine), largest > SMALLEST) else {
            return Vec::new();
        };
        let huge = Pages::huge(&setting.machine);
        let point = |size: u64, stride: Bytes, pages: Pages| {
            Point::new()
                .at(WORKING_SET, Bytes(size))
                .at(STRIDE, stride)
                .at(PAGES, pages)
        };
        let finest = huge.unwrap_or(base);
        let mut points: Vec<Point> = working_sets(setting, largest)
            .into_iter()
            .map(|size| point(size, SHORTEST_STRIDE, finest))
            .collect();
        let (few, strides): (Vec<u64>, &[u64]) = match setting.profile {
            Profile::Quick => (vec![16 * KIB, 512 * KIB, 16 * MIB, largest], &[]),
            Profile::Standard | Profile::Thorough => {
                let step = by_profile(setting.profile, [2, 2, 1]);
                let powers = powers(SMALLEST, largest).step_by(step);
                (powers.chain([largest]).collect(), &[256, 1024])
            }
        };
        let few: BTreeSet<u64> = few.into_iter().filter(|size| *size <= largest).collect();
        if huge.is_some() {
            points.extend(few.iter().map(|size| point(*size, SHORTEST_STRIDE, base)));
        }
        for stride in strides {
            let beyond_caches = few.iter().rev().take(2);
            points.extend(beyond_caches.map(|size| point(*size, Bytes(*stride), finest)));
        }
        points
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
        let Some(pages) = finest(results) else {
            return Vec::new();
        };
        let curve = curve(results, pages);
        let caches = found(&curve, results.machine);
        let capacities = caches.iter().enumerate();
        let capacities = capacities.filter_map(|(index, cache)| capacity(index, cache));
        let others = [memory(results, &curve), translation(results, pages)];
        capacities.chain(others.into_iter().flatten()).collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = Pages::of_machine(results.machine)
            .map(|pages| results.series(&pages.to_string(), LOAD, WORKING_SET, &line(pages)));
        let axes = (
            WORKING_SET,
            logarithmic("time of a load", Unit::Nanoseconds),
        );
        vec![Figure {
            marks: marks(&capacities(results), results.machine),
            ..curves(LOAD, "Waiting for a load", axes, series.collect())
        }]
    }
}

const SMALLEST: u64 = 8 * KIB;
/// The curve goes at least as far as the first, whatever is documented, and in no profile beyond the
/// second.
const AT_LEAST_UP_TO: u64 = 128 * MIB;
const AT_MOST_UP_TO: u64 = 1024 * MIB;
/// With less there would be no curve.
const LEAST_MEMORY: u64 = 16 * MIB * SHARE_OF_MEMORY;

fn largest(setting: &Setting) -> u64 {
    let beyond = by_profile(setting.profile, [2, 4, 4]);
    let wanted = beyond * hierarchy::last_bytes(&setting.machine);
    let wanted = wanted.clamp(AT_LEAST_UP_TO, AT_MOST_UP_TO);
    let possible = setting.available_bytes / SHARE_OF_MEMORY;
    wanted.min(possible) / KIB * KIB
}

/// Sizes about the documented caches, in eighths of their size: just below, and well above, where the
/// share of misses rises. The longer profiles, and machines that document no caches, add sizes in
/// between.
fn working_sets(setting: &Setting, largest: u64) -> BTreeSet<u64> {
    let (eighths, of_last, steps_per_doubling): (&[u64], &[u64], u64) = match setting.profile {
        Profile::Quick => (&[4, 7, 8, 9, 12, 20], &[4, 8, 12], 0),
        Profile::Standard => (&[4, 6, 7, 8, 9, 10, 12, 16, 20], &[4, 6, 8, 10, 12, 16], 1),
        Profile::Thorough => (
            &[4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24],
            &[4, 5, 6, 7, 8, 9, 10, 12, 14, 16],
            2,
        ),
    };
    let caches = hierarchy::documented(&setting.machine);
    let last = hierarchy::last_bytes(&setting.machine);
    let steps = if caches.is_empty() {
        steps_per_doubling.max(1)
    } else {
        steps_per_doubling
    };
    let about = caches.iter().flat_map(|cache| {
        let size = cache.size.0;
        let eighths = if size == last { of_last } else { eighths };
        eighths.iter().map(move |eighths| size / 8 * eighths)
    });
    let between = powers(SMALLEST, largest)
        .flat_map(|size| (0..steps).map(move |step| size + size / steps * step));
    about
        .chain(between)
        .chain([SMALLEST, AT_LEAST_UP_TO, largest / 2, largest])
        .map(|size| size / KIB * KIB)
        .filter(|size| (SMALLEST..=largest).contains(size))
        .collect()
}

/// The pages of the whole curve.
fn finest(results: &Results) -> Option<Pages> {
    Pages::huge(results.machine)
        .filter(|huge| !curve(results, *huge).is_empty())
        .or_else(|| Pages::base(results.machine))
}

fn line(pages: Pages) -> [(&'static str, Level); 2] {
    [STRIDE.at(SHORTEST_STRIDE), PAGES.at(pages)]
}

fn curve<'r>(results: &'r Results, pages: Pages) -> Vec<(Bytes, &'r Estimate)> {
    results.along(WORKING_SET, LOAD, &line(pages))
}

/// The caches that the whole curve shows, the smallest first.
pub(super) fn capacities(results: &Results) -> Vec<FoundCache> {
    let curve = finest(results).map_or_else(Vec::new, |pages| curve(results, pages));
    found(&curve, results.machine)
}

/// The largest working set that was measured in both page sizes, and its loads in base and in huge
/// pages.
pub(super) fn in_both_pages<'r>(
    results: &'r Results,
) -> Option<(Bytes, &'r Estimate, &'r Estimate)> {
    in_both(results.machine, |pages| curve(results, pages)).pop()
}

/// A capacity that no documented cache has.
fn capacity(index: usize, cache: &FoundCache) -> Option<Finding> {
    let capacity = cache.capacity;
    let size = in_words(capacity);
    let said = sentence!(
        "Loads slow down beyond working sets of {size}, where no documented cache ends. The TLB may \
         end there, or the part of a shared cache that this core gets."
    );
    let finding = Finding::new(&format!("capacity_{}", index + 1), said).graded(Grade::Likely);
    cache.documented.is_none().then(|| finding.weighing(0.5))
}

/// A load from memory, and one from each cache.
fn memory(results: &Results, curve: &[(Bytes, &Estimate)]) -> Option<Finding> {
    let (size, load) = *curve.last()?;
    if size.0 < 2 * hierarchy::last_bytes(results.machine) {
        return None;
    }
    let said = sentence!(
        "A load at a random address takes {caches}{load} from {size} (memory).",
        caches = hierarchy::inside(curve, results.machine),
    );
    Some(of_values("memory", said, [load]).weighing(0.65))
}

/// The extra time for the translation of addresses in base pages, where the curve is in huge ones.
fn translation(results: &Results, pages: Pages) -> Option<Finding> {
    let base = Pages::base(results.machine).filter(|base| *base != pages)?;
    let (size, in_base, in_huge) = in_both_pages(results)?;
    let extra = in_base.quantity().minus(in_huge.quantity());
    let said = sentence!(
        "A load at a random address of {size} takes {extra} longer in {base} than in {pages}: the time \
         to translate the address."
    );
    let finding = Finding::new("translation", said).graded(extra_cost(&extra));
    (extra.value > 0.0).then(|| finding.weighing(0.6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;
    use crate::memory::pages::made_up::{BASE, HUGE};
    use platform::machine::Machine;

    #[test]
    fn the_quick_curve_is_short_and_looks_about_every_cache() {
        let mut setting = setting(Profile::Quick);
        let points = Latency.points(&setting);
        assert!(points.len() <= 26, "{} points", points.len());
        let has = |points: &[Point], size| {
            let levels = [WORKING_SET.at(Bytes(size)), PAGES.at(HUGE)];
            points.iter().any(|point| point.matches(&levels))
        };
        for size in [42 * KIB, 48 * KIB, 54 * KIB, 2 * MIB, 32 * MIB, 128 * MIB] {
            assert!(has(&points, size), "{size}");
        }
        // The far size is the same where a cache is huge.
        setting.machine.caches[3].size_bytes = Some(300 * MIB);
        assert!(has(&Latency.points(&setting), 128 * MIB));
    }

    #[test]
    fn without_documented_caches_or_huge_pages_there_is_a_curve_all_the_same() {
        let setting = Setting {
            machine: Machine {
                page_bytes: Some(4096),
                ..Machine::default()
            },
            ..setting(Profile::Quick)
        };
        let points = Latency.points(&setting);
        assert!(points.len() >= 12, "{} points", points.len());
        assert!(points.iter().all(|point| point.level(PAGES) == Ok(BASE)));
    }
}
