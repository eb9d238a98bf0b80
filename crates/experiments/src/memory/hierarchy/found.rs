//! The caches that a curve of costs against size shows.

use super::caches::{DataCache, documented};
use super::fit::fit;
use instrument::figure::{Mark, MarkOrigin};
use instrument::quantity::{Bytes, Quantity, Unit};
use instrument::results::Estimate;
use platform::machine::Machine;

/// Below this, the start of a pass is a visible part of its time. No data cache is this small.
const SMALLEST_FITTED: Bytes = Bytes(8 << 10);
/// A found capacity and a documented one within this factor of each other are the same cache.
const SAME_CACHE: f64 = 2.0;
/// The way capacities are found, for the methods of experiments.
pub(in crate::memory) const MODEL: &str = "with a model of \
    repeated passes over caches in which each miss evicts a random line; in all levels but the first, \
    pages fill the sets unevenly";
/// Fixes how the intervals are resampled, so that a stored run always gives the same ones.
const SEED: u64 = 1;

/// A cache that the curve shows.
#[derive(Clone, Debug)]
pub(in crate::memory) struct FoundCache {
    /// The largest block that stays in it.
    pub(in crate::memory) capacity: Quantity,
    /// The cache that it must be, if one is documented near it.
    pub(in crate::memory) documented: Option<DataCache>,
    /// The measured block size that shows this cache best: far from its capacity and from that of
    /// the cache before it.
    pub(in crate::memory) typical: Bytes,
}

/// The caches that a curve shows on `machine`, the smallest first. The curve is the time of an access
/// or a bandwidth at each size.
pub(in crate::memory) fn found(curve: &[(Bytes, &Estimate)], machine: &Machine) -> Vec<FoundCache> {
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
    let mut before = SMALLEST_FITTED.0 as f64;
    let caches = fitted.levels.into_iter().map(|level| {
        let typical = (before * level.capacity_bytes).sqrt();
        before = level.capacity_bytes;
        FoundCache {
            capacity: Quantity {
                value: level.capacity_bytes,
                interval: level.capacity_interval,
                unit: Unit::Bytes,
            },
            documented: documented_near(machine, level.capacity_bytes),
            typical: nearest(&sizes, typical),
        }
    });
    caches.collect()
}

/// Documented caches that are none of those `found`.
pub(in crate::memory) fn not_found(machine: &Machine, found: &[FoundCache]) -> Vec<DataCache> {
    let mut caches = documented(machine);
    caches.retain(|cache| found.iter().all(|it| it.documented != Some(*cache)));
    caches
}

/// The capacities found and those documented, for a figure along sizes.
pub(in crate::memory) fn marks(found: &[FoundCache], machine: &Machine) -> Vec<Mark> {
    let capacities = found.iter().enumerate().map(|(index, cache)| Mark {
        label: format!("capacity {}", index + 1),
        at: cache.capacity.value,
        interval: cache.capacity.interval,
        origin: MarkOrigin::Found,
    });
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

/// The size nearest to `wanted` by ratio. There is at least one.
fn nearest(sizes: &[Bytes], wanted: f64) -> Bytes {
    let distance = |size: &Bytes| factor(size.0 as f64, wanted);
    let nearest = sizes
        .iter()
        .min_by(|one, other| distance(one).total_cmp(&distance(other)));
    nearest.copied().unwrap_or(Bytes(wanted as u64))
}

/// The ratio of the larger to the smaller.
fn factor(one: f64, other: f64) -> f64 {
    f64::max(one / other, other / one)
}

#[cfg(test)]
mod tests {
    use super::super::made_up::cost;
    use super::found_by_cost;
    use crate::made_up::machine;
    use instrument::quantity::Bytes;

    #[test]
    fn a_process_with_a_cost_below_zero_hides_no_cache() {
        let levels = [(49152.0, 2.0), (2_097_152.0, 8.0)];
        let sizes = (26..=56).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
        let mut curve: Vec<(Bytes, Vec<f64>)> = sizes
            .map(|size| {
                let cost = cost(1.0, &levels, size);
                (Bytes(size as u64), vec![cost, 1.01 * cost, 0.99 * cost])
            })
            .collect();
        curve[3].1[1] = -0.5;
        curve[20].1[0] = -70.0;
        curve.insert(11, (Bytes(curve[10].0.0 + 64), vec![-1.0]));
        let found = found_by_cost(&curve, &machine());
        let documented = found.iter().map(|cache| cache.documented);
        let documented: Vec<_> = documented
            .map(|cache| cache.map(|cache| (cache.level, cache.size.0)))
            .collect();
        assert_eq!(documented, [Some((1, 49152)), Some((2, 2_097_152))]);
    }
}
