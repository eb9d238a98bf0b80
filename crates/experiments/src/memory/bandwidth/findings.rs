//! The meaning of the bandwidths, and their curves against block size.

use super::{
    BLOCK_SIZE, Backing, FIRST_WRITE, Faults, PAGES, READ, READ_FAULTS, Swap, WRITE, WRITE_FAULTS,
};
use crate::estimates::{extra_cost, grade, known, ratio, time_ns};
use crate::figures::{axis_of, curves, logarithmic};
use crate::memory::hierarchy;
use crate::memory::pages::Pages;
use crate::prelude::*;
use crate::subjects::GAIN_FROM_HUGE_PAGES;
use instrument::results::PointResult;

/// The page in which the report states its costs, in bytes.
const REPORT_PAGE_BYTES: f64 = 4096.0;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let Some(base) = Pages::base(results.machine) else {
        return Vec::new();
    };
    let huge = Pages::huge(results.machine);
    let found = [
        memory(results, base),
        huge.and_then(|huge| huge_pages(results, base, huge)),
        swapped(results).and_then(|swapped| swap(results, base, swapped)),
    ];
    found.into_iter().flatten().collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let base = Pages::base(results.machine);
    let found = base.map_or_else(Vec::new, |base| {
        hierarchy::found(&curve(results, READ, base), results.machine)
    });
    let marks = hierarchy::marks(&found, results.machine);
    let figure = |metric: Metric<&'static str>, title: &str| {
        let series = Pages::of_machine(results.machine).map(|pages| {
            let levels = [PAGES.at(Backing::Pages(pages))];
            results.series(&pages.to_string(), metric, BLOCK_SIZE, &levels)
        });
        let axes = (
            axis_of(BLOCK_SIZE),
            logarithmic("bandwidth", Unit::BytesPerSecond),
        );
        curves(metric, title, axes, series.collect(), marks.clone())
    };
    vec![
        figure(READ, "Reading memory"),
        figure(WRITE, "Writing memory"),
        figure(FIRST_WRITE, "Writing memory for the first time"),
    ]
}

pub(in crate::memory) fn curve<'r>(
    results: &'r Results,
    metric: Metric<&'static str>,
    pages: Pages,
) -> Vec<(Bytes, &'r Estimate)> {
    results.along(BLOCK_SIZE, metric, &[PAGES.at(Backing::Pages(pages))])
}

fn at<'r>(
    results: &'r Results,
    metric: Metric<&'static str>,
    size: Bytes,
    pages: Pages,
) -> Option<&'r Estimate> {
    let levels = [BLOCK_SIZE.at(size), PAGES.at(Backing::Pages(pages))];
    results.sound(metric, &levels)
}

/// The largest block of which each of these metrics is known with pages of each of these sizes.
fn largest(results: &Results, metrics: &[Metric<&'static str>], pages: &[Pages]) -> Option<Bytes> {
    let curve = curve(results, *metrics.first()?, *pages.first()?);
    let is_known = |size: &Bytes| {
        let mut wanted = pages
            .iter()
            .flat_map(|pages| metrics.iter().map(move |metric| (*metric, *pages)));
        wanted.all(|(metric, pages)| at(results, metric, *size, pages).is_some())
    };
    curve.into_iter().rev().map(|(size, _)| size).find(is_known)
}

/// The largest block that was read in both page sizes, and the rates in base and in huge pages.
pub(in crate::memory) fn in_both_pages<'r>(
    results: &'r Results,
) -> Option<(Bytes, &'r Estimate, &'r Estimate)> {
    let base = Pages::base(results.machine)?;
    let huge = Pages::huge(results.machine)?;
    let size = largest(results, &[READ], &[base, huge])?;
    let read = |pages| at(results, READ, size, pages);
    Some((size, read(base)?, read(huge)?))
}

/// The bandwidth of memory, and that of each cache.
fn memory(results: &Results, pages: Pages) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[pages])?;
    if size.0 < 2 * hierarchy::last_bytes(results.machine) {
        return None;
    }
    let read = at(results, READ, size, pages)?;
    let write = at(results, WRITE, size, pages)?;
    let said = sentence!(
        "One core reads {caches}{read} from blocks of {size} (memory), which it writes at {write}.",
        caches = hierarchy::inside(&curve(results, READ, pages), results.machine),
    );
    let grade = known(&[&read.quantity(), &write.quantity()]);
    Some(Finding::new("memory", said).graded(grade).weighing(0.6))
}

/// The extra time for a page of the report of `slow` over `fast`.
fn extra(slow: &Estimate, fast: &Estimate) -> Option<Quantity> {
    let time = |rate| time_ns(rate, REPORT_PAGE_BYTES);
    Some(time(slow)?.minus(time(fast)?))
}

fn huge_pages(results: &Results, base: Pages, huge: Pages) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[base, huge])?;
    let gain = |metric| {
        ratio(
            at(results, metric, size, huge)?,
            at(results, metric, size, base)?,
        )
    };
    let (read, write) = (gain(READ)?, gain(WRITE)?);
    let said = sentence!(
        "Blocks of {size} are read {read} and written {write} as fast in {huge} as in {base}."
    );
    let grade = grade(&read, 1.0).min(grade(&write, 1.0));
    let finding = Finding::new("huge_pages", said).about(
        GAIN_FROM_HUGE_PAGES,
        read,
        format!("reads in order of a block of {size}"),
    );
    Some(finding.graded(grade).weighing(0.55))
}

/// A block in swap, if one was measured.
fn swapped<'r>(results: &'r Results) -> Option<&'r PointResult> {
    let by = |swap| results.at(&[PAGES.at(Backing::Swap(swap))]);
    by(Swap::MemoryLimited).or_else(|| by(Swap::PagedOut))
}

fn swap(results: &Results, pages: Pages, swapped: &PointResult) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[pages])?;
    let over_memory = |metric| {
        let memory = at(results, metric, size, pages)?;
        extra(swapped.estimate(metric)?, memory)
    };
    let (read, write) = (over_memory(READ)?, over_memory(WRITE)?);
    let faults = |of: Faults| swapped.estimate(of.major);
    let (read_faults, write_faults) = (faults(READ_FAULTS)?, faults(WRITE_FAULTS)?);
    let said = sentence!(
        "4 KiB take {read} longer to read and {write} longer to write if they are in swap, with \
         {read_faults} and {write_faults} major page faults on average: the kernel reads ahead."
    );
    let costs = read.value > 0.0 && write.value > 0.0;
    let grade = extra_cost(&read).max(extra_cost(&write));
    let finding = Finding::new("swap", said).graded(grade);
    costs.then(|| finding.weighing(0.7))
}

#[cfg(test)]
mod tests {
    use super::super::Bandwidth;
    use super::*;
    use crate::made_up::{self, finding, findings, measured, results, value};
    use crate::memory::hierarchy::tests::cost_of;
    use crate::memory::pages::made_up::{BASE, HUGE};
    use instrument::figure::MarkOrigin;
    use platform::machine::Machine;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    /// ns for a byte of a block that is read through caches of 48 KiB, 2 MiB and 32 MiB.
    fn cost(size: f64) -> f64 {
        let levels = [(48.0 * KIB, 0.01), (2.0 * MIB, 0.03), (32.0 * MIB, 0.1)];
        cost_of(0.005, &levels, size)
    }

    fn at(size: f64, pages: Pages, factor: f64) -> PointResult {
        let point = Point::new()
            .at(BLOCK_SIZE, Bytes(size as u64))
            .at(PAGES, Backing::Pages(pages));
        let rate = factor * 1e9 / cost(size);
        // A first write costs 0.2 ns a byte more than a write: 819.2 ns for 4 KiB.
        let first = 1e9 / (2.0 * cost(size) / factor + 0.2);
        let rates = [(FIRST_WRITE, first), (READ, rate), (WRITE, rate / 2.0)];
        measured(point, &rates)
    }

    fn curve(pages: Pages, factor: f64) -> Vec<PointResult> {
        let half_steps = (20..=57).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
        half_steps.map(|size| at(size, pages, factor)).collect()
    }

    fn in_swap(swap: Swap, read: f64, write: f64) -> PointResult {
        let point = Point::new().at(BLOCK_SIZE, Bytes(64 << 20));
        let rates = [(READ, read), (WRITE, write)];
        let faults = [(READ_FAULTS.major, 0.125), (WRITE_FAULTS.major, 0.125)];
        let point = point.at(PAGES, Backing::Swap(swap));
        measured(point, &[rates, faults].concat())
    }

    fn findings_on(machine: &Machine, points: Vec<PointResult>) -> Vec<Finding> {
        Bandwidth.findings(&results(&Bandwidth.definition(), machine, points))
    }

    /// Makes sure that these numbers of findings are within 5 % of what is expected.
    fn assert_near(found: &[Finding], expected: &[(&str, &str, f64)]) {
        for (key, name, expected) in expected {
            let value = value(found, key, name);
            let is_near = (value / expected - 1.0).abs() < 0.05;
            assert!(is_near, "{key} {name}: {value}");
        }
    }

    #[test]
    fn caches_memory_and_pages_are_found() {
        let points = [curve(BASE, 1.0), curve(HUGE, 1.25)].concat();
        let found = findings(&Bandwidth, points);
        let memory = cost(2_f64.powf(28.5));
        let expected = [
            ("memory", "read", 1e9 / memory),
            ("memory", "cached", 1e9 / 0.005),
            ("huge_pages", "read", 1.25),
        ];
        assert_near(&found, &expected);
        let said = finding(&found, "memory").sentence.to_string();
        assert!(said.contains("(fits the level 3 cache), "), "{said}");
        let alike = [curve(BASE, 1.0), curve(HUGE, 1.0)].concat();
        let alike = findings(&Bandwidth, alike);
        assert_eq!(finding(&alike, "huge_pages").grade, Grade::Undecided);
    }

    #[test]
    fn swap_is_compared_with_memory() {
        let with = |read, write| {
            let swapped = in_swap(Swap::MemoryLimited, read, write);
            let found = findings(&Bandwidth, [curve(BASE, 1.0), vec![swapped]].concat());
            found.into_iter().filter(|it| it.key == "swap").collect()
        };
        // 4 KiB in 40.96 µs and 81.92 µs.
        let slow: Vec<Finding> = with(1e8, 5e7);
        let expected = [
            ("swap", "read", 40_960.0),
            ("swap", "write", 81_920.0),
            ("swap", "read_faults", 0.125),
        ];
        assert_near(&slow, &expected);
        // A cost below zero is noise.
        assert_eq!(with(8e11, 8e11), []);
    }

    #[test]
    fn a_block_that_a_cache_holds_is_not_called_memory() {
        assert_eq!(findings(&Bandwidth, Vec::new()), []);
        assert_eq!(findings_on(&Machine::default(), Vec::new()), []);
        assert_eq!(findings(&Bandwidth, vec![at(64.0 * KIB, BASE, 1.0)]), []);
    }

    #[test]
    fn figures_mark_what_was_found_and_what_is_documented() {
        let figures = made_up::figures(&Bandwidth, curve(BASE, 1.0));
        assert_eq!((figures.len(), figures[0].series.len()), (3, 2));
        let marks = figures[0].marks.iter().map(|mark| mark.origin);
        let found = marks.filter(|origin| *origin == MarkOrigin::Found);
        // Three are documented too: the instruction cache holds no data.
        assert_eq!((found.count(), figures[0].marks.len()), (3, 6));
    }
}
