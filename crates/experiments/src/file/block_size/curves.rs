//! The curves of throughput by block size: their plateaus, and the cliff of new files.

use super::{PASS, Pass, USUAL_BLOCK};
use crate::estimates::ratio;
use crate::file::{BLOCK_SIZE, THROUGHPUT};
use crate::judging::exceeds;
use crate::prelude::*;
use instrument::claim::Ruling;
use instrument::statistics::random::Random;
use instrument::statistics::{Confidence, Interval, summary};

/// Blocks that take longer than the best by more than this factor are behind a cliff. Up to it, larger buffers
/// cost more where a cache is too small for them.
const CLIFF: f64 = 1.25;
/// Distance from the best throughput at which a size still counts as good: 2 %.
const CLOSE_ENOUGH: f64 = 0.02;
/// Resamples from which a plateau's interval is read.
const RESAMPLES: usize = 400;
/// Decides how they are drawn, so that a stored run always gives the same interval.
const SEED: u64 = 1;

/// The part of a curve on which larger blocks gain nothing.
pub(super) struct Plateau<'r> {
    /// The smallest block size whose interval reaches within 2 % of the best.
    pub(super) size: Bytes,
    /// The sizes that resampled processes give.
    pub(super) interval: Option<Interval>,
    /// The throughput measured at `size`.
    pub(super) throughput: &'r Estimate,
    /// It is the largest size measured, so that larger ones might gain more.
    pub(super) is_at_the_end: bool,
}

impl Plateau<'_> {
    pub(super) fn grade(&self) -> Grade {
        match self.interval {
            _ if self.is_at_the_end => Grade::Undecided,
            Some(interval) if interval.low >= interval.high => Grade::Certain,
            _ => Grade::Likely,
        }
    }
}

/// Large blocks in which new files are written far more slowly than in smaller ones.
pub(in crate::file) struct Cliff<'r> {
    /// The block size that writes new files fastest.
    pub(super) best: Bytes,
    /// The estimate at `best`.
    pub(super) throughput: &'r Estimate,
    /// The smallest block size behind the cliff.
    pub(in crate::file) from: Bytes,
    /// Time of the blocks behind the cliff as a multiple of that of `best`, the least and the
    /// most.
    pub(super) least: Quantity,
    pub(super) most: Quantity,
}

/// A block size to use, with its throughput and that of [`USUAL_BLOCK`].
pub(in crate::file) struct Best<'r> {
    pub(in crate::file) size: Bytes,
    pub(in crate::file) rate: &'r Estimate,
    pub(in crate::file) usual_rate: &'r Estimate,
}

/// Throughput by block size.
pub(in crate::file) fn curve<'r>(results: &'r Results, pass: Pass) -> Vec<(Bytes, &'r Estimate)> {
    results.along(BLOCK_SIZE, THROUGHPUT, &[PASS.at(pass)])
}

/// The estimate at one block size.
pub(super) fn at<'r>(curve: &[(Bytes, &'r Estimate)], size: Bytes) -> Option<&'r Estimate> {
    let found = curve.iter().find(|(measured, _)| *measured == size);
    found.map(|(_, estimate)| *estimate)
}

pub(super) fn plateau<'r>(curve: &[(Bytes, &'r Estimate)]) -> Option<Plateau<'r>> {
    if curve.len() < 3 {
        return None;
    }
    let size = smallest_good(curve.iter().map(|(size, estimate)| {
        let high = estimate.interval.map_or(estimate.centre, |it| it.high);
        (*size, estimate.centre, high)
    }))?;
    let throughput = at(curve, size)?;
    Some(Plateau {
        size,
        interval: resampled(curve, size),
        throughput,
        is_at_the_end: size == curve.last()?.0,
    })
}

/// The smallest size that reaches the best throughput but for [`CLOSE_ENOUGH`], of sizes with their
/// throughput and the highest that its interval allows.
///
/// It is better than the fastest: larger sizes gain nothing measurable, and a smaller buffer leaves more
/// cache to other code. Wide intervals bias the answer towards small sizes.
fn smallest_good(sizes: impl Iterator<Item = (Bytes, f64, f64)> + Clone) -> Option<Bytes> {
    let centres = sizes.clone().map(|(_, centre, _)| centre);
    let best = centres.max_by(f64::total_cmp)?;
    let bound = best - CLOSE_ENOUGH * best.abs();
    let good = sizes.filter(|(_, _, high)| *high >= bound);
    good.map(|(size, ..)| size).min()
}

/// The middle 95 % of the plateaus that the centres of resampled processes show, stretched to hold
/// `found`; `None` where some size has a single process.
fn resampled(curve: &[(Bytes, &Estimate)], found: Bytes) -> Option<Interval> {
    if curve.iter().any(|(_, estimate)| estimate.processes < 2) {
        return None;
    }
    let mut random = Random::new(SEED);
    let mut plateaus = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut resample = |(size, estimate): &(Bytes, &Estimate)| {
            let mut processes = vec![0.0; estimate.by_process.len()];
            random.resample(&estimate.by_process, &mut processes);
            let centre = summary::median(&processes)?;
            Some((*size, centre, centre))
        };
        let resampled: Option<Vec<_>> = curve.iter().map(&mut resample).collect();
        plateaus.push(smallest_good(resampled?.into_iter())?);
    }
    // Sizes that were measured, not values between them.
    plateaus.sort_unstable();
    let cut = (RESAMPLES as f64 * Confidence::NINETY_FIVE.tail()) as usize;
    let (low, high) = (plateaus[cut], plateaus[RESAMPLES - 1 - cut]);
    Interval::new(low.min(found).0 as f64, high.max(found).0 as f64)
}

/// The smallest block size that leaves nothing to gain in `pass`; `None` where blocks larger than those
/// measured may gain more.
pub(in crate::file) fn best<'r>(results: &'r Results, pass: Pass) -> Option<Best<'r>> {
    let curve = curve(results, pass);
    let plateau = plateau(&curve).filter(|plateau| !plateau.is_at_the_end)?;
    at_plateau(&curve, &plateau)
}

/// As [`best`], of the block sizes below `end` alone, even if larger ones gain more.
pub(in crate::file) fn best_below<'r>(
    results: &'r Results,
    pass: Pass,
    end: Bytes,
) -> Option<Best<'r>> {
    let mut curve = curve(results, pass);
    curve.retain(|(size, _)| *size < end);
    at_plateau(&curve, &plateau(&curve)?)
}

fn at_plateau<'r>(curve: &[(Bytes, &'r Estimate)], plateau: &Plateau<'r>) -> Option<Best<'r>> {
    Some(Best {
        size: plateau.size,
        rate: plateau.throughput,
        usual_rate: at(curve, USUAL_BLOCK)?,
    })
}

/// The cliff of new files: the largest block sizes measured, as far down as the intervals leave no
/// doubt that each takes longer than the best; `None` where not even the largest does.
pub(in crate::file) fn cliff<'r>(results: &'r Results) -> Option<Cliff<'r>> {
    let curve = curve(results, Pass::WriteNew);
    let by_centre = |one: &&(Bytes, &Estimate), other: &&(Bytes, &Estimate)| {
        one.1.centre.total_cmp(&other.1.centre)
    };
    let (best, throughput) = curve.iter().max_by(by_centre)?;
    let is_behind = |(_, times): &(Bytes, Quantity)| exceeds(times, CLIFF) == Ruling::Holds;
    let times_as_long = |(size, rate): &(Bytes, &Estimate)| Some((*size, ratio(throughput, rate)?));
    let behind: Vec<_> = curve
        .iter()
        .rev()
        .take_while(|(size, _)| size > best)
        .map_while(times_as_long)
        .take_while(is_behind)
        .collect();
    let times = || behind.iter().map(|(_, times)| *times);
    Some(Cliff {
        best: *best,
        throughput,
        from: behind.last()?.0,
        least: times().min_by(|one, other| one.value.total_cmp(&other.value))?,
        most: times().max_by(|one, other| one.value.total_cmp(&other.value))?,
    })
}

/// True if writing over a file is slowed down by the blocks behind the cliff too.
pub(super) fn hits_overwriting(results: &Results, cliff: &Cliff<'_>) -> Ruling {
    let curve = curve(results, Pass::Write);
    let Some(at_best) = at(&curve, cliff.best) else {
        return Ruling::Undecided;
    };
    let behind = curve.iter().filter(|(size, _)| *size >= cliff.from);
    let rulings: Option<Vec<_>> = behind
        .map(|(_, rate)| Some(exceeds(&ratio(at_best, rate)?, CLIFF)))
        .collect();
    let rulings = rulings.unwrap_or_default();
    match rulings.first() {
        Some(first) if rulings.iter().all(|ruling| ruling == first) => *first,
        _ => Ruling::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::smallest_good;
    use crate::prelude::Bytes;

    #[test]
    fn the_smallest_size_that_reaches_the_plateau_is_good() {
        let good = |sizes: &[(u64, f64, f64)]| {
            let sized =
                |(size, centre, reach): &(u64, f64, f64)| (Bytes(*size), *centre, centre + reach);
            smallest_good(sizes.iter().map(sized)).map(|size| size.0)
        };
        let flat = [
            (4, 50.0, 1.0),
            (64, 99.0, 0.5),
            (16, 97.0, 0.5),
            (256, 100.0, 0.5),
        ];
        assert_eq!(good(&flat), Some(64));
        assert_eq!(
            good(&[(16, 97.0, 1.5), (64, 100.0, 0.5)]),
            Some(16),
            "its interval reaches it"
        );
        assert_eq!(good(&[]), None);
    }
}
