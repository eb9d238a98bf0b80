//! The levels of memory, as a curve of costs against size shows them.

use super::caches;
use instrument::statistics::Interval;
use instrument::statistics::levels::fit;
use platform::machine::Machine;

/// Below this, starting a pass is a visible part of its time, and no cache is as small.
const SMALLEST_FITTED: u64 = 8 << 10;
/// A found capacity and a documented one within this factor of each other are the same cache.
const SAME_CACHE: f64 = 2.0;
/// How capacities are found, for the methods of experiments.
pub(super) const MODEL: &str = "by the model of caches that are gone round again and again, in which \
                                a line stays until a miss pushes it out, any line being as likely as \
                                another, and pages load the sets of all levels but the first unevenly";
/// Decides how the intervals are resampled, so that a stored run always gives the same ones.
const SEED: u64 = 1;

/// A cache that the curve shows.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// The largest block that stays in it, in bytes.
    pub capacity_bytes: f64,
    pub interval: Option<Interval>,
    /// Level and size in bytes of the cache that it must be, if one is documented near it.
    pub documented: Option<(u32, u64)>,
    /// The measured block size that shows this level best: far from the capacities of this level
    /// and of the one before.
    pub typical_bytes: u64,
}

/// The caches that a curve of sizes in bytes, each with its cost by process, shows on `machine`; the
/// smallest first.
///
/// A process in whose short leg something else ran may have a cost below zero: it says nothing, and is
/// left out.
pub(super) fn found(curve: &[(u64, Vec<f64>)], machine: &Machine) -> Vec<Level> {
    let is_cost = |cost: &f64| *cost > 0.0;
    let (sizes, costs): (Vec<u64>, Vec<Vec<f64>>) = curve
        .iter()
        .filter(|(size, _)| *size >= SMALLEST_FITTED)
        .map(|(size, costs)| (*size, costs.iter().copied().filter(is_cost).collect()))
        .filter(|(_, costs): &(u64, Vec<f64>)| !costs.is_empty())
        .unzip();
    let sizes_bytes: Vec<f64> = sizes.iter().map(|size| *size as f64).collect();
    let Some(fitted) = fit(&sizes_bytes, &costs, SEED) else {
        return Vec::new();
    };
    let mut before = SMALLEST_FITTED as f64;
    let levels = fitted.levels.into_iter().map(|level| {
        let typical = (before * level.capacity_bytes).sqrt();
        before = level.capacity_bytes;
        Level {
            capacity_bytes: level.capacity_bytes,
            interval: level.capacity_interval,
            documented: documented_as(machine, level.capacity_bytes),
            typical_bytes: nearest(&sizes, typical),
        }
    });
    levels.collect()
}

/// Documented caches that are none of the `levels`.
pub(super) fn unseen(machine: &Machine, levels: &[Level]) -> Vec<(u32, u64)> {
    let seen = |cache: &(u32, u64)| levels.iter().any(|level| level.documented == Some(*cache));
    caches::documented(machine)
        .into_iter()
        .filter(|cache| !seen(cache))
        .collect()
}

fn documented_as(machine: &Machine, capacity_bytes: f64) -> Option<(u32, u64)> {
    let caches = caches::documented(machine).into_iter();
    let near = caches.filter(|(_, size)| factor(*size as f64, capacity_bytes) <= SAME_CACHE);
    near.min_by(|(_, one), (_, other)| {
        factor(*one as f64, capacity_bytes).total_cmp(&factor(*other as f64, capacity_bytes))
    })
}

/// Of sizes that are not empty, the one nearest to `wanted` by ratio.
fn nearest(sizes: &[u64], wanted: f64) -> u64 {
    let by_factor = |one: &&u64, other: &&u64| {
        factor(**one as f64, wanted).total_cmp(&factor(**other as f64, wanted))
    };
    sizes
        .iter()
        .min_by(by_factor)
        .copied()
        .unwrap_or(wanted as u64)
}

/// How many times the smaller goes into the larger.
fn factor(one: f64, other: f64) -> f64 {
    f64::max(one / other, other / one)
}

#[cfg(test)]
mod tests {
    use super::found;
    use crate::made_up::{hierarchy_cost, machine};

    #[test]
    fn a_process_with_a_cost_below_zero_hides_no_cache() {
        let levels = [(49152.0, 2.0), (2_097_152.0, 8.0)];
        let sizes = (26..=56).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
        let mut curve: Vec<(u64, Vec<f64>)> = sizes
            .map(|size| {
                let cost = hierarchy_cost(1.0, &levels, size);
                (size as u64, vec![cost, 1.01 * cost, 0.99 * cost])
            })
            .collect();
        curve[3].1[1] = -0.5;
        curve[20].1[0] = -70.0;
        curve.insert(11, (curve[10].0 + 64, vec![-1.0]));
        let found = found(&curve, &machine());
        let documented: Vec<_> = found.iter().map(|level| level.documented).collect();
        assert_eq!(documented, [Some((1, 49152)), Some((2, 2_097_152))]);
    }
}
