//! The curves of throughput by block size: the smallest block that suffices, and the cliff of new files.

use super::{PASS, Pass, USUAL_BLOCK};
use crate::estimates::{highest, ratio, value_at};
use crate::file::{BLOCK_SIZE, THROUGHPUT};
use crate::judging::{NEAR_BEST, exceeds, extremes};
use crate::prelude::*;

/// Blocks that take longer than the best by more than this factor are behind a cliff. Up to it, larger buffers
/// cost more where a cache is too small for them.
const CLIFF: f64 = 1.25;

/// Large blocks in which new files are written far more slowly than in smaller ones.
pub(in crate::file) struct Cliff<'r> {
    /// The block size with the highest throughput.
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

/// The smallest block size over which no other gains more than [`NEAR_BEST`] in `pass`; `None` where none is shown to, or where
/// blocks larger than those measured may gain more.
pub(in crate::file) fn best<'r>(results: &'r Results, pass: Pass) -> Option<Best<'r>> {
    let curve = curve(results, pass);
    let plateau = Curve::within(NEAR_BEST, &curve, Better::Higher)
        .plateau()
        .ok()?;
    of_size(&curve, plateau.from)
}

/// As [`best`], of the block sizes below `end` alone, even if larger ones gain more.
pub(in crate::file) fn best_below<'r>(
    results: &'r Results,
    pass: Pass,
    end: Bytes,
) -> Option<Best<'r>> {
    let mut curve = curve(results, pass);
    curve.retain(|(size, _)| *size < end);
    let (size, _) = Curve::within(NEAR_BEST, &curve, Better::Higher)
        .good()
        .next()?;
    of_size(&curve, size)
}

fn of_size<'r>(curve: &[(Bytes, &'r Estimate)], size: Bytes) -> Option<Best<'r>> {
    Some(Best {
        size,
        rate: value_at(curve, size)?,
        usual_rate: value_at(curve, USUAL_BLOCK)?,
    })
}

/// The cliff of new files: the largest block sizes measured, as far down as the intervals leave no
/// doubt that each takes longer than the best; `None` where not even the largest does.
pub(in crate::file) fn cliff<'r>(results: &'r Results) -> Option<Cliff<'r>> {
    let curve = curve(results, Pass::WriteNew);
    let (best, throughput) = highest(curve.iter().copied())?;
    let is_behind = |(_, times): &(Bytes, Quantity)| exceeds(times, CLIFF) == Ruling::Holds;
    let times_as_long = |(size, rate): &(Bytes, &Estimate)| Some((*size, ratio(throughput, rate)?));
    let behind: Vec<_> = curve
        .iter()
        .rev()
        .take_while(|(size, _)| *size > best)
        .map_while(times_as_long)
        .take_while(is_behind)
        .collect();
    let [(_, least), (_, most)] = extremes(&behind)?;
    Some(Cliff {
        best,
        throughput,
        from: behind.last()?.0,
        least,
        most,
    })
}

/// True if writing over a file is slowed down by the blocks behind the cliff too.
pub(super) fn hits_overwriting(results: &Results, cliff: &Cliff<'_>) -> Ruling {
    let curve = curve(results, Pass::Write);
    let Some(at_best) = value_at(&curve, cliff.best) else {
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
