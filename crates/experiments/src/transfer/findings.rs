//! What the times mean: fixed cost and cost per byte of each pair, and which is the fastest.

use super::points::{PAIRS, PLAIN, Pair};
use super::reading::Reading;
use super::{SIZE, TIME, TO};
use crate::estimates::{WithEstimate, estimated, grade, known, ratios, scaled};
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};
use instrument::statistics::linear::{Line, weighted_line};
use instrument::statistics::{Confidence, Estimated};

const MIB: f64 = 1_048_576.0;
/// A line through fewer sizes than this says little about its ends.
const FEWEST_SIZES: usize = 4;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let costs = PAIRS.into_iter().filter_map(|pair| cost(results, pair));
    let all = fastest(results).into_iter().chain(costs);
    all.map(|finding| over(results, finding)).collect()
}

/// A finding that names the link over which the files went, if it was not loopback.
pub(super) fn over(results: &Results<'_>, finding: Finding) -> Finding {
    let to = results
        .points
        .first()
        .and_then(|found| found.point.choice(TO).ok());
    let mut letters = finding.template.chars();
    match (to, letters.next()) {
        (Some(to), Some(first)) => Finding {
            template: format!("To {to}, {}{}", first.to_lowercase(), letters.as_str()),
            ..finding
        },
        _ => finding,
    }
}

/// Sound times of a pair by size.
pub(super) fn curve<'r>(
    results: &'r Results<'_>,
    pair: Pair,
    reading: Reading,
) -> Vec<(u64, &'r Estimate)> {
    let mut curve = results.curve(TIME, SIZE, &pair.levels(reading));
    curve.retain(|(_, time)| time.is_sound());
    curve
}

/// Fixed cost and cost per MiB of a pair.
fn cost(results: &Results, pair: Pair) -> Option<Finding> {
    let line = line(&curve(results, pair, Reading::First))?;
    let per_mib = scaled(&line.slope, MIB);
    let template = format!(
        "A file sent by {} and received by {} costs {{fixed}}, and {{per_mib}} for each MiB.",
        pair.sender, pair.receiver
    );
    let is_positive = line
        .intercept
        .interval
        .is_none_or(|interval| interval.low > 0.0);
    let grade = if is_positive {
        known(&[&line.intercept, &per_mib])
    } else {
        Grade::CannotBeTold
    };
    let finding = Finding::new(
        &format!("cost_{}_{}", pair.sender, pair.receiver),
        &template,
    )
    .with("fixed", &line.intercept, Unit::Nanoseconds)
    .with("per_mib", &per_mib, Unit::Nanoseconds);
    Some(
        finding
            .graded(grade)
            .weighing(if pair == PLAIN { 0.6 } else { 0.4 }),
    )
}

fn line(curve: &[(u64, &Estimate)]) -> Option<Line> {
    if curve.len() < FEWEST_SIZES {
        return None;
    }
    let sizes: Vec<f64> = curve.iter().map(|(size, _)| *size as f64).collect();
    let times: Vec<f64> = curve.iter().map(|(_, time)| time.centre).collect();
    // Errors are a share of the time.
    let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
    weighted_line(&sizes, &times, &weights, Confidence::NINETY_FIVE)
}

/// The pair that is fastest for the largest files, and from which size on.
fn fastest(results: &Results) -> Option<Finding> {
    let plain = curve(results, PLAIN, Reading::First);
    let (largest, of_plain) = plain.last()?;
    let at_largest = PAIRS.into_iter().filter_map(|pair| {
        let curve = curve(results, pair, Reading::First);
        let (size, time) = curve.last().copied()?;
        (size == *largest).then_some((pair, curve, time))
    });
    let (best, curve, time) = at_largest.min_by(|a, b| a.2.centre.total_cmp(&b.2.centre))?;
    let finding = |template: &str| {
        Finding::new("fastest", template)
            .given("largest", *largest as f64, Unit::Bytes)
            .weighing(0.65)
    };
    if best == PLAIN {
        let template = "Files of {largest}, the largest measured, are sent and received fastest by read and \
                        write on both sides: in {time}. Nothing that spares a copy gains anything \
                        here.";
        let grade = known(&[&estimated(of_plain)]).max(Grade::Likely);
        return Some(
            finding(template)
                .with("time", &estimated(of_plain), Unit::Nanoseconds)
                .graded(grade),
        );
    }
    let gains = ratios(&plain, &curve);
    let (_, gain) = gains.last()?;
    let wins = |gain: &Estimated| gain.interval.is_some_and(|interval| interval.low > 1.0);
    let from = gains.iter().rev().take_while(|(_, gain)| wins(gain)).last();
    let template = match from {
        Some(_) => format!(
            "From files of {{from}} on, sending by {} and receiving by {} is the fastest: {{gain}} as \
             fast as read and write on both sides at {{largest}}, in {{time}}.",
            best.sender, best.receiver
        ),
        None => format!(
            "Which way is the fastest for files of {{largest}} cannot be told: sending by {} and \
             receiving by {} came out {{gain}} as fast as read and write on both sides, in {{time}}.",
            best.sender, best.receiver
        ),
    };
    let mut found = finding(&template)
        .with("gain", gain, Unit::Ratio)
        .with("time", &estimated(time), Unit::Nanoseconds)
        .graded(match from {
            Some(_) => grade(gain, 1.0),
            None => Grade::CannotBeTold,
        });
    if let Some((from, _)) = from {
        found = found.given("from", *from as f64, Unit::Bytes);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::points::{PAIRS, PLAIN, Pair};
    use super::super::{READING, RECEIVER, SENDER, SIZE, TIME, TO, TransferOfFiles};
    use crate::made_up::{cost_result, machine, results, value};
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::point::Point;
    use instrument::results::PointResult;

    pub(crate) fn point(pair: Pair, size: u64) -> Point {
        Point::new()
            .with(SENDER, pair.sender.name())
            .with(RECEIVER, pair.receiver.name())
            .with(READING, "first")
            .with(SIZE, size)
    }

    /// A pair that takes `fixed` ns and `per_byte` ns more for each byte.
    fn curve(pair: Pair, fixed: f64, per_byte: f64) -> Vec<PointResult> {
        let at = |size: u64| {
            let time = fixed + per_byte * size as f64;
            cost_result(&TransferOfFiles, &point(pair, size), &[(TIME, time, 1.0)])
        };
        [1, 1 << 10, 1 << 16, 1 << 20, 1 << 24].map(at).into()
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        let definition = TransferOfFiles.definition();
        TransferOfFiles.findings(&results(&definition, &machine(), points))
    }

    #[test]
    fn fixed_cost_and_cost_per_mib_are_found_again() {
        let found = findings(curve(PLAIN, 50_000.0, 0.5));
        let fixed = value(&found, "cost_file_file", "fixed");
        assert!((fixed - 50_000.0).abs() < 500.0, "{fixed}");
        let per_mib = value(&found, "cost_file_file", "per_mib");
        assert!((per_mib - 524_288.0).abs() < 5000.0, "{per_mib}");
        assert!(found[0].template.contains("on both sides"), "{found:?}");
    }

    #[test]
    fn what_cannot_be_told_is_graded_so() {
        let mut points = curve(PLAIN, 50_000.0, 0.5);
        points.extend(curve(PAIRS[4], 50_000.0, 0.4999));
        let found = findings(points);
        assert!(found[0].template.contains("cannot be told"), "{found:?}");
        assert_eq!(found[0].grade, Grade::CannotBeTold);
    }

    #[test]
    fn the_link_is_named_where_there_is_one() {
        let over_a_link = |found: PointResult| PointResult {
            point: found.point.with(TO, "there:5735"),
            ..found
        };
        let points = curve(PLAIN, 50_000.0, 0.5).into_iter().map(over_a_link);
        for finding in findings(points.collect()) {
            let sentence = finding.template;
            assert!(
                sentence.starts_with("To there:5735, a file")
                    || sentence.starts_with("To there:5735, files"),
                "{sentence}"
            );
        }
    }

    #[test]
    fn the_winner_is_named_with_the_size_from_which_it_wins() {
        let mut points = curve(PLAIN, 50_000.0, 0.5);
        points.extend(curve(PAIRS[4], 80_000.0, 0.25));
        let found = findings(points);
        assert_eq!(found[0].key, "fastest");
        assert_eq!(found[0].grade, Grade::Certain);
        assert!(
            found[0].template.contains("sendfile"),
            "{}",
            found[0].template
        );
        let from = value(&found, "fastest", "from");
        assert!((from - 1_048_576.0).abs() < 1.0, "{from}");
        assert!(value(&found, "fastest", "gain") > 1.9);
        assert_eq!(findings(Vec::new()), []);
    }
}
