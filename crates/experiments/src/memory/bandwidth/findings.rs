//! The meaning of the bandwidths, and their curves against block size.

use super::{
    BLOCK_SIZE, Backing, FIRST_WRITE, Faults, PAGES, READ, READ_FAULTS, Swap, WRITE, WRITE_FAULTS,
};
use crate::estimates::{extra_cost, found, grade, of_values, ratio, time_ns};
use crate::figures::{curves, logarithmic};
use crate::listing::{LISTING, listed};
use crate::memory::hierarchy;
use crate::memory::pages::{Pages, in_both};
use crate::prelude::*;
use crate::subjects::GAIN_FROM_HUGE_PAGES;

/// The page in which the report states its costs, in bytes.
const REPORT_PAGE_BYTES: f64 = 4096.0;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let Some(base) = Pages::base(results.machine) else {
        return Vec::new();
    };
    let huge = Pages::huge(results.machine);
    found([
        memory(results, base),
        huge.and_then(|huge| huge_pages(results, base, huge)),
        swapped(results).and_then(|swapped| swap(results, base, swapped)),
    ])
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let (results, listed) = (&results.without(LISTING), listed(results));
    let base = Pages::base(results.machine);
    let found = base.map_or_else(Vec::new, |base| {
        hierarchy::found(&curve(results, READ, base), results.machine)
    });
    let marks = hierarchy::marks(&found, results.machine);
    let figure = |metric: Metric, title: &str| {
        let series = Pages::of_machine(results.machine).map(|pages| {
            let levels = [PAGES.at(Backing::Pages(pages))];
            results.series(&pages.to_string(), metric, BLOCK_SIZE, &levels)
        });
        let axes = (BLOCK_SIZE, logarithmic("bandwidth", Unit::BytesPerSecond));
        Figure {
            marks: marks.clone(),
            ..curves(metric, title, axes, series.collect())
        }
    };
    let by_listing = [READ, WRITE].map(|metric| {
        let pages = base.map(|base| PAGES.at(Backing::Pages(base)));
        listed.series(metric.title, metric, BLOCK_SIZE, pages.as_slice())
    });
    let title = "Reading and writing memory by the report's listing";
    let axes = (BLOCK_SIZE, logarithmic("bandwidth", Unit::BytesPerSecond));
    let by_listing = Figure {
        marks: marks.clone(),
        ..curves("listed", title, axes, by_listing.into())
    };
    let has_listed = !listed.points.is_empty();
    let mut figures = vec![
        figure(READ, "Reading memory"),
        figure(WRITE, "Writing memory"),
        figure(FIRST_WRITE, "Writing memory for the first time"),
    ];
    figures.extend(has_listed.then_some(by_listing));
    figures
}

pub(in crate::memory) fn curve<'r>(
    results: &'r Results,
    metric: Metric,
    pages: Pages,
) -> Vec<(Bytes, &'r Estimate)> {
    results.along(BLOCK_SIZE, metric, &[PAGES.at(Backing::Pages(pages))])
}

fn at<'r>(results: &'r Results, metric: Metric, size: Bytes, pages: Pages) -> Option<&'r Estimate> {
    let levels = [BLOCK_SIZE.at(size), PAGES.at(Backing::Pages(pages))];
    results.sound(metric, &levels)
}

/// The largest block of which each of these metrics is known with pages of each of these sizes.
fn largest(results: &Results, metrics: &[Metric], pages: &[Pages]) -> Option<Bytes> {
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
    in_both(results.machine, |pages| curve(results, READ, pages)).pop()
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
    Some(of_values("memory", said, [read, write]).weighing(0.6))
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
        extra(swapped.sound(metric)?, memory)
    };
    let (read, write) = (over_memory(READ)?, over_memory(WRITE)?);
    let faults = |of: Faults| swapped.sound(of.major);
    let (read_faults, write_faults) = (faults(READ_FAULTS)?, faults(WRITE_FAULTS)?);
    let said = sentence!(
        "4 KiB take {read} longer to read and {write} longer to write if they are in swap, with \
         {read_faults} and {write_faults} major page faults on average, fewer than 1 if the \
         kernel reads ahead."
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
    use crate::made_up::{self, measured};
    use crate::memory::hierarchy::tests::cost_of;
    use crate::memory::pages::made_up::BASE;
    use instrument::figure::MarkOrigin;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    #[test]
    fn figures_mark_what_was_found_and_what_is_documented() {
        let levels = [(48.0 * KIB, 0.01), (2.0 * MIB, 0.03), (32.0 * MIB, 0.1)];
        let points = (10..=28).map(|step| {
            let size = 2_f64.powi(step);
            let point = Point::new().at(BLOCK_SIZE, Bytes(size as u64));
            let point = point.at(PAGES, Backing::Pages(BASE));
            measured(point, &[(READ, 1e9 / cost_of(0.005, &levels, size))])
        });
        let figures = made_up::figures(&Bandwidth, points.collect());
        assert_eq!((figures.len(), figures[0].series.len()), (3, 2));
        let marks = figures[0].marks.iter().map(|mark| mark.origin);
        let found = marks.filter(|origin| *origin == MarkOrigin::Found);
        // Three are documented too: the instruction cache holds no data.
        assert_eq!((found.count(), figures[0].marks.len()), (3, 6));
    }
}
