//! Findings that follow from known bandwidths.

use super::super::Bandwidth;
use super::{
    BLOCK_SIZE, Backing, FIRST_WRITE, PAGES, READ, READ_FAULTS, Swap, WRITE, WRITE_FAULTS,
};
use crate::made_up::{figures, finding, findings, machine, measured, results, value};
use crate::memory::hierarchy::tests::cost_of;
use crate::memory::pages::Pages;
use crate::memory::pages::made_up::{BASE, HUGE};
use crate::prelude::*;
use instrument::figure::MarkOrigin;
use instrument::results::{PointResult, Verdict};
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
    measured(
        point,
        &[(FIRST_WRITE, first), (READ, rate), (WRITE, rate / 2.0)],
    )
}

fn curve(pages: Pages, factor: f64) -> Vec<PointResult> {
    let half_steps = (20..=57).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
    half_steps.map(|size| at(size, pages, factor)).collect()
}

fn findings_on(machine: &Machine, points: Vec<PointResult>) -> Vec<Finding> {
    Bandwidth.findings(&results(&Bandwidth.definition(), machine, points))
}

fn near(value: f64, expected: f64, tolerance: f64) -> bool {
    (value / expected - 1.0).abs() < tolerance
}

#[test]
fn capacities_are_found_beside_those_documented() {
    let found = findings(&Bandwidth, curve(BASE, 1.0));
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
    let found = findings_on(&machine, curve(BASE, 1.0));
    assert!(
        near(value(&found, "not_seen_2", "documented"), 256.0 * KIB, 1e-9),
        "{found:?}"
    );
    let unexplained = finding(&found, "capacity_2");
    assert!(
        unexplained
            .sentence
            .to_string()
            .contains("no cache of that size")
    );
    assert_eq!(unexplained.grade, Grade::Likely);
}

#[test]
fn the_costs_of_memory_and_of_its_first_touch_are_told_for_a_page() {
    let found = findings(&Bandwidth, curve(BASE, 1.0));
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
    let mut points = curve(BASE, 1.0);
    points.extend(curve(HUGE, 1.25));
    let found = findings(&Bandwidth, points);
    assert!(
        near(value(&found, "huge_pages", "read"), 1.25, 0.01),
        "{found:?}"
    );
    assert!(value(&found, "huge_first_touch", "gain") > 1.0);
}

#[test]
fn equal_page_sizes_are_not_called_different() {
    let mut points = curve(BASE, 1.0);
    points.extend(curve(HUGE, 1.0));
    let found = findings(&Bandwidth, points);
    let huge = finding(&found, "huge_pages");
    assert_eq!(huge.grade, Grade::CannotBeTold);
}

#[test]
fn swap_is_set_against_memory_or_named_as_missing() {
    let without = findings(&Bandwidth, curve(BASE, 1.0));
    assert!(without.iter().any(|finding| finding.key == "no_swap"));

    let mut points = curve(BASE, 1.0);
    let swapped = Point::new()
        .at(BLOCK_SIZE, Bytes(64 << 20))
        .at(PAGES, Backing::Swap(Swap::MemoryLimited));
    // 4 KiB in 40.96 µs and 81.92 µs.
    let swapped = measured(
        swapped,
        &[
            (READ, 1e8),
            (WRITE, 5e7),
            (READ_FAULTS.major, 0.125),
            (READ_FAULTS.minor, 0.875),
            (WRITE_FAULTS.major, 0.125),
            (WRITE_FAULTS.minor, 0.875),
        ],
    );
    points.push(swapped.clone());
    let found = findings(&Bandwidth, points);
    assert!(near(value(&found, "swap", "read"), 40_960.0, 0.05));
    assert!(near(value(&found, "swap", "write"), 81_920.0, 0.05));
    assert!(near(value(&found, "swap", "read_faults"), 0.125, 0.05));
    assert!(found.iter().all(|finding| finding.key != "no_swap"));

    let alone = findings(&Bandwidth, vec![swapped]);
    assert!(alone.iter().all(|finding| finding.key != "no_swap"));
}

#[test]
fn no_time_below_zero_is_told() {
    // Writes are faster in memory than in the nearest cache, first writes than later ones, and swap
    // than memory.
    let mut points = curve(BASE, 1.0);
    let largest = points.pop().expect("a curve");
    let read = largest.sound(READ).expect("it was read").centre;
    points.push(measured(
        largest.point,
        &[(FIRST_WRITE, 9e11), (READ, read), (WRITE, 5e11)],
    ));
    let swapped = Point::new()
        .at(BLOCK_SIZE, Bytes(64 << 20))
        .at(PAGES, Backing::Swap(Swap::PagedOut));
    points.push(measured(
        swapped,
        &[
            (READ, 8e11),
            (WRITE, 8e11),
            (READ_FAULTS.major, 0.125),
            (WRITE_FAULTS.major, 0.125),
        ],
    ));
    let found = findings(&Bandwidth, points);
    for (key, number) in [
        ("memory_over_cache", "write"),
        ("first_touch", "cost"),
        ("swap", "write"),
    ] {
        let finding = finding(&found, key);
        let mut said = finding.sentence.numbers();
        assert!(said.all(|it| it.quantity.value > 0.0), "{finding:?}");
        assert_eq!(finding.grade, Grade::CannotBeTold, "{finding:?}");
        assert!(value(&found, key, number) < 0.0);
    }
}

#[test]
fn memory_is_told_by_the_largest_block_that_is_known_both_ways() {
    let mut points = curve(BASE, 1.0);
    let largest = points.last_mut().expect("a curve");
    let size = largest.point.level(BLOCK_SIZE).expect("a size");
    let known = size.0 as f64 / 2_f64.sqrt();
    let mut estimates = largest.estimates.iter_mut();
    let write = estimates.find(|it| it.metric == WRITE.name);
    write.expect("it was measured").verdict = Verdict::BelowResolution;
    let found = findings(&Bandwidth, points);
    assert!(near(value(&found, "memory", "size"), known, 0.01));
    assert!(near(
        value(&found, "memory", "write"),
        0.5e9 / cost(known),
        0.01
    ));
}

#[test]
fn too_little_gives_no_finding_but_what_is_missing() {
    let nothing = findings(&Bandwidth, Vec::new());
    assert_eq!(nothing.len(), 1, "{nothing:?}");
    assert_eq!(nothing[0].key, "no_swap");
    assert_eq!(findings_on(&Machine::default(), curve(BASE, 1.0)), []);
    let short = vec![at(64.0 * KIB, BASE, 1.0)];
    let found = findings(&Bandwidth, short);
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
    let figures = figures(&Bandwidth, curve(BASE, 1.0));
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
