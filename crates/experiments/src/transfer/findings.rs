//! Findings: fixed cost and cost per byte of each pair, and the fastest pair.

use super::levels::{Address, PAIRS, PLAIN, Pair, Reading, TO, curve, times_over};
use crate::estimates::{grade, known};
use crate::judging::{above_from, margin};
use crate::lines::{line_through, values};
use crate::prelude::*;
use instrument::curve::{Curve, Onset};
use instrument::definition::Better;
use instrument::statistics::linear::Line;

const MIB: f64 = 1_048_576.0;
/// A line through fewer sizes than this says little about its ends.
const FEWEST_SIZES: usize = 4;
/// A line that misses a size by more than this factor does not show what a file costs: a burst that a
/// link lets through at once, or a cache that ends, bends the curve.
const FARTHEST: f64 = 1.5;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let costs = PAIRS.into_iter().filter_map(|pair| cost(results, pair));
    let all = fastest(results).into_iter().chain(costs);
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

/// Fixed cost and cost per MiB of a pair; `None` if noise took one of them below zero, or the sizes do
/// not lie on a line.
fn cost(results: &Results, pair: Pair) -> Option<Finding> {
    let curve = curve(results, pair, Reading::First);
    let line = line(&curve)?;
    if !follows(&curve, &line) {
        return None;
    }
    let fixed = Quantity::estimated(&line.intercept, Unit::Nanoseconds);
    let per_mib = Quantity::estimated(&line.slope, Unit::Nanoseconds).times(MIB);
    if fixed.value <= 0.0 || per_mib.value <= 0.0 {
        return None;
    }
    let said = sentence!(
        "A file sent with {sender} and received with {receiver} costs {fixed}, plus {per_mib} for \
         each MiB.",
        sender = pair.sender.name(),
        receiver = pair.receiver.name(),
    );
    let is_positive = fixed.interval.is_none_or(|interval| interval.low > 0.0);
    let grade = if is_positive {
        known(&[&fixed, &per_mib])
    } else {
        Grade::Undecided
    };
    let key = format!("cost_{}_{}", pair.sender, pair.receiver);
    let weight = if pair == PLAIN { 0.6 } else { 0.4 };
    Some(Finding::new(&key, said).graded(grade).weighing(weight))
}

fn line(curve: &[(Bytes, &Estimate)]) -> Option<Line> {
    if curve.len() < FEWEST_SIZES {
        return None;
    }
    line_through(&values(curve))
}

/// True if the line comes near each time of the curve.
fn follows(curve: &[(Bytes, &Estimate)], line: &Line) -> bool {
    curve.iter().all(|(size, time)| {
        let expected = line.intercept.centre + line.slope.centre * size.0 as f64;
        (1.0 / FARTHEST..=FARTHEST).contains(&(time.centre / expected))
    })
}

/// The pair that is fastest for the largest files, and from which size on.
fn fastest(results: &Results) -> Option<Finding> {
    let plain = curve(results, PLAIN, Reading::First);
    let (largest, of_plain) = *plain.last()?;
    let at_largest = PAIRS.into_iter().filter_map(|pair| {
        let (size, time) = curve(results, pair, Reading::First).pop()?;
        (size == largest).then_some((pair, time))
    });
    let at_largest: Vec<_> = at_largest.collect();
    let pairs = Curve::of(&at_largest, Better::Lower);
    let is_plain = |(pair, _): &(Pair, &Estimate)| *pair == PLAIN;
    let best = pairs.good().find(is_plain).ok_or(());
    let Ok((best, time)) = best.or_else(|()| pairs.best()) else {
        let said = sentence!(
            "The measurement does not decide which method is the fastest for files of {largest}: {methods} may be.",
            methods = Count(pairs.contenders().count() as u64),
        );
        let finding = Finding::new("fastest", said).graded(Grade::Undecided);
        return Some(finding.weighing(0.65));
    };
    let (said, grade) = if best == PLAIN {
        let said = sentence!(
            "Files of {largest}, the largest measured, take {time} with read and write on both sides. Avoiding \
             copies gains at most {at_most} here.",
            at_most = margin(),
        );
        (said, known(&[&of_plain.quantity()]).max(Grade::Likely))
    } else {
        let (sender, receiver) = (best.sender.name(), best.receiver.name());
        let gains = times_over(results, [PLAIN, best], Reading::First);
        let (_, gain) = gains.last().filter(|(size, _)| *size == largest)?;
        if let Ok(Onset { from, .. }) = above_from(&gains, 1.0) {
            let said = sentence!(
                "From files of {from} on, sending with {sender} and receiving with {receiver} is faster than read \
                 and write on both sides. At {largest}, where no method is more than {at_most} faster, it is {gain} \
                 as fast, in {time}.",
                at_most = margin(),
            );
            (said, grade(gain, 1.0))
        } else {
            let said = sentence!(
                "The measurement does not decide which method is the fastest for files of {largest}. Sending \
                 with {sender} and receiving with {receiver} was {gain} as fast as read and write \
                 on both sides, in {time}."
            );
            (said, Grade::Undecided)
        }
    };
    let finding = Finding::new("fastest", said).graded(grade);
    Some(finding.weighing(0.65))
}
