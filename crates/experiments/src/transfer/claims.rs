//! Claims about transfers.

use super::findings::{curve, over};
use super::points::{PAIRS, PLAIN};
use super::reading::Reading;
use crate::estimates::{WithEstimate, ratios};
use crate::judging::{MARGIN, Range, decided, exceeds};
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::statistics::Estimated;

const TRANSFERS: &str = "transfer.file";
/// Files are large from here on, and small below.
const LARGE: u64 = 1 << 20;
/// Differences within this of each other are no trend.
const TREND: f64 = 0.1;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "large_files_are_sent_faster_from_a_mapping",
        says: "A large file is sent faster if the sender maps it.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| named(evidence, sender(&large(evidence, 0, 1)?)),
    },
    Claim {
        key: "files_are_received_slower_into_a_mapping",
        says: "A large file is received a little slower if the receiver maps it.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| named(evidence, receiver(&large(evidence, 2, 0)?)),
    },
    Claim {
        key: "for_small_files_the_method_makes_no_difference",
        says: "For small files it makes no difference which side maps them.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| named(evidence, small(&gains(evidence, 0, 3, Reading::First)?)),
    },
    Claim {
        key: "mapped_files_win_when_read_again_or_in_random_order",
        says: "A mapped file wins when it is sent again, and when it is read in random order.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| named(evidence, again(evidence)),
    },
];

/// A judgement that names the link over which the files went, if it was not loopback.
fn named(evidence: &Evidence<'_>, judgement: Option<Judgement>) -> Option<Judgement> {
    let results = evidence.of(TRANSFERS)?;
    let Judgement { ruling, because } = judgement?;
    let because = over(results, because);
    Some(Judgement { ruling, because })
}

/// How many times longer pair number `slow` takes than number `fast`, by size.
fn gains(
    evidence: &Evidence<'_>,
    slow: usize,
    fast: usize,
    reading: Reading,
) -> Option<Vec<(u64, Estimated)>> {
    let results = evidence.of(TRANSFERS)?;
    let of = |pair: usize| curve(results, PAIRS[pair], reading);
    debug_assert!(PAIRS[0] == PLAIN, "pair number 0 is read and write");
    Some(ratios(&of(slow), &of(fast)))
}

fn large(evidence: &Evidence<'_>, slow: usize, fast: usize) -> Option<Vec<(u64, Estimated)>> {
    let mut gains = gains(evidence, slow, fast, Reading::First)?;
    gains.retain(|(size, _)| *size >= LARGE);
    Some(gains)
}

fn sender(gains: &[(u64, Estimated)]) -> Option<Judgement> {
    let range = Range {
        unit: Unit::Bytes,
        everywhere: "From 1 MiB on, a sender that maps its file is {least} to {most} as fast as one \
                     that reads it.",
        from_on: "From {from} on, a sender that maps its file is faster than one that reads it, up \
                  to {most} as fast; below it is not.",
        nowhere: "A sender that maps its file is {least} to {most} as fast as one that reads it, \
                  from 1 MiB on.",
        mixed: "From 1 MiB on, a sender that maps its file came out {least} to {most} as fast as one \
                that reads it, with no clear order by size.",
    };
    range.judge(gains)
}

fn receiver(losses: &[(u64, Estimated)]) -> Option<Judgement> {
    let range = Range {
        unit: Unit::Bytes,
        everywhere: "From 1 MiB on, a receiver that maps its file takes {least} to {most} as long as \
                     one that writes it.",
        from_on: "From {from} on, a receiver that maps its file takes longer than one that writes \
                  it, up to {most} as long; below it does not.",
        nowhere: "A receiver that maps its file takes {least} to {most} as long as one that writes \
                  it, from 1 MiB on.",
        mixed: "From 1 MiB on, a receiver that maps its file took {least} to {most} as long as one \
                that writes it, with no clear order by size.",
    };
    range.judge(losses)
}

fn small(gains: &[(u64, Estimated)]) -> Option<Judgement> {
    let small: Vec<_> = gains.iter().filter(|(size, _)| *size < LARGE).collect();
    let distance = |gain: &Estimated| (gain.centre.ln()).abs();
    let (size, widest) = small
        .iter()
        .max_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)))?;
    let (low, high) = (1.0 / (1.0 + TREND), 1.0 + TREND);
    let interval = |gain: &Estimated| gain.interval;
    let is_even = |gain: &Estimated| {
        interval(gain).is_some_and(|interval| interval.low > low && interval.high < high)
    };
    let is_uneven = |gain: &Estimated| {
        interval(gain).is_some_and(|interval| interval.low > high || interval.high < low)
    };
    let ruling = if small.iter().any(|(_, gain)| is_uneven(gain)) {
        Ruling::DoesNotHold
    } else if small.iter().all(|(_, gain)| is_even(gain)) {
        Ruling::Holds
    } else {
        Ruling::CannotBeTold
    };
    let sentence = "Below 1 MiB the difference is largest at {size}, where mapping on both sides is \
                    {gain} as fast as read and write; within 10 % it would count as none.";
    let because = Finding::new("because", sentence)
        .given("size", *size as f64, Unit::Bytes)
        .with("gain", widest, Unit::Ratio);
    Some(decided(ruling, because))
}

fn again(evidence: &Evidence<'_>) -> Option<Judgement> {
    let (size, again) = gains(evidence, 0, 1, Reading::Again)?.pop()?;
    let (_, random) = gains(evidence, 0, 1, Reading::RandomOrder)?.pop()?;
    let wins = [&again, &random].map(|gain| exceeds(gain, 1.0 + MARGIN));
    let ruling = match wins {
        [Ruling::Holds, Ruling::Holds] => Ruling::Holds,
        [Ruling::DoesNotHold, Ruling::DoesNotHold] => Ruling::DoesNotHold,
        _ if wins.contains(&Ruling::Holds) => Ruling::HoldsInPart,
        _ => Ruling::CannotBeTold,
    };
    let sentence = "A file of {size} that is mapped already is sent {again} as fast as one that is \
                    read, and in random order, 4 KiB at a time, {random} as fast.";
    let because = Finding::new("because", sentence)
        .given("size", size as f64, Unit::Bytes)
        .with("again", &again, Unit::Ratio)
        .with("random", &random, Unit::Ratio);
    Some(decided(ruling, because))
}

#[cfg(test)]
mod tests {
    use super::super::points::{PAIRS, PLAIN, Pair};
    use super::super::reading::Reading;
    use super::super::{SIZE, TIME, TO, TransferOfFiles};
    use super::{ALL, LARGE};
    use crate::made_up::{cost_result, machine, results};
    use instrument::claim::{Evidence, Judgement, Ruling};
    use instrument::experiment::Experiment;
    use instrument::point::Point;
    use instrument::results::PointResult;

    const FROM_MAPPING: Pair = PAIRS[1];
    const INTO_MAPPING: Pair = PAIRS[2];
    const MAPPED: Pair = PAIRS[3];

    /// A file of `size` that takes `time`, at ±1 %.
    fn at(pair: Pair, reading: Reading, size: u64, time: f64) -> PointResult {
        let levels = pair.levels(reading).into_iter();
        let point = levels.fold(Point::new(), |point, (axis, level)| point.with(axis, level));
        let point = point.with(SIZE, size);
        cost_result(&TransferOfFiles, &point, &[(TIME, time, 1.0)])
    }

    fn first(pair: Pair, times: [f64; 3]) -> Vec<PointResult> {
        let sizes = [LARGE / 16, LARGE, LARGE * 16];
        let both = sizes.into_iter().zip(times);
        both.map(|(size, time)| at(pair, Reading::First, size, time))
            .collect()
    }

    fn judge(key: &str, points: Vec<PointResult>) -> Judgement {
        let (definition, machine) = (TransferOfFiles.definition(), machine());
        let results = [results(&definition, &machine, points)];
        let claim = ALL
            .iter()
            .find(|claim| claim.key == key)
            .expect("there is one");
        claim.judge(&Evidence::new(&results))
    }

    fn ruling(key: &str, points: Vec<PointResult>) -> Ruling {
        judge(key, points).ruling
    }

    #[test]
    fn a_sender_that_maps_wins_loses_or_wins_from_a_size_on() {
        let key = "large_files_are_sent_faster_from_a_mapping";
        let against = |times| {
            let plain = first(PLAIN, [1e5, 1e6, 1e7]);
            ruling(key, [plain, first(FROM_MAPPING, times)].concat())
        };
        // What small files do does not count.
        assert_eq!(against([9e5, 0.8e6, 0.7e7]), Ruling::Holds);
        assert_eq!(against([1e4, 1.2e6, 1.3e7]), Ruling::DoesNotHold);
        assert_eq!(against([1e5, 1.2e6, 0.7e7]), Ruling::HoldsInPart);
    }

    #[test]
    fn a_receiver_that_maps_is_slower_or_not() {
        let key = "files_are_received_slower_into_a_mapping";
        let against = |times| {
            let plain = first(PLAIN, [1e5, 1e6, 1e7]);
            ruling(key, [plain, first(INTO_MAPPING, times)].concat())
        };
        assert_eq!(against([1e5, 1.3e6, 1.4e7]), Ruling::Holds);
        assert_eq!(against([1e5, 0.8e6, 0.8e7]), Ruling::DoesNotHold);
    }

    #[test]
    fn small_files_that_take_the_same_time_are_told_from_others() {
        let key = "for_small_files_the_method_makes_no_difference";
        let against = |small| {
            let plain = first(PLAIN, [1e5, 1e6, 1e7]);
            // What large files do does not count.
            ruling(key, [plain, first(MAPPED, [small, 3e6, 3e7])].concat())
        };
        assert_eq!(against(1.01e5), Ruling::Holds);
        assert_eq!(against(1.5e5), Ruling::DoesNotHold);
        assert_eq!(against(1.1e5), Ruling::CannotBeTold);
    }

    #[test]
    fn reading_again_and_in_random_order_both_count() {
        let key = "mapped_files_win_when_read_again_or_in_random_order";
        let against = |again: f64, random: f64| {
            let of = |pair, reading, time| at(pair, reading, LARGE, time);
            let points = vec![
                of(PLAIN, Reading::Again, 1e6),
                of(PLAIN, Reading::RandomOrder, 2e6),
                of(FROM_MAPPING, Reading::Again, 1e6 * again),
                of(FROM_MAPPING, Reading::RandomOrder, 2e6 * random),
            ];
            ruling(key, points)
        };
        assert_eq!(against(0.8, 0.6), Ruling::Holds);
        assert_eq!(against(1.2, 0.6), Ruling::HoldsInPart);
        assert_eq!(against(1.2, 1.1), Ruling::DoesNotHold);
        assert_eq!(against(1.0 / 1.02, 1.2), Ruling::CannotBeTold);
    }

    #[test]
    fn the_link_is_named_where_there_is_one() {
        let points = [
            first(PLAIN, [1e5, 1e6, 1e7]),
            first(FROM_MAPPING, [9e5, 0.8e6, 0.7e7]),
        ];
        let over_a_link = |found: PointResult| PointResult {
            point: found.point.with(TO, "there:5735"),
            ..found
        };
        let points = points.concat().into_iter().map(over_a_link).collect();
        let judgement = judge("large_files_are_sent_faster_from_a_mapping", points);
        assert_eq!(judgement.ruling, Ruling::Holds);
        let sentence = judgement.because.template;
        assert!(
            sentence.starts_with("To there:5735, from 1 MiB"),
            "{sentence}"
        );
    }

    #[test]
    fn without_results_nothing_is_told() {
        for claim in ALL {
            assert_eq!(ruling(claim.key, Vec::new()), Ruling::CannotBeTold);
        }
    }
}
