//! What the bandwidths mean.

use super::{BLOCK_SIZE, FIRST_WRITE, READ, READ_FAULTS, WRITE, WRITE_FAULTS, swap};
use crate::estimates::{WithEstimate, difference, estimated, grade, ratio, time_ns};
use crate::memory::caches;
use crate::memory::levels::{self, Level};
use crate::memory::pages::{self, PAGES};
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};
use instrument::statistics::Estimated;

/// The page in which the report tells its costs.
const REPORT_PAGE_BYTES: f64 = 4096.0;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let Some(page) = pages::base(results.machine) else {
        return Vec::new();
    };
    let levels = levels_found(results, &page);
    let capacities = levels.iter().enumerate();
    let mut findings: Vec<_> = capacities
        .filter_map(|(index, level)| capacity(results, &page, index, level))
        .collect();
    if !levels.is_empty() {
        let unseen = levels::unseen(results.machine, &levels);
        findings.extend(
            unseen
                .into_iter()
                .filter_map(|cache| not_seen(results, &page, cache)),
        );
    }
    findings.extend(memory(results, &page));
    findings.extend(memory_over_cache(results, &page, levels.first()));
    findings.extend(first_touch(results, &page));
    if let Some(huge) = pages::huge(results.machine) {
        findings.extend(huge_pages(results, &page, &huge));
        findings.extend(huge_first_touch(results, &page, &huge));
    }
    findings.push(beyond_memory(results, &page));
    findings
}

/// The levels that the reading curve shows.
pub(super) fn levels_found(results: &Results, page: &str) -> Vec<Level> {
    let ns_per_byte = |rate: &f64| 1e9 / rate;
    let curve = results.curve(READ, BLOCK_SIZE, &[(PAGES, page.into())]);
    let costs: Vec<_> = curve
        .into_iter()
        .map(|(size, rate)| (size, rate.by_process.iter().map(ns_per_byte).collect()))
        .collect();
    levels::found(&costs, results.machine)
}

fn at<'r>(results: &'r Results, metric: &str, size: u64, page: &str) -> Option<&'r Estimate> {
    let point = results.at(&[(BLOCK_SIZE, size.into()), (PAGES, page.into())])?;
    point
        .estimate(metric)
        .filter(|estimate| estimate.is_sound())
}

/// The largest block of which each of these metrics is known with pages of each of these sizes.
fn largest(results: &Results, metrics: &[&str], pages: &[&str]) -> Option<u64> {
    let (metric, page) = (metrics.first()?, *pages.first()?);
    let curve = results.curve(metric, BLOCK_SIZE, &[(PAGES, page.into())]);
    let is_known = |size: &u64| {
        let mut wanted = pages
            .iter()
            .flat_map(|page| metrics.iter().map(move |metric| (metric, page)));
        wanted.all(|(metric, page)| at(results, metric, *size, page).is_some())
    };
    curve.into_iter().rev().map(|(size, _)| size).find(is_known)
}

/// The largest block that was read in both page sizes, and the rates in base and in huge pages.
pub(in crate::memory) fn in_both_pages<'r>(
    results: &'r Results,
) -> Option<(u64, &'r Estimate, &'r Estimate)> {
    let base = pages::base(results.machine)?;
    let huge = pages::huge(results.machine)?;
    let size = largest(results, &[READ], &[&base, &huge])?;
    let read = |pages: &str| at(results, READ, size, pages);
    Some((size, read(&base)?, read(&huge)?))
}

fn capacity(results: &Results, page: &str, index: usize, level: &Level) -> Option<Finding> {
    let read = at(results, READ, level.typical_bytes, page)?;
    let write = at(results, WRITE, level.typical_bytes, page)?;
    let rates = "reading runs at {read} there and writing at {write}";
    let (template, grade) = match level.documented {
        Some((number, _)) => (
            format!(
                "Blocks of up to {{capacity}} stay in the level {number} cache, documented as \
                 {{documented}}; {rates}."
            ),
            Grade::Certain,
        ),
        None => (
            format!(
                "Reading slows down beyond blocks of {{capacity}}, though no cache of such a size \
                 is documented: the reach of the address translation, or a part of a cache that \
                 others use too, may end there; {rates}."
            ),
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
        .with("read", &estimated(read), Unit::BytesPerSecond)
        .with("write", &estimated(write), Unit::BytesPerSecond);
    let finding = match level.documented {
        Some((_, size)) => finding.given("documented", size as f64, Unit::Bytes),
        None => finding,
    };
    let grade = if level.interval.is_none() {
        Grade::Likely
    } else {
        grade
    };
    Some(finding.graded(grade).weighing(0.6))
}

/// A documented cache that the curve goes past without showing it.
fn not_seen(results: &Results, page: &str, (number, size): (u32, u64)) -> Option<Finding> {
    let is_within = largest(results, &[READ], &[page])? > 2 * size;
    is_within.then(|| {
        let template = format!(
            "The level {number} cache documented as {{documented}} does not show: reading does not \
             slow down near that size."
        );
        Finding::new(&format!("not_seen_{number}"), &template)
            .given("documented", size as f64, Unit::Bytes)
            .graded(Grade::Likely)
            .weighing(0.5)
    })
}

fn memory(results: &Results, page: &str) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[page])?;
    let read = at(results, READ, size, page)?;
    let write = at(results, WRITE, size, page)?;
    let caches = caches::documented(results.machine);
    let is_beyond = caches.iter().all(|(_, cache)| size >= 2 * cache);
    let template = if is_beyond {
        "One core reads blocks of {size}, which no cache holds, at {read} and writes them at \
         {write}."
    } else {
        "The largest block measured, {size}, is read at {read} and written at {write}; a cache may \
         hold a good part of it, for no block takes more than a quarter of the memory available."
    };
    let finding = Finding::new("memory", template)
        .given("size", size as f64, Unit::Bytes)
        .with("read", &estimated(read), Unit::BytesPerSecond)
        .with("write", &estimated(write), Unit::BytesPerSecond);
    let grade = if is_beyond {
        Grade::Certain
    } else {
        Grade::CannotBeTold
    };
    Some(finding.graded(grade).weighing(0.8))
}

fn memory_over_cache(results: &Results, page: &str, first: Option<&Level>) -> Option<Finding> {
    let cached = first?.typical_bytes;
    let size = largest(results, &[READ, WRITE], &[page])?;
    let extra = |metric| {
        let memory = time_ns(at(results, metric, size, page)?, REPORT_PAGE_BYTES)?;
        let cache = time_ns(at(results, metric, cached, page)?, REPORT_PAGE_BYTES)?;
        Some(difference(&memory, &cache))
    };
    let (read, write) = (extra(READ)?, extra(WRITE)?);
    let template = "To read 4 KiB takes {read} longer in memory than in the nearest cache, and to write \
                    them {write} longer.";
    let finding = Finding::new("memory_over_cache", template)
        .with("read", &read, Unit::Nanoseconds)
        .with("write", &write, Unit::Nanoseconds);
    Some(
        finding
            .graded(grade(&read, 0.0).max(grade(&write, 0.0)))
            .weighing(0.55),
    )
}

/// What the first write costs over writing again, for each page of the block.
fn touch(results: &Results, size: u64, page: &str, page_bytes: u64) -> Option<Estimated> {
    let first = time_ns(at(results, FIRST_WRITE, size, page)?, page_bytes as f64)?;
    let again = time_ns(at(results, WRITE, size, page)?, page_bytes as f64)?;
    Some(difference(&first, &again))
}

fn first_touch(results: &Results, page: &str) -> Option<Finding> {
    let size = largest(results, &[FIRST_WRITE, WRITE], &[page])?;
    let cost = touch(results, size, page, results.machine.page_bytes?)?;
    let template = format!(
        "The first write to fresh memory costs {{cost}} more for each of the {page} than writing \
         it again."
    );
    let finding = Finding::new("first_touch", &template).with("cost", &cost, Unit::Nanoseconds);
    Some(finding.graded(grade(&cost, 0.0)).weighing(0.6))
}

fn huge_pages(results: &Results, page: &str, huge: &str) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[page, huge])?;
    let gain = |metric| {
        ratio(
            at(results, metric, size, huge)?,
            at(results, metric, size, page)?,
        )
    };
    let (read, write) = (gain(READ)?, gain(WRITE)?);
    let template = format!(
        "In {huge}, blocks of {{size}} are read {{read}} and written {{write}} as fast as in \
         {page}."
    );
    let finding = Finding::new("huge_pages", &template)
        .given("size", size as f64, Unit::Bytes)
        .with("read", &read, Unit::Ratio)
        .with("write", &write, Unit::Ratio);
    Some(
        finding
            .graded(grade(&read, 1.0).min(grade(&write, 1.0)))
            .weighing(0.55),
    )
}

fn huge_first_touch(results: &Results, page: &str, huge: &str) -> Option<Finding> {
    let size = largest(results, &[FIRST_WRITE], &[page, huge])?;
    let estimate = |page: &str| at(results, FIRST_WRITE, size, page);
    let gain = ratio(estimate(huge)?, estimate(page)?)?;
    let template = format!(
        "Fresh memory of {{size}} is written for the first time {{gain}} as fast in {huge} as \
         in {page}."
    );
    let finding = Finding::new("huge_first_touch", &template)
        .given("size", size as f64, Unit::Bytes)
        .with("gain", &gain, Unit::Ratio);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.6))
}

/// What swap costs, or what it takes to learn that.
fn beyond_memory(results: &Results, page: &str) -> Finding {
    let missing = "Swap was not measured: it takes a swap area, or leave to make one for the while \
                   (`--allow-swap-file`, as root).";
    swap(results, page).unwrap_or_else(|| {
        Finding::new("no_swap", missing)
            .graded(Grade::CannotBeTold)
            .weighing(0.1)
    })
}

fn swap(results: &Results, page: &str) -> Option<Finding> {
    let by_manner = |manner: &str| results.at(&[(PAGES, manner.into())]);
    let swapped = by_manner(swap::LIMITED).or_else(|| by_manner(swap::PAGED_OUT))?;
    let size = largest(results, &[READ, WRITE], &[page])?;
    let extra = |metric| {
        let swap = time_ns(swapped.estimate(metric)?, REPORT_PAGE_BYTES)?;
        let memory = time_ns(at(results, metric, size, page)?, REPORT_PAGE_BYTES)?;
        Some(difference(&swap, &memory))
    };
    let (read, write) = (extra(READ)?, extra(WRITE)?);
    let faults = |[major, _]: [&str; 2]| Some(estimated(swapped.estimate(major)?));
    let template = "Out of swap, 4 KiB take {read} longer to read and {write} longer to write than \
                    out of memory; a page read waits for {read_faults} faults on average, a page \
                    written for {write_faults}, since the kernel reads ahead.";
    let finding = Finding::new("swap", template)
        .with("read", &read, Unit::Nanoseconds)
        .with("write", &write, Unit::Nanoseconds)
        .with("read_faults", &faults(READ_FAULTS)?, Unit::Count)
        .with("write_faults", &faults(WRITE_FAULTS)?, Unit::Count);
    Some(
        finding
            .graded(grade(&read, 0.0).max(grade(&write, 0.0)))
            .weighing(0.65),
    )
}

#[cfg(test)]
mod tests {
    use super::super::{
        BLOCK_SIZE, Bandwidth, FIRST_WRITE, READ, READ_FAULTS, WRITE, WRITE_FAULTS, swap,
    };
    use crate::made_up::{finding, hierarchy_cost, machine, result, results, value};
    use crate::memory::pages::PAGES;
    use instrument::experiment::Experiment;
    use instrument::figure::MarkOrigin;
    use instrument::finding::{Finding, Grade};
    use instrument::point::Point;
    use instrument::results::{PointResult, Verdict};
    use platform::machine::Machine;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    /// ns for a byte of a block that is read through caches of 48 KiB, 2 MiB and 32 MiB.
    fn cost(size: f64) -> f64 {
        let levels = [(48.0 * KIB, 0.01), (2.0 * MIB, 0.03), (32.0 * MIB, 0.1)];
        hierarchy_cost(0.005, &levels, size)
    }

    fn at(size: f64, page: &str, factor: f64) -> PointResult {
        let point = Point::new().with(BLOCK_SIZE, size as u64).with(PAGES, page);
        let rate = factor * 1e9 / cost(size);
        // A first write costs 0.2 ns a byte more than a write: 819.2 ns for 4 KiB.
        let first = 1e9 / (2.0 * cost(size) / factor + 0.2);
        result(
            point,
            &[(FIRST_WRITE, first), (READ, rate), (WRITE, rate / 2.0)],
        )
    }

    fn curve(page: &str, factor: f64) -> Vec<PointResult> {
        let half_steps = (20..=57).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
        half_steps.map(|size| at(size, page, factor)).collect()
    }

    fn findings_on(machine: &Machine, points: Vec<PointResult>) -> Vec<Finding> {
        Bandwidth.findings(&results(&Bandwidth.definition(), machine, points))
    }

    fn near(value: f64, expected: f64, tolerance: f64) -> bool {
        (value / expected - 1.0).abs() < tolerance
    }

    #[test]
    fn capacities_are_found_beside_those_documented() {
        let found = findings_on(&machine(), curve("4 KiB pages", 1.0));
        for (key, capacity) in [
            ("capacity_1", 48.0 * KIB),
            ("capacity_2", 2.0 * MIB),
            ("capacity_3", 32.0 * MIB),
        ] {
            assert!(
                near(value(&found, key, "capacity"), capacity, 0.1),
                "{found:?}"
            );
            assert!(near(value(&found, key, "documented"), capacity, 1e-9));
        }
        assert!(near(value(&found, "capacity_1", "read"), 1e9 / 0.005, 0.1));
        assert!(
            found
                .iter()
                .all(|finding| !finding.key.starts_with("not_seen"))
        );
    }

    #[test]
    fn a_documented_cache_that_does_not_show_is_named() {
        let mut machine = machine();
        machine.caches[2].size_bytes = Some(256 << 10);
        let found = findings_on(&machine, curve("4 KiB pages", 1.0));
        assert!(
            near(value(&found, "not_seen_2", "documented"), 256.0 * KIB, 1e-9),
            "{found:?}"
        );
        let unexplained = finding(&found, "capacity_2");
        assert!(unexplained.template.contains("no cache of such a size"));
        assert_eq!(unexplained.grade, Grade::Likely);
    }

    #[test]
    fn the_costs_of_memory_and_of_its_first_touch_are_told_for_a_page() {
        let found = findings_on(&machine(), curve("4 KiB pages", 1.0));
        let size = 2_f64.powf(28.5);
        let extra = 4096.0 * (cost(size) - 0.005);
        assert!(
            near(value(&found, "memory_over_cache", "read"), extra, 0.05),
            "{found:?}"
        );
        assert!(
            near(value(&found, "first_touch", "cost"), 819.2, 0.05),
            "{found:?}"
        );
        let first_touch = finding(&found, "first_touch");
        assert_eq!(first_touch.grade, Grade::Certain);
        assert!(near(
            value(&found, "memory", "read"),
            1e9 / cost(size),
            0.01
        ));
    }

    #[test]
    fn huge_pages_are_set_against_base_pages() {
        let mut points = curve("4 KiB pages", 1.0);
        points.extend(curve("2 MiB pages", 1.25));
        let found = findings_on(&machine(), points);
        assert!(
            near(value(&found, "huge_pages", "read"), 1.25, 0.01),
            "{found:?}"
        );
        assert!(value(&found, "huge_first_touch", "gain") > 1.0);
    }

    #[test]
    fn equal_page_sizes_are_not_called_different() {
        let mut points = curve("4 KiB pages", 1.0);
        points.extend(curve("2 MiB pages", 1.0));
        let found = findings_on(&machine(), points);
        let huge = finding(&found, "huge_pages");
        assert_eq!(huge.grade, Grade::CannotBeTold);
    }

    #[test]
    fn swap_is_set_against_memory_or_named_as_missing() {
        let without = findings_on(&machine(), curve("4 KiB pages", 1.0));
        assert!(without.iter().any(|finding| finding.key == "no_swap"));

        let mut points = curve("4 KiB pages", 1.0);
        let swapped = Point::new()
            .with(BLOCK_SIZE, 64 << 20)
            .with(PAGES, swap::LIMITED);
        // 4 KiB in 40.96 µs and 81.92 µs.
        points.push(result(
            swapped,
            &[
                (READ, 1e8),
                (WRITE, 5e7),
                (READ_FAULTS[0], 0.125),
                (READ_FAULTS[1], 0.875),
                (WRITE_FAULTS[0], 0.125),
                (WRITE_FAULTS[1], 0.875),
            ],
        ));
        let found = findings_on(&machine(), points);
        assert!(near(value(&found, "swap", "read"), 40_960.0, 0.05));
        assert!(near(value(&found, "swap", "write"), 81_920.0, 0.05));
        assert!(near(value(&found, "swap", "read_faults"), 0.125, 0.05));
        assert!(found.iter().all(|finding| finding.key != "no_swap"));
    }

    #[test]
    fn memory_is_told_by_the_largest_block_that_is_known_both_ways() {
        let mut points = curve("4 KiB pages", 1.0);
        let largest = points.last_mut().expect("a curve");
        let known = largest.point.number(BLOCK_SIZE).expect("a size") as f64 / 2_f64.sqrt();
        let write = largest.estimates.iter_mut().find(|it| it.metric == WRITE);
        write.expect("it was measured").verdict = Verdict::BelowResolution;
        let found = findings_on(&machine(), points);
        assert!(near(value(&found, "memory", "size"), known, 0.01));
        assert!(near(
            value(&found, "memory", "write"),
            0.5e9 / cost(known),
            0.01
        ));
    }

    #[test]
    fn too_little_gives_no_finding_but_what_is_missing() {
        let nothing = findings_on(&machine(), Vec::new());
        assert_eq!(nothing.len(), 1, "{nothing:?}");
        assert_eq!(nothing[0].key, "no_swap");
        assert_eq!(
            findings_on(&Machine::default(), curve("4 KiB pages", 1.0)),
            []
        );
        let short = vec![at(64.0 * KIB, "4 KiB pages", 1.0)];
        let found = findings_on(&machine(), short);
        assert!(
            found
                .iter()
                .all(|finding| !finding.key.starts_with("capacity"))
        );
        let memory = finding(&found, "memory");
        assert_eq!(
            memory.grade,
            Grade::CannotBeTold,
            "64 KiB are within a cache"
        );
    }

    #[test]
    fn figures_mark_what_was_found_and_what_is_documented() {
        let (definition, machine) = (Bandwidth.definition(), machine());
        let figures = Bandwidth.figures(&results(&definition, &machine, curve("4 KiB pages", 1.0)));
        assert_eq!(figures.len(), 3);
        let count = |origin| {
            figures[0]
                .marks
                .iter()
                .filter(|mark| mark.origin == origin)
                .count()
        };
        assert_eq!(count(MarkOrigin::Found), 3);
        assert_eq!(
            count(MarkOrigin::Documented),
            3,
            "the instruction cache holds no data"
        );
        assert_eq!(figures[0].series.len(), 2);
    }
}
