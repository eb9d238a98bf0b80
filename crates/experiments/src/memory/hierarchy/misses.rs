//! The share of accesses that miss a cache in repeated passes over memory.
//!
//! Passes differ from accesses at random, where a cache of size C would hit with the share C / S of
//! a working set of size S. In a pass, each line comes back only after all others. It is still in
//! the cache unless one of the misses in between evicted it.

use std::array;
use std::sync::LazyLock;

/// The share of accesses that miss the level of this index, at a working set of 2 to the power of
/// `log2_load` times its capacity.
pub(super) fn miss_share(index: usize, log2_load: f64) -> f64 {
    if index == 0 {
        of_first_level(log2_load)
    } else {
        of_further_level(log2_load)
    }
}

/// The share that misses the first level of a hierarchy. Its sets are chosen by virtual addresses
/// (no way of it is larger than a page), so a working set loads them evenly.
fn of_first_level(log2_load: f64) -> f64 {
    static SHARES: LazyLock<Shares> = LazyLock::new(|| Shares::tabulated(evenly));
    SHARES.at(log2_load)
}

/// The share that misses any further level. Its sets are chosen by physical addresses. Pages lie
/// anywhere, so some sets get more of them than others and overflow before the cache is full.
fn of_further_level(log2_load: f64) -> f64 {
    static SHARES: LazyLock<Shares> = LazyLock::new(|| Shares::tabulated(by_chance));
    SHARES.at(log2_load)
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

#[cfg(test)]
mod tests {
    use super::{WAYS, of_first_level, of_further_level};
    use instrument::statistics::random::Random;

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
            let shares = [
                (of_first_level(log2_load), simulated(SETS, &in_turn)),
                (of_further_level(log2_load), simulated(SETS, &anywhere)),
            ];
            for (share, simulated) in shares {
                assert!(
                    (share - simulated).abs() < 0.04,
                    "{load}: {share} {simulated}"
                );
            }
        }
    }

    #[test]
    fn the_shares_rise_from_none_to_all() {
        for share in [of_first_level, of_further_level] {
            let shares: Vec<f64> = (1..1000)
                .map(|step| share((f64::from(step) / 10.0).log2()))
                .collect();
            assert!(shares.is_sorted(), "{shares:?}");
            assert_eq!((shares[0], shares[998]), (0.0, 1.0));
        }
        assert!(of_first_level(0.0) < 1e-9);
        assert!(of_further_level(0.0) > 0.1);
    }
}
