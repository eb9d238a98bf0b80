//! The meaning of the bandwidths, and their curves against block size.

use super::{
    BLOCK_SIZE, Backing, FIRST_WRITE, Faults, PAGES, READ, READ_FAULTS, Swap, WRITE, WRITE_FAULTS,
};
use crate::estimates::{by_ratio, certain_if, extra_cost, grade, ratio, time_ns};
use crate::figures::{axis_of, curves, logarithmic};
use crate::memory::hierarchy::{self, DataCache, FoundCache};
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
    let caches = caches_found(results, base);
    let capacities = caches.iter().enumerate();
    let mut findings: Vec<_> = capacities
        .filter_map(|(index, cache)| capacity(results, base, index, cache))
        .collect();
    if !caches.is_empty() {
        let not_found = hierarchy::not_found(results.machine, &caches).into_iter();
        findings.extend(not_found.filter_map(|cache| not_seen(results, base, cache)));
    }
    findings.extend(memory(results, base));
    findings.extend(memory_over_cache(results, base, caches.first()));
    findings.extend(first_touch(results, base));
    if let Some(huge) = Pages::huge(results.machine) {
        findings.extend(huge_pages(results, base, huge));
        findings.extend(huge_first_touch(results, base, huge));
    }
    findings.extend(match swapped(results) {
        Some(swapped) => swap(results, base, swapped),
        None => Some(no_swap()),
    });
    findings
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let base = Pages::base(results.machine);
    let found = base.map_or_else(Vec::new, |base| caches_found(results, base));
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

fn caches_found(results: &Results, pages: Pages) -> Vec<FoundCache> {
    hierarchy::found(&curve(results, READ, pages), results.machine)
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

fn capacity(results: &Results, pages: Pages, index: usize, cache: &FoundCache) -> Option<Finding> {
    let read = at(results, READ, cache.typical, pages)?;
    let write = at(results, WRITE, cache.typical, pages)?;
    let capacity = cache.capacity;
    let size = hierarchy::in_words(capacity);
    let said = if let Some(it) = cache.documented {
        sentence!(
            "Blocks of up to {size} stay in the level {level} cache, documented as {documented}. \
             There one core reads at {read} and writes at {write}.",
            level = it.level.to_string(),
            documented = it.size,
        )
    } else {
        sentence!(
            "Reading slows down beyond blocks of {size}, though no cache of that size is \
             documented: the reach of the TLB, or a shared part of a cache, may end there. Below it, \
             one core reads at {read} and writes at {write}."
        )
    };
    let grade = certain_if(cache.documented.is_some() && capacity.interval.is_some());
    let finding =
        Finding::new(&format!("capacity_{}", index + 1), said).with_number("capacity", capacity);
    Some(finding.graded(grade).weighing(0.6))
}

/// A documented cache that the curve goes past without showing it.
fn not_seen(results: &Results, pages: Pages, cache: DataCache) -> Option<Finding> {
    let is_within = largest(results, &[READ], &[pages])?.0 > 2 * cache.size.0;
    let said = sentence!(
        "The level {level} cache, documented as {documented}, does not show: reading does not \
         slow down near that size.",
        level = cache.level.to_string(),
        documented = cache.size,
    );
    let finding = Finding::new(&format!("not_seen_{}", cache.level), said);
    is_within.then(|| finding.graded(Grade::Likely).weighing(0.5))
}

fn memory(results: &Results, pages: Pages) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[pages])?;
    let read = at(results, READ, size, pages)?;
    let write = at(results, WRITE, size, pages)?;
    let is_beyond = size.0 >= 2 * hierarchy::last_bytes(results.machine);
    let (said, grade) = if is_beyond {
        (
            sentence!(
                "One core reads blocks of {size}, which no cache holds, at {read} and writes them \
                 at {write}."
            ),
            Grade::Certain,
        )
    } else {
        (
            sentence!(
                "One core reads the largest block measured, {size}, at {read} and writes it at {write}. \
                 A cache may hold much of it: no block takes more than a quarter of the memory \
                 available."
            ),
            Grade::Undecided,
        )
    };
    Some(Finding::new("memory", said).graded(grade).weighing(0.8))
}

/// The extra time for a page of the report of `slow` over `fast`.
fn extra(slow: &Estimate, fast: &Estimate) -> Option<Quantity> {
    let time = |rate| time_ns(rate, REPORT_PAGE_BYTES);
    Some(time(slow)?.minus(time(fast)?))
}

fn memory_over_cache(
    results: &Results,
    pages: Pages,
    first: Option<&FoundCache>,
) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[pages])?;
    let over_cache = |metric| {
        let cached = at(results, metric, first?.typical, pages)?;
        extra(at(results, metric, size, pages)?, cached)
    };
    let (read, write) = (over_cache(READ)?, over_cache(WRITE)?);
    let said = if read.value > 0.0 && write.value > 0.0 {
        sentence!(
            "Reading 4 KiB takes {read} longer from memory than from the nearest cache, and writing \
             them takes {write} longer."
        )
    } else {
        sentence!("Memory is not measurably slower than the nearest cache.")
    };
    let grade = extra_cost(&read).max(extra_cost(&write));
    let finding = Finding::new("memory_over_cache", said)
        .with_number("read", read)
        .with_number("write", write);
    Some(finding.graded(grade).weighing(0.55))
}

fn first_touch(results: &Results, pages: Pages) -> Option<Finding> {
    let size = largest(results, &[FIRST_WRITE, WRITE], &[pages])?;
    let page_bytes = results.machine.page_bytes? as f64;
    let time = |metric| time_ns(at(results, metric, size, pages)?, page_bytes);
    let cost = time(FIRST_WRITE)?.minus(time(WRITE)?);
    let said = if cost.value > 0.0 {
        sentence!(
            "The first write to each of the {pages} of fresh memory costs {cost} more than writing it \
             again."
        )
    } else {
        sentence!(
            "The first write to each of the {pages} of fresh memory costs no more than writing it \
             again."
        )
    };
    let finding = Finding::new("first_touch", said).with_number("cost", cost);
    Some(finding.graded(extra_cost(&cost)).weighing(0.6))
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
        "In {huge}, blocks of {size} are read {read} and written {write} as fast as in {base}."
    );
    let grade = grade(&read, 1.0).min(grade(&write, 1.0));
    let finding = Finding::new("huge_pages", said).about(
        GAIN_FROM_HUGE_PAGES,
        read,
        format!("reads in order of a block of {size}"),
    );
    Some(finding.graded(grade).weighing(0.55))
}

fn huge_first_touch(results: &Results, base: Pages, huge: Pages) -> Option<Finding> {
    let size = largest(results, &[FIRST_WRITE], &[base, huge])?;
    let first = |pages| at(results, FIRST_WRITE, size, pages);
    let gain = ratio(first(huge)?, first(base)?)?;
    let said = sentence!(
        "The first write to fresh memory of {size} is {gain} as fast in {huge} as in {base}."
    );
    Some(by_ratio("huge_first_touch", said, &gain).weighing(0.6))
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
    let said = if read.value > 0.0 && write.value > 0.0 {
        sentence!(
            "From swap, 4 KiB take {read} longer to read and {write} longer to write than from \
             memory. On average a page read waits for {read_faults} faults and a page written for \
             {write_faults}, since the kernel reads ahead."
        )
    } else {
        sentence!(
            "Swap is not measurably slower than memory, although a page read waits for \
             {read_faults} faults on average and a page written for {write_faults}."
        )
    };
    let grade = extra_cost(&read).max(extra_cost(&write));
    let finding = Finding::new("swap", said)
        .with_number("read", read)
        .with_number("write", write);
    Some(finding.graded(grade).weighing(0.65))
}

/// The way to get the cost of swap measured.
fn no_swap() -> Finding {
    let said = sentence!(
        "Swap was not measured: it needs a swap area, or permission to create a temporary one \
         (`--allow-swap-file`, as root)."
    );
    let finding = Finding::new("no_swap", said);
    finding.graded(Grade::Undecided).weighing(0.1)
}

#[cfg(test)]
mod tests {
    use super::super::Bandwidth;
    use super::*;
    use crate::made_up::{self, finding, findings, machine, measured, results, value};
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
            ("capacity_1", "capacity", 48.0 * KIB),
            ("capacity_1", "documented", 48.0 * KIB),
            ("capacity_2", "capacity", 2.0 * MIB),
            ("capacity_3", "capacity", 32.0 * MIB),
            ("memory", "read", 1e9 / memory),
            ("memory_over_cache", "read", 4096.0 * (memory - 0.005)),
            ("first_touch", "cost", 819.2),
            ("huge_pages", "read", 1.25),
            ("huge_first_touch", "gain", 1.13),
        ];
        assert_near(&found, &expected);
        assert!(found.iter().all(|it| !it.key.starts_with("not_seen")));
        assert_eq!(finding(&found, "first_touch").grade, Grade::Certain);
        let alike = [curve(BASE, 1.0), curve(HUGE, 1.0)].concat();
        let alike = findings(&Bandwidth, alike);
        assert_eq!(finding(&alike, "huge_pages").grade, Grade::Undecided);
    }

    #[test]
    fn a_documented_cache_that_does_not_show_is_named() {
        let mut machine = machine();
        machine.caches[2].size_bytes = Some(256 << 10);
        let found = findings_on(&machine, curve(BASE, 1.0));
        assert_near(&found, &[("not_seen_2", "documented", 256.0 * KIB)]);
        let unexplained = finding(&found, "capacity_2");
        let said = unexplained.sentence.to_string();
        assert!(said.contains("no cache of that size"), "{said}");
        assert_eq!(unexplained.grade, Grade::Likely);
    }

    #[test]
    fn swap_is_compared_with_memory_or_named_as_missing() {
        let mut points = curve(BASE, 1.0);
        let is_missing = |points| {
            let found = findings(&Bandwidth, points);
            found.iter().any(|finding| finding.key == "no_swap")
        };
        assert!(is_missing(points.clone()));
        // 4 KiB in 40.96 µs and 81.92 µs.
        let swapped = in_swap(Swap::MemoryLimited, 1e8, 5e7);
        points.push(swapped.clone());
        let expected = [
            ("swap", "read", 40_960.0),
            ("swap", "write", 81_920.0),
            ("swap", "read_faults", 0.125),
        ];
        assert_near(&findings(&Bandwidth, points.clone()), &expected);
        assert!(!is_missing(points) && !is_missing(vec![swapped]));
    }

    #[test]
    fn no_time_below_zero_is_stated() {
        // Writes are faster in memory than in the nearest cache, first writes than later ones, and swap
        // than memory.
        let mut points = curve(BASE, 1.0);
        let largest = points.pop().expect("a curve");
        let read = largest.sound(READ).expect("it was read").centre;
        let rates = [(FIRST_WRITE, 9e11), (READ, read), (WRITE, 5e11)];
        points.push(measured(largest.point, &rates));
        points.push(in_swap(Swap::PagedOut, 8e11, 8e11));
        let found = findings(&Bandwidth, points);
        for (key, number) in [
            ("memory_over_cache", "write"),
            ("first_touch", "cost"),
            ("swap", "write"),
        ] {
            let finding = finding(&found, key);
            let mut said = finding.sentence.numbers();
            assert!(said.all(|it| it.quantity.value > 0.0), "{finding:?}");
            assert_eq!(finding.grade, Grade::Undecided, "{finding:?}");
            assert!(value(&found, key, number) < 0.0);
        }
    }

    #[test]
    fn too_little_gives_no_finding_but_what_is_missing() {
        let keys = |points| -> Vec<String> {
            let found = findings(&Bandwidth, points).into_iter();
            found.map(|finding| finding.key).collect()
        };
        assert_eq!(keys(Vec::new()), ["no_swap"]);
        assert_eq!(findings_on(&Machine::default(), curve(BASE, 1.0)), []);
        // They are within a cache.
        let found = findings(&Bandwidth, vec![at(64.0 * KIB, BASE, 1.0)]);
        assert!(found.iter().all(|it| !it.key.starts_with("capacity")));
        assert_eq!(finding(&found, "memory").grade, Grade::Undecided);
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
