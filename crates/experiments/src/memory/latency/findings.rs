//! The meaning of the latencies.

use super::{LOAD, PAGES, SHORTEST_STRIDE, STRIDE, WORKING_SET};
use crate::estimates::{extra_cost, side_by_side, told};
use crate::figures::{axis_of, curves, logarithmic};
use crate::memory::hierarchy::{self, FoundCache, found, marks};
use crate::memory::pages::Pages;
use crate::prelude::*;
use instrument::point::Level;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let Some(pages) = finest(results) else {
        return Vec::new();
    };
    let curve = curve(results, pages);
    let caches = found(&curve, results.machine);
    let capacities = caches.iter().enumerate();
    let mut findings: Vec<_> = capacities
        .filter_map(|(index, cache)| capacity(&curve, index, cache))
        .collect();
    findings.extend(memory(results, &curve));
    findings.extend(translation(results, pages));
    findings
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let series = Pages::of_machine(results.machine)
        .map(|pages| results.series(&pages.to_string(), LOAD, WORKING_SET, &line(pages)));
    let axes = (
        axis_of(WORKING_SET),
        logarithmic("time of a load", Unit::Nanoseconds),
    );
    let marks = marks(&capacities(results), results.machine);
    vec![curves(
        LOAD,
        "Waiting for a load",
        axes,
        series.collect(),
        marks,
    )]
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

/// The loads by working set.
fn curve<'r>(results: &'r Results, pages: Pages) -> Vec<(Bytes, &'r Estimate)> {
    results.along(WORKING_SET, LOAD, &line(pages))
}

/// The caches that the whole curve shows, the smallest first.
pub(in crate::memory) fn capacities(results: &Results) -> Vec<FoundCache> {
    let curve = finest(results).map_or_else(Vec::new, |pages| curve(results, pages));
    found(&curve, results.machine)
}

/// The largest working set that was measured in both page sizes, and its loads in base and in huge
/// pages.
pub(in crate::memory) fn in_both_pages<'r>(
    results: &'r Results,
) -> Option<(Bytes, &'r Estimate, &'r Estimate)> {
    let base = curve(results, Pages::base(results.machine)?);
    let huge = curve(results, Pages::huge(results.machine)?);
    side_by_side(&base, &huge).pop()
}

fn capacity(curve: &[(Bytes, &Estimate)], index: usize, cache: &FoundCache) -> Option<Finding> {
    let (_, load) = curve.iter().find(|(size, _)| *size == cache.typical)?;
    let capacity = cache.capacity;
    let (said, grade) = match cache.documented {
        Some(it) => (
            sentence!(
                "A load from the level {level} cache takes {load}. Working sets of up to {capacity} stay \
                 in it; it is documented as {documented}.",
                level = it.level.to_string(),
                documented = it.size,
            ),
            told(load),
        ),
        None => (
            sentence!(
                "Loads slow down beyond working sets of {capacity}, from {load} below, though no \
                 cache of that size is documented. A shared part of a cache, or the reach of the \
                 TLB, may end there."
            ),
            told(load).max(Grade::Likely),
        ),
    };
    let grade = if capacity.interval.is_some() {
        grade
    } else {
        Grade::Likely
    };
    let finding = Finding::new(&format!("capacity_{}", index + 1), said);
    Some(finding.graded(grade).weighing(0.65))
}

fn memory(results: &Results, curve: &[(Bytes, &Estimate)]) -> Option<Finding> {
    let (size, load) = *curve.last()?;
    let is_beyond = size.0 >= 2 * hierarchy::last_bytes(results.machine);
    let (said, grade) = if is_beyond {
        (
            sentence!("A load from memory takes {load} (working set {size})."),
            told(load),
        )
    } else {
        (
            sentence!(
                "A load from the largest working set that fits into a quarter of the memory \
                 available, {size}, takes {load}. A cache may hold much of it."
            ),
            Grade::CannotBeTold,
        )
    };
    Some(Finding::new("memory", said).graded(grade).weighing(0.75))
}

/// The extra time for the translation of addresses in base pages, where the curve is in huge ones.
fn translation(results: &Results, pages: Pages) -> Option<Finding> {
    let base = Pages::base(results.machine).filter(|base| *base != pages)?;
    let (size, in_base, in_huge) = in_both_pages(results)?;
    let extra = in_base.quantity().minus(in_huge.quantity());
    let said = if extra.value > 0.0 {
        sentence!(
            "In {base}, each load from a working set of {size} takes {extra} longer than in {pages}: \
             this is the time to translate its address."
        )
    } else {
        sentence!(
            "In {base}, a load from a working set of {size} takes no longer than in {pages}: the \
             translation of addresses does not show."
        )
    };
    let finding = Finding::new("translation", said).beside("extra", extra);
    Some(finding.graded(extra_cost(&extra)).weighing(0.6))
}

#[cfg(test)]
mod tests {
    use super::super::Latency;
    use super::{LOAD, PAGES, STRIDE, WORKING_SET};
    use crate::made_up::{figures, finding, findings, measured, value};
    use crate::memory::hierarchy::tests::cost_of;
    use crate::memory::pages::Pages;
    use crate::memory::pages::made_up::{BASE, HUGE};
    use crate::prelude::*;
    use instrument::results::PointResult;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    fn cost(size: f64) -> f64 {
        let levels = [(48.0 * KIB, 4.0), (2.0 * MIB, 20.0), (32.0 * MIB, 80.0)];
        cost_of(1.5, &levels, size)
    }

    fn at(size: f64, pages: Pages, factor: f64) -> PointResult {
        let point = Point::new()
            .at(WORKING_SET, Bytes(size as u64))
            .at(STRIDE, Bytes(64))
            .at(PAGES, pages);
        measured(point, &[(LOAD, factor * cost(size))])
    }

    fn found(points: Vec<PointResult>) -> Vec<Finding> {
        assert_eq!(figures(&Latency, points.clone()).len(), 1);
        findings(&Latency, points)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 0.1
    }

    #[test]
    fn caches_memory_and_translation_are_told_apart() {
        let sizes = (26..=54).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
        let mut points: Vec<_> = sizes.map(|size| at(size, HUGE, 1.0)).collect();
        points.push(at(128.0 * MIB, BASE, 1.3));
        let found = found(points);
        for (key, capacity) in [
            ("capacity_1", 48.0 * KIB),
            ("capacity_2", 2.0 * MIB),
            ("capacity_3", 32.0 * MIB),
        ] {
            assert!(near(value(&found, key, "capacity"), capacity), "{found:?}");
        }
        assert!(near(value(&found, "memory", "load"), cost(128.0 * MIB)));
        assert!(near(
            value(&found, "translation", "extra"),
            0.3 * cost(128.0 * MIB)
        ));
    }

    #[test]
    fn no_time_below_zero_is_told() {
        let points = vec![at(128.0 * MIB, HUGE, 1.0), at(128.0 * MIB, BASE, 0.9)];
        let found = found(points);
        let translation = finding(&found, "translation");
        let mut said = translation.sentence.numbers();
        assert!(said.all(|it| it.quantity.value > 0.0), "{translation:?}");
        assert_eq!(translation.grade, Grade::CannotBeTold);
        assert!(value(&found, "translation", "extra") < 0.0);
    }

    #[test]
    fn too_little_is_not_called_memory() {
        assert!(found(Vec::new()).is_empty());
        let found = found(vec![at(16.0 * MIB, HUGE, 1.0)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].grade, Grade::CannotBeTold);
    }
}
