//! What the latencies mean.

use super::points::SHORTEST_STRIDE;
use super::{LOAD, STRIDE, WORKING_SET};
use crate::estimates::{WithEstimate, difference, estimated, extra_cost, side_by_side, told};
use crate::memory::caches;
use crate::memory::levels::{self, Level};
use crate::memory::pages::{self, PAGES};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale};
use instrument::finding::{Finding, Grade};
use instrument::point::Level as AxisLevel;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let Some(pages) = finest(results) else {
        return Vec::new();
    };
    let levels = levels_found(results, &pages);
    let capacities = levels.iter().enumerate();
    let mut findings: Vec<_> = capacities
        .filter_map(|(index, level)| capacity(results, &pages, index, level))
        .collect();
    findings.extend(memory(results, &pages));
    findings.extend(translation(results, &pages));
    findings
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let levels = capacities(results);
    let pages = [pages::base(results.machine), pages::huge(results.machine)];
    let lines = pages.into_iter().flatten();
    let series = lines.map(|pages| results.series(&pages, LOAD, WORKING_SET, &line(&pages)));
    vec![Figure {
        key: LOAD.into(),
        title: "Waiting for a load".into(),
        kind: FigureKind::Curve,
        x: FigureAxis {
            title: "working set".into(),
            unit: Some(Unit::Bytes),
            scale: FigureScale::Logarithmic,
        },
        y: FigureAxis {
            title: "time of a load".into(),
            unit: Some(Unit::Nanoseconds),
            scale: FigureScale::Logarithmic,
        },
        series: series.collect(),
        marks: caches::marks(&levels, results.machine),
    }]
}

/// The pages of the whole curve.
fn finest(results: &Results) -> Option<String> {
    let with_curve = |pages: &String| !results.curve(LOAD, WORKING_SET, &line(pages)).is_empty();
    pages::huge(results.machine)
        .filter(with_curve)
        .or_else(|| pages::base(results.machine))
}

fn line(pages: &str) -> [(&'static str, AxisLevel); 2] {
    [(STRIDE, SHORTEST_STRIDE.into()), (PAGES, pages.into())]
}

fn levels_found(results: &Results, pages: &str) -> Vec<Level> {
    let curve = results.curve(LOAD, WORKING_SET, &line(pages));
    let costs: Vec<_> = curve
        .into_iter()
        .map(|(size, load)| (size, load.by_process.clone()))
        .collect();
    levels::found(&costs, results.machine)
}

/// The caches that the whole curve shows, the smallest first.
pub(in crate::memory) fn capacities(results: &Results) -> Vec<Level> {
    finest(results).map_or_else(Vec::new, |pages| levels_found(results, &pages))
}

/// The largest working set that was measured in both page sizes, and its loads in base and in huge
/// pages.
pub(in crate::memory) fn in_both_pages<'r>(
    results: &'r Results,
) -> Option<(u64, &'r Estimate, &'r Estimate)> {
    let curve = |pages: &str| results.curve(LOAD, WORKING_SET, &line(pages));
    let base = curve(&pages::base(results.machine)?);
    let huge = curve(&pages::huge(results.machine)?);
    side_by_side(&base, &huge).pop()
}

fn at<'r>(results: &'r Results, size: u64, pages: &str) -> Option<&'r Estimate> {
    let curve = results.curve(LOAD, WORKING_SET, &line(pages));
    let found = curve.into_iter().find(|(measured, _)| *measured == size)?;
    Some(found.1)
}

fn capacity(results: &Results, pages: &str, index: usize, level: &Level) -> Option<Finding> {
    let load = at(results, level.typical_bytes, pages)?;
    let (template, grade) = match level.documented {
        Some((number, _)) => (
            format!(
                "A load from the level {number} cache takes {{load}}; working sets of up to \
                 {{capacity}} stay in it, documented as {{documented}}."
            ),
            Grade::Certain,
        ),
        None => (
            "Loads slow down beyond working sets of {capacity}, from {load} before, though no \
             cache of such a size is documented: a part of a cache that others use too, or the \
             reach of the address translation, may end there."
                .into(),
            Grade::Likely,
        ),
    };
    let finding = Finding::new(&format!("capacity_{}", index + 1), &template)
        .estimated(
            "capacity",
            level.capacity_bytes,
            level.interval,
            Unit::Bytes,
        )
        .with("load", &estimated(load), Unit::Nanoseconds);
    let finding = match level.documented {
        Some((_, size)) => finding.given("documented", size as f64, Unit::Bytes),
        None => finding,
    };
    let grade = if level.interval.is_some() {
        grade.max(told(load))
    } else {
        Grade::Likely
    };
    Some(finding.graded(grade).weighing(0.65))
}

fn memory(results: &Results, pages: &str) -> Option<Finding> {
    let curve = results.curve(LOAD, WORKING_SET, &line(pages));
    let (size, load) = curve.last()?;
    let is_beyond = *size >= 2 * caches::last_bytes(results.machine);
    let (template, grade) = if is_beyond {
        (
            "A load from memory takes {load} (working set {size}).",
            told(load),
        )
    } else {
        (
            "A load from the largest working set that fits into a quarter of the memory \
             available, {size}, takes {load}; a cache may hold a good part of it.",
            Grade::CannotBeTold,
        )
    };
    let finding = Finding::new("memory", template)
        .given("size", *size as f64, Unit::Bytes)
        .with("load", &estimated(load), Unit::Nanoseconds);
    Some(finding.graded(grade).weighing(0.75))
}

/// What the translation of addresses in base pages adds, where the curve is in huge ones.
fn translation(results: &Results, pages: &str) -> Option<Finding> {
    let base = pages::base(results.machine).filter(|base| base != pages)?;
    let (size, in_base, in_huge) = in_both_pages(results)?;
    let extra = difference(&estimated(in_base), &estimated(in_huge));
    let template = format!(
        "In {base}, each load from a working set of {{size}} takes {{extra}} longer than in \
         {pages}: that is the translation of its address."
    );
    let finding = Finding::new("translation", &template)
        .given("size", size as f64, Unit::Bytes)
        .with("extra", &extra, Unit::Nanoseconds);
    Some(finding.graded(extra_cost(&extra)).weighing(0.6))
}

#[cfg(test)]
mod tests {
    use super::super::{LOAD, Latency, STRIDE, WORKING_SET};
    use crate::made_up::{hierarchy_cost, machine, result, results, value};
    use crate::memory::pages::PAGES;
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::point::Point;
    use instrument::results::PointResult;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    fn cost(size: f64) -> f64 {
        let levels = [(48.0 * KIB, 4.0), (2.0 * MIB, 20.0), (32.0 * MIB, 80.0)];
        hierarchy_cost(1.5, &levels, size)
    }

    fn at(size: f64, pages: &str, factor: f64) -> PointResult {
        let point = Point::new()
            .with(WORKING_SET, size as u64)
            .with(STRIDE, 64)
            .with(PAGES, pages);
        result(point, &[(LOAD, factor * cost(size))])
    }

    fn found(points: Vec<PointResult>) -> Vec<Finding> {
        let (definition, machine) = (Latency.definition(), machine());
        let results = results(&definition, &machine, points);
        assert_eq!(Latency.figures(&results).len(), 1);
        Latency.findings(&results)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 0.1
    }

    #[test]
    fn caches_memory_and_translation_are_told_apart() {
        let sizes = (26..=54).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
        let mut points: Vec<_> = sizes.map(|size| at(size, "2 MiB pages", 1.0)).collect();
        points.push(at(128.0 * MIB, "4 KiB pages", 1.3));
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
    fn too_little_is_not_called_memory() {
        assert!(found(Vec::new()).is_empty());
        let found = found(vec![at(16.0 * MIB, "2 MiB pages", 1.0)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].grade, Grade::CannotBeTold);
    }
}
