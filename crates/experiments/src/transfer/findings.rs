//! Findings: the fastest pair, and fixed cost and cost per byte of the plain one.

use super::levels::{Address, PAIRS, PLAIN, Pair, Reading, TO, curve, times_over};
use crate::estimates::{by_ratio, known};
use crate::judging::above_from;
use crate::lines::{line_through, values};
use crate::prelude::*;
use instrument::statistics::linear::Line;

const MIB: f64 = 1_048_576.0;
/// A line through fewer sizes than this says little about its ends.
const FEWEST_SIZES: usize = 4;
/// A line that misses a size by more than this factor does not show what a file costs: a burst that a
/// link lets through at once, or a cache that ends, bends the curve.
const FARTHEST: f64 = 1.5;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let all = [fastest(results), cost(results)].into_iter().flatten();
    all.map(|finding| over(results, finding)).collect()
}

/// A finding that names the link over which the files went, if it was not loopback.
pub(super) fn over(results: &Results<'_>, finding: Finding) -> Finding {
    let first = results.points.first();
    match first.and_then(|found| found.point.level(TO).ok()) {
        Some(Address(to)) => Finding {
            sentence: finding.sentence.after(&format!("To {to}, ")),
            ..finding
        },
        None => finding,
    }
}

/// Fixed cost and cost per MiB with read and write; `None` if noise took one of them below zero, or the
/// sizes do not lie on a line.
fn cost(results: &Results) -> Option<Finding> {
    let curve = curve(results, PLAIN, Reading::First);
    let line = line_through(&values(&curve))?;
    if curve.len() < FEWEST_SIZES || !follows(&curve, &line) {
        return None;
    }
    let fixed = Quantity::estimated(&line.intercept, Unit::Nanoseconds);
    let per_mib = Quantity::estimated(&line.slope, Unit::Nanoseconds).times(MIB);
    if fixed.value <= 0.0 || per_mib.value <= 0.0 {
        return None;
    }
    let said = sentence!(
        "Sending a file over TCP costs {fixed}, plus {per_mib} for each MiB (read and write on both sides)."
    );
    let is_positive = fixed.interval.is_none_or(|interval| interval.low > 0.0);
    let grade = if is_positive {
        known([fixed, per_mib])
    } else {
        Grade::Undecided
    };
    Some(Finding::new("cost", said).graded(grade).weighing(0.45))
}

/// True if the line comes near each time of the curve.
fn follows(curve: &[(Bytes, &Estimate)], line: &Line) -> bool {
    curve.iter().all(|(size, time)| {
        let expected = line.intercept.centre + line.slope.centre * size.0 as f64;
        (1.0 / FARTHEST..=FARTHEST).contains(&(time.centre / expected))
    })
}

/// The pair that is fastest for the largest files, and from which size on, if it is not read and write.
fn fastest(results: &Results) -> Option<Finding> {
    let (largest, _) = curve(results, PLAIN, Reading::First).pop()?;
    let at_largest = PAIRS.into_iter().filter_map(|pair| {
        let (size, time) = curve(results, pair, Reading::First).pop()?;
        (size == largest).then_some((pair, time))
    });
    let at_largest: Vec<_> = at_largest.collect();
    let pairs = Curve::of(&at_largest, Better::Lower);
    let is_plain = |(pair, _): &(Pair, &Estimate)| *pair == PLAIN;
    // A method that is as good as the best needs no other.
    let best = pairs.good().find(is_plain).or_else(|| pairs.best().ok());
    let (best, time) = best.filter(|(best, _)| *best != PLAIN)?;
    let gains = times_over(results, [PLAIN, best], Reading::First);
    let (_, gain) = gains.last().filter(|(size, _)| *size == largest)?;
    let Onset { from, .. } = above_from(&gains, 1.0).ok()?;
    let said = sentence!(
        "From files of {from} on, sending with {sender} and storing with {receiver} is the fastest: {time} \
         for {largest}, {gain} as fast as read and write on both sides.",
        sender = best.sender.name(),
        receiver = best.receiver.name(),
    );
    Some(by_ratio("fastest", said, gain).weighing(0.6))
}
