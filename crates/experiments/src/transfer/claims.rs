//! Claims about transfers.

use super::findings::curve;
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
        test: |evidence| sender(&large(evidence, 0, 1)?),
    },
    Claim {
        key: "files_are_received_slower_into_a_mapping",
        says: "A large file is received a little slower if the receiver maps it.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| receiver(&large(evidence, 2, 0)?),
    },
    Claim {
        key: "for_small_files_the_method_makes_no_difference",
        says: "For small files it makes no difference which side maps them.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| small(&gains(evidence, 0, 3, Reading::First)?),
    },
    Claim {
        key: "mapped_files_win_when_read_again_or_in_random_order",
        says: "A mapped file wins when it is sent again, and when it is read in random order.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: again,
    },
];

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
