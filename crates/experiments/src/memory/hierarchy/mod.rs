//! The caches of a machine: those that its processor documents, and those that a curve of costs
//! against size shows.

mod fit;
#[cfg(test)]
pub(crate) mod tests;

use fit::fit;
use instrument::figure::{Mark, MarkOrigin};
use instrument::finding::{Sentence, sentence};
use instrument::quantity::{Bytes, Quantity, Unit};
use instrument::results::Estimate;
use instrument::statistics::Interval;
use platform::machine::{CacheKind, Machine};
use std::array;
use std::sync::LazyLock;

/// A cache that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataCache {
    /// Its level: 1 is nearest to the core.
    pub(super) level: u32,
    pub(super) size: Bytes,
}

/// The caches of such a kind whose size is documented.
pub(super) fn caches(
    machine: &Machine,
    is_wanted: impl Fn(CacheKind) -> bool,
) -> impl Iterator<Item = DataCache> {
    let wanted = machine.caches.iter().filter(move |it| is_wanted(it.kind));
    wanted.filter_map(|cache| {
        Some(DataCache {
            level: cache.level,
            size: Bytes(cache.size_bytes?),
        })
    })
}

/// The caches that hold data, the first level first.
pub(super) fn documented(machine: &Machine) -> Vec<DataCache> {
    caches(machine, |kind| kind != CacheKind::Instruction).collect()
}

/// The size of the last-level cache in bytes; 0 if none is documented.
pub(crate) fn last_bytes(machine: &Machine) -> u64 {
    bytes_for(machine, 1)
}

/// The bytes that the caches of one level hold for `threads` threads, each on a processor of its own; of the level
/// where that is the most. 0 if no cache is documented.
pub(super) fn bytes_for(machine: &Machine, threads: usize) -> u64 {
    let caches = machine.caches.iter();
    let of_data = caches.filter(|it| it.kind != CacheKind::Instruction);
    let sizes = of_data.filter_map(|it| Some(it.size_bytes? * it.instances.min(threads) as u64));
    sizes.max().unwrap_or(0)
}

/// Below this, the start of a pass is a visible part of its time. No data cache is this small.
const SMALLEST_FITTED: Bytes = Bytes(8 << 10);
/// A found capacity and a documented one within this factor of each other are the same cache.
const SAME_CACHE: f64 = 2.0;
/// The way capacities are found, for the methods of experiments.
pub(super) const MODEL: &str = "with a model of \
    repeated passes over caches in which each miss evicts a random line; in all levels but the first, \
    pages fill the sets unevenly";
/// Fixes how the intervals are resampled, so that a stored run always gives the same ones.
const SEED: u64 = 1;

/// A cache that the curve shows.
#[derive(Clone, Debug)]
pub(super) struct FoundCache {
    /// The largest block that stays in it. Its interval has measured sizes as ends, so that it is never narrower
    /// than the gap in which the capacity lies.
    pub(super) capacity: Quantity,
    /// The cache that it must be, if one is documented near it.
    pub(super) documented: Option<DataCache>,
}

/// A capacity in a sentence. Where measured sizes are far apart, only the gap between them is known.
pub(super) fn in_words(capacity: Quantity) -> Sentence {
    match capacity.interval {
        Some(Interval { low, high }) if capacity.is_vague() => {
            let [low, high] = [low, high].map(|end| Quantity::exact(end, Unit::Bytes));
            sentence!("somewhere between {low} and {high}")
        }
        _ => sentence!("{capacity}"),
    }
}

/// The caches that a curve shows on `machine`, the smallest first. The curve is the time of an access
/// or a bandwidth at each size.
pub(super) fn found(curve: &[(Bytes, &Estimate)], machine: &Machine) -> Vec<FoundCache> {
    let costs = curve.iter().map(|(size, estimate)| {
        let by_process = estimate.by_process.iter();
        let cost = by_process.map(|value| match estimate.unit {
            Unit::BytesPerSecond => 1e9 / value,
            _ => *value,
        });
        (*size, cost.collect())
    });
    found_by_cost(&costs.collect::<Vec<_>>(), machine)
}

/// As [`found`], by the cost of an access in each process.
///
/// A process has a cost below zero if something else ran in its short leg. Such a value says nothing
/// and is left out.
fn found_by_cost(curve: &[(Bytes, Vec<f64>)], machine: &Machine) -> Vec<FoundCache> {
    let is_cost = |cost: &f64| *cost > 0.0;
    let (sizes, costs): (Vec<Bytes>, Vec<Vec<f64>>) = curve
        .iter()
        .filter(|(size, _)| *size >= SMALLEST_FITTED)
        .map(|(size, costs)| (*size, costs.iter().copied().filter(is_cost).collect()))
        .filter(|(_, costs): &(Bytes, Vec<f64>)| !costs.is_empty())
        .unzip();
    let sizes_bytes: Vec<f64> = sizes.iter().map(|size| size.0 as f64).collect();
    let Some(fitted) = fit(&sizes_bytes, &costs, SEED) else {
        return Vec::new();
    };
    let caches = fitted.into_iter().map(|level| {
        let interval = level.interval.and_then(|it| to_measured(it, &sizes_bytes));
        FoundCache {
            capacity: Quantity {
                value: level.capacity_bytes,
                interval,
                unit: Unit::Bytes,
            },
            documented: documented_near(machine, level.capacity_bytes),
        }
    });
    caches.collect()
}

/// The interval out to the measured sizes on both sides: the model alone says where between two of them a
/// capacity lies, and caches differ from it.
fn to_measured(interval: Interval, sizes: &[f64]) -> Option<Interval> {
    let before = sizes.iter().rfind(|size| **size <= interval.low)?;
    let behind = sizes.iter().find(|size| **size > interval.high)?;
    Interval::new(*before, *behind)
}

/// The values of a curve far inside each documented cache, for a sentence that goes on: at the largest size of
/// at most half the cache, unless the cache before holds most of it. One that is hardly known is left
/// out, since it would hide the whole sentence.
pub(super) fn inside(curve: &[(Bytes, &Estimate)], machine: &Machine) -> Sentence {
    let mut said = Sentence::default();
    let mut before = 0;
    for cache in documented(machine) {
        let range = 2 * before..=cache.size.0 / 2;
        before = cache.size.0;
        let found = curve.iter().rfind(|(size, _)| range.contains(&size.0));
        if let Some((size, cached)) = found.filter(|(_, cached)| !cached.quantity().is_vague()) {
            let level = cache.level.to_string();
            said.push_sentence(&sentence!(
                "{cached} from {size} (fits the level {level} cache), "
            ));
        }
    }
    said
}

/// The capacities found and those documented, for a figure along sizes.
pub(super) fn marks(found: &[FoundCache], machine: &Machine) -> Vec<Mark> {
    let capacities = found.iter().enumerate();
    let capacities = capacities
        .map(|(index, cache)| Mark::found(&format!("capacity {}", index + 1), cache.capacity));
    let documented = documented(machine).into_iter().map(|cache| Mark {
        label: format!("L{}, as documented", cache.level),
        at: cache.size.0 as f64,
        interval: None,
        origin: MarkOrigin::Documented,
    });
    capacities.chain(documented).collect()
}

fn documented_near(machine: &Machine, capacity_bytes: f64) -> Option<DataCache> {
    let distance = |cache: &DataCache| factor(cache.size.0 as f64, capacity_bytes);
    let near = documented(machine).into_iter();
    near.filter(|cache| distance(cache) <= SAME_CACHE)
        .min_by(|one, other| distance(one).total_cmp(&distance(other)))
}

/// The ratio of the larger to the smaller.
fn factor(one: f64, other: f64) -> f64 {
    f64::max(one / other, other / one)
}

// Passes differ from accesses at random, where a cache of size C would hit with the share C / S of
// a working set of size S. In a pass, each line comes back only after all others. It is still in
// the cache unless one of the misses in between evicted it.

/// The share of accesses that miss the level of this index, at a working set of 2 to the power of
/// `log2_load` times its capacity.
///
/// The sets of the first level are chosen by virtual addresses (no way of it is larger than a page), so a
/// working set loads them evenly. Those of further levels are chosen by physical addresses. Pages lie
/// anywhere, so some sets get more of them than others and overflow before the cache is full.
fn miss_share(index: usize, log2_load: f64) -> f64 {
    static FIRST: LazyLock<Shares> = LazyLock::new(|| Shares::tabulated(evenly));
    static FURTHER: LazyLock<Shares> = LazyLock::new(|| Shares::tabulated(by_chance));
    let shares = if index == 0 { &FIRST } else { &FURTHER };
    shares.at(log2_load)
}

/// Lines in a set: 8 to 20 in the caches of today.
const WAYS: f64 = 16.0;

/// The share m that misses when there are `load` times as many lines as the cache holds, and each
/// miss evicts a line at random. A pass has m · `load` misses for each line of capacity, and a line
/// that hits survived all of them, so 1 − m = e^(−m · `load`).
fn evenly(load: f64) -> f64 {
    if load <= 1.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        // The difference of both sides is convex, and negative between 0 and the share.
        if middle > 1.0 - (-middle * load).exp() {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// The share that misses a set with this many lines in all.
fn of_set(lines: usize) -> f64 {
    static SHARES: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let most = most_lines(LARGEST_LOG2.exp2() * WAYS) as usize + 1;
        (0..=most)
            .map(|lines| evenly(lines as f64 / WAYS))
            .collect()
    });
    SHARES[lines]
}

/// A set with `mean` lines on average never has more than this.
fn most_lines(mean: f64) -> f64 {
    mean + 10.0 * mean.sqrt() + WAYS
}

/// The same where the number of lines in each set is random (Poisson).
fn by_chance(load: f64) -> f64 {
    let mean = load * WAYS;
    let most = most_lines(mean);
    let (mut lines, mut probability, mut missing) = (0.0, (-mean).exp(), 0.0);
    while lines < most {
        lines += 1.0;
        probability *= mean / lines;
        missing += probability * lines * of_set(lines as usize);
    }
    missing / mean
}

/// A share by load, tabulated in steps of the load's logarithm.
struct Shares([f64; STEPS + 1]);

const STEPS: usize = 512;
const STEPS_PER_DOUBLING: f64 = 64.0;
/// The loads go from 2⁻³ to 2⁵. Below, nothing misses; above, nothing hits.
const SMALLEST_LOG2: f64 = -3.0;
const LARGEST_LOG2: f64 = SMALLEST_LOG2 + STEPS as f64 / STEPS_PER_DOUBLING;

impl Shares {
    fn tabulated(share: fn(f64) -> f64) -> Self {
        let load = |step: usize| (SMALLEST_LOG2 + step as f64 / STEPS_PER_DOUBLING).exp2();
        Self(array::from_fn(|step| share(load(step))))
    }

    fn at(&self, log2_load: f64) -> f64 {
        let step = (log2_load - SMALLEST_LOG2) * STEPS_PER_DOUBLING;
        if step <= 0.0 {
            0.0
        } else if step >= STEPS as f64 {
            1.0
        } else {
            let before = self.0[step as usize];
            before + step.fract() * (self.0[step as usize + 1] - before)
        }
    }
}
