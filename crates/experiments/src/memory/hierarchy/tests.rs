//! The levels found in simulated curves.

use super::fit::{Level, fit};
use super::{WAYS, bytes_for, found_by_cost, in_words, miss_share};
use crate::made_up::machine;
use instrument::quantity::{Bytes, Quantity, Unit};
use instrument::statistics::Interval;
use instrument::statistics::random::Random;
use platform::machine::Machine;
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::*;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// Forty sizes from 1 KiB to 1 GiB.
fn sizes() -> Vec<f64> {
    (0..40)
        .map(|step| KIB * (f64::from(step) * 20.0 / 39.0).exp2())
        .collect()
}

/// The capacity and the added cost of each level, above a base cost of 1.
type Truth = [(f64, f64)];

const HIERARCHIES: [&Truth; 6] = [
    &[],
    &[(32.0 * KIB, 3.0)],
    &[(2.0 * MIB, 0.5)],
    &[(48.0 * KIB, 2.0), (8.0 * MIB, 20.0)],
    &[(32.0 * KIB, 2.5), (512.0 * KIB, 8.0), (16.0 * MIB, 60.0)],
    &[(48.0 * KIB, 0.8), (2.0 * MIB, 1.5), (32.0 * MIB, 4.0)],
];

/// The cost of an access in passes over `size` bytes: `base`, and the added cost of each of the
/// `levels` (capacity in bytes, added cost) that it misses.
pub(crate) fn cost_of(base: f64, levels: &Truth, size: f64) -> f64 {
    let added = |(index, (capacity, cost)): (usize, &(f64, f64))| {
        cost * miss_share(index, (size / capacity).log2())
    };
    base + levels.iter().enumerate().map(added).sum::<f64>()
}

/// For each size the medians of `processes` processes with a deviation of `noise`.
fn curve(hierarchy: &Truth, processes: usize, noise: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut measure = |size| {
        let exact = cost_of(1.0, hierarchy, size);
        (0..processes)
            .map(|_| exact * (noise * random.normal()).exp())
            .collect()
    };
    sizes().into_iter().map(&mut measure).collect()
}

fn found(hierarchy: &Truth, processes: usize, noise: f64, seed: u64) -> Vec<Level> {
    fit(&sizes(), &curve(hierarchy, processes, noise, seed), seed).expect("a valid curve")
}

#[test]
fn threads_use_as_many_caches_as_there_are_processors_for_them() {
    let mut machine = machine();
    machine.caches[2].instances = 64;
    machine.caches[3].instances = 8;
    for (threads, mib) in [(1, 32), (4, 128), (8, 256), (64, 256)] {
        assert_eq!(bytes_for(&machine, threads), mib << 20, "{threads}");
    }
    machine.caches[3].instances = 1;
    assert_eq!(bytes_for(&machine, 64), 128 << 20);
    assert_eq!(bytes_for(&Machine::default(), 64), 0);
}

#[test]
fn the_number_of_levels_is_found() {
    // An unoptimised build has time for fewer.
    const CURVES: u64 = if cfg!(debug_assertions) { 40 } else { 100 };
    for hierarchy in HIERARCHIES {
        let right = (0..CURVES)
            .filter(|&seed| found(hierarchy, 1, 0.02, seed).len() == hierarchy.len())
            .count();
        let least = if hierarchy.is_empty() { 0.95 } else { 0.9 };
        let is_enough = right as f64 >= least * CURVES as f64;
        assert!(is_enough, "{hierarchy:?}: {right} of {CURVES}");
    }
}

#[test]
fn capacities_are_near_the_truth() {
    for (processes, noise, tolerance) in [(1, 0.0, 0.01), (10, 0.02, 0.15)] {
        for hierarchy in HIERARCHIES {
            let levels = found(hierarchy, processes, noise, 1);
            assert_eq!(levels.len(), hierarchy.len());
            for (level, (capacity, _)) in levels.iter().zip(hierarchy) {
                let error = (level.capacity_bytes / capacity - 1.0).abs();
                assert!(error < tolerance, "{levels:?}");
                // One process cannot be resampled.
                assert_eq!(level.interval.is_some(), processes > 1);
                let is_narrow = |interval: Interval| {
                    interval.contains(level.capacity_bytes) && interval.high / interval.low < 1.5
                };
                assert!(level.interval.is_none_or(is_narrow), "{levels:?}");
            }
        }
    }
}

#[test]
fn intervals_hold_the_truth_and_the_next_run() {
    // An unoptimised build has time for few curves, which say less.
    const CURVES: u64 = if cfg!(debug_assertions) { 5 } else { 60 };
    const LEAST: f64 = if cfg!(debug_assertions) { 0.8 } else { 0.9 };
    let (mut total, mut true_held, mut next_held) = (0_u32, 0_u32, 0_u32);
    for hierarchy in HIERARCHIES {
        for seed in 100..100 + CURVES {
            let levels = found(hierarchy, 10, 0.02, seed);
            let next = found(hierarchy, 10, 0.02, seed + CURVES);
            if levels.len() != hierarchy.len() || next.len() != hierarchy.len() {
                continue;
            }
            for ((level, next), (capacity, _)) in levels.iter().zip(next).zip(hierarchy) {
                let interval = level.interval.expect("ten processes");
                total += 1;
                true_held += u32::from(interval.contains(*capacity));
                next_held += u32::from(interval.contains(next.capacity_bytes));
            }
        }
    }
    let least = LEAST * f64::from(total);
    let are_enough = f64::from(true_held) > least && f64::from(next_held) > least;
    assert!(are_enough, "{true_held} and {next_held} of {total}");
}

#[test]
fn the_seed_decides_the_intervals() {
    let costs = curve(HIERARCHIES[4], 5, 0.02, 1);
    assert_eq!(fit(&sizes(), &costs, 1), fit(&sizes(), &costs, 1));
    assert_ne!(fit(&sizes(), &costs, 1), fit(&sizes(), &costs, 2));
}

#[test]
fn impossible_curves_have_no_fit() {
    let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let flat = vec![vec![1.0]; 8];
    assert!(fit(&sizes, &flat, 0).is_some());
    assert_eq!(fit(&[], &[], 0), None);
    assert_eq!(fit(&sizes[..7], &flat[..7], 0), None);
    assert_eq!(fit(&sizes, &flat[..7], 0), None);
    for bad in [0.0, 64.0, 63.0, f64::NAN] {
        let mut sizes = sizes;
        sizes[7] = bad;
        assert_eq!(fit(&sizes, &flat, 0), None);
    }
    for bad in [vec![], vec![0.0], vec![-1.0], vec![f64::NAN]] {
        let mut costs = flat.clone();
        costs[3] = bad;
        assert_eq!(fit(&sizes, &costs, 0), None);
    }
}

/// As many sizes, each twice as large as the one before.
fn doublings(count: usize) -> Vec<f64> {
    (0..count).map(|step| KIB * (step as f64).exp2()).collect()
}

proptest! {
    #[test]
    fn any_curve_of_costs_is_fitted_or_refused(costs in vec(vec(ANY, 0..4), 8..14)) {
        for level in fit(&doublings(costs.len()), &costs, 1).into_iter().flatten() {
            prop_assert!(level.capacity_bytes.is_finite());
        }
    }

    #[test]
    fn capacities_do_not_depend_on_the_unit_of_the_costs(
        costs in vec(vec(50.0..200.0_f64, 3..4), 12..20),
        factor in 0.001..1000.0_f64,
    ) {
        let sizes = doublings(costs.len());
        let scale = |processes: &Vec<f64>| processes.iter().map(|cost| cost * factor).collect();
        let scaled: Vec<Vec<f64>> = costs.iter().map(scale).collect();
        let [plain, scaled] = [costs, scaled].map(|it| fit(&sizes, &it, 1).expect("a valid curve"));
        prop_assert_eq!(plain.len(), scaled.len());
        for level in plain {
            prop_assert!(level.interval.expect("three processes").contains(level.capacity_bytes));
        }
    }
}

#[test]
fn a_process_with_a_cost_below_zero_hides_no_cache() {
    let levels = [(49152.0, 2.0), (2_097_152.0, 8.0)];
    let sizes = (26..=56).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
    let mut curve: Vec<(Bytes, Vec<f64>)> = sizes
        .map(|size| {
            let cost = cost_of(1.0, &levels, size);
            (Bytes(size as u64), vec![cost, 1.01 * cost, 0.99 * cost])
        })
        .collect();
    curve[3].1[1] = -0.5;
    curve[20].1[0] = -70.0;
    curve.insert(11, (Bytes(curve[10].0.0 + 64), vec![-1.0]));
    let found = found_by_cost(&curve, &machine()).into_iter();
    let documented = found.map(|cache| cache.documented.map(|it| (it.level, it.size.0)));
    let expected = [Some((1, 49152)), Some((2, 2_097_152))];
    assert_eq!(documented.collect::<Vec<_>>(), expected);
}

proptest! {
    // Each fit takes long.
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 8 } else { 128 }))]

    /// Sizes may be far apart: nothing is known between them.
    #[test]
    fn a_capacity_is_known_no_better_than_the_gap_between_the_sizes(
        steps in vec(1.1..16.0_f64, 12..24),
        capacity in 32.0..2048.0_f64,
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed);
        let mut size = 8.0 * KIB;
        let curve: Vec<(Bytes, Vec<f64>)> = steps.iter().map(|step| {
            size *= step;
            let exact = cost_of(1.0, &[(capacity * KIB, 3.0)], size);
            let processes = (0..5).map(|_| exact * (0.01 * random.normal()).exp());
            (Bytes(size as u64), processes.collect())
        }).collect();
        let measured = |bytes: f64| curve.iter().any(|(size, _)| (size.0 as f64 - bytes).abs() < 0.5);
        for cache in found_by_cost(&curve, &machine()) {
            let Quantity { value, interval, .. } = cache.capacity;
            let interval = interval.expect("five processes");
            prop_assert!(measured(interval.low) && measured(interval.high), "{interval:?}");
            prop_assert!(interval.low < interval.high && interval.contains(value), "{interval:?}");
        }
    }
}

#[test]
fn a_capacity_in_a_wide_gap_is_said_by_its_ends() {
    let said = |low: f64, high: f64| {
        let capacity = Quantity {
            value: f64::midpoint(low, high),
            interval: Interval::new(low, high),
            unit: Unit::Bytes,
        };
        in_words(capacity).to_string()
    };
    assert_eq!(said(24.0 * KIB, 40.0 * KIB), "32 KiB");
    assert_eq!(
        said(16.0 * KIB, 256.0 * KIB),
        "somewhere between 16 KiB and 256 KiB"
    );
}

/// Passes before misses are counted, and passes in which they are.
const PASSES: usize = 60;

/// The share of misses of a cache of `sets` sets with `WAYS` lines each, simulated. Every
/// pass has the same order, and a miss replaces a random line of its set.
fn simulated(sets: usize, set_of_line: &[usize]) -> f64 {
    let mut random = Random::new(1);
    let mut cache = vec![[usize::MAX; WAYS as usize]; sets];
    let mut misses = 0;
    for pass in 0..2 * PASSES {
        for (line, set) in set_of_line.iter().enumerate() {
            let set = &mut cache[*set];
            if !set.contains(&line) {
                set[random.below(WAYS as usize)] = line;
                misses += usize::from(pass >= PASSES);
            }
        }
    }
    misses as f64 / (PASSES * set_of_line.len()) as f64
}

#[test]
fn the_shares_are_those_of_a_simulated_cache() {
    const SETS: usize = 128;
    let mut random = Random::new(2);
    for load in [0.5, 0.75, 1.0, 1.125, 1.25, 1.5, 2.0, 3.0, 5.0] {
        let lines = (load * SETS as f64 * WAYS) as usize;
        let log2_load = (lines as f64 / (SETS as f64 * WAYS)).log2();
        let in_turn: Vec<usize> = (0..lines).map(|line| line % SETS).collect();
        let anywhere: Vec<usize> = (0..lines).map(|_| random.below(SETS)).collect();
        for (level, sets) in [in_turn, anywhere].iter().enumerate() {
            let (share, simulated) = (miss_share(level, log2_load), simulated(SETS, sets));
            let is_near = (share - simulated).abs() < 0.04;
            assert!(is_near, "{load}: {share} {simulated}");
        }
    }
}

#[test]
fn the_shares_rise_from_none_to_all() {
    for level in [0, 1] {
        let share = |step| miss_share(level, (f64::from(step) / 10.0).log2());
        let shares: Vec<f64> = (1..1000).map(share).collect();
        assert!(shares.is_sorted(), "{shares:?}");
        assert_eq!((shares[0], shares[998]), (0.0, 1.0));
    }
    assert!(miss_share(0, 0.0) < 1e-9 && miss_share(1, 0.0) > 0.1);
}
