//! Claims about transfers.

use super::findings::over;
use super::growth;
use super::growth::{RECEIVER_TIME, SENDER_TIME};
use super::levels::{FROM_MAPPING, INTO_MAPPING, MAPPED, PLAIN, Pair, Reading, TO, times_over};
use crate::estimates::pooled;
use crate::judging::{
    ALMOST, MARGIN, a_little, about_along, both, decided, exceeds, extremes, larger_along,
    opposite, somewhere,
};
use crate::prelude::*;

const TRANSFERS: &str = "transfer.file";
const GROWTH: &str = "transfer.growth";
/// Files are large from here on, and small below.
const LARGE: Bytes = Bytes(1 << 20);
/// A difference up to this share is no trend.
const TREND: f64 = 0.1;
/// A sender that reads against one that maps, with either receiver.
const SENDERS: [[Pair; 2]; 2] = [[PLAIN, FROM_MAPPING], [INTO_MAPPING, MAPPED]];
/// A receiver that writes against one that maps, with either sender.
const RECEIVERS: [[Pair; 2]; 2] = [[PLAIN, INTO_MAPPING], [FROM_MAPPING, MAPPED]];

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "large_files_are_sent_faster_from_a_mapping",
        says: "A large file is sent faster if the sender maps it.",
        source: "Report C",
        basis: Basis::Several(&[TRANSFERS, GROWTH], |evidence| {
            let gains = large_of(gains(evidence, SENDERS, SENDER_TIME));
            let judged = larger_along("files of ", &gains, |[least, most]| {
                sentence!(
                    "A sender that maps files of 1 MiB and more is {least} to {most} as fast as one \
                     that reads them."
                )
            });
            named(evidence.of(TRANSFERS), judged)
        }),
    },
    Claim {
        key: "files_are_received_slower_into_a_mapping",
        says: "A large file is received a little slower if the receiver maps it.",
        source: "Report C",
        basis: Basis::Several(&[TRANSFERS, GROWTH], |evidence| {
            let mapped_first = RECEIVERS.map(|[written, mapped]| [mapped, written]);
            let losses = large_of(gains(evidence, mapped_first, RECEIVER_TIME));
            let slower = larger_along("files of ", &losses, |[least, most]| {
                sentence!(
                    "A receiver that maps files of 1 MiB and more takes {least} to {most} as long as \
                     one that writes them."
                )
            });
            named(
                evidence.of(TRANSFERS),
                slower.map(|judged| a_little(judged, &losses)),
            )
        }),
    },
    Claim {
        key: "the_receiver_takes_longer",
        says: "The slave takes longer than the master, by any method.",
        source: "Report C",
        basis: Basis::One(GROWTH, |results| {
            let ratios = growth::receiver_over_sender(results);
            larger_along("files of ", &ratios, |[least, most]| {
                sentence!(
                    "To its own end, a receiver takes {least} to {most} as long as its sender, by all methods \
                     and sizes."
                )
            })
        }),
    },
    Claim {
        key: "both_ends_take_almost_the_same_time_for_large_files",
        says: "For large files, master and slave take almost the same time.",
        source: "Report C",
        basis: Basis::One(GROWTH, |results| {
            let ratios = large_of(growth::receiver_over_sender(results));
            about_along(1.0, ALMOST, &ratios, |[least, most]| {
                sentence!(
                    "To its own end, a receiver of files of 1 MiB and more takes {least} to {most} as long as \
                     its sender."
                )
            })
        }),
    },
    Claim {
        key: "for_large_files_the_sender_makes_little_difference",
        says: "For large files, it makes little difference if the sender maps them.",
        source: "Report C",
        basis: Basis::Several(&[TRANSFERS, GROWTH], |evidence| {
            let gains = large_of(gains(evidence, SENDERS, SENDER_TIME));
            let judged = about_along(1.0, ALMOST, &gains, |[least, most]| {
                sentence!(
                    "From 1 MiB on, a sender that maps its file is {least} to {most} as fast as one \
                     that reads it."
                )
            });
            named(evidence.of(TRANSFERS), judged)
        }),
    },
    Claim {
        key: "mapping_costs_more_to_begin_with",
        says: "Some small files are sent faster by read and write than from a mapping, since the fixed cost \
               of a mapping is higher.",
        source: "Report C",
        basis: Basis::Several(&[TRANSFERS, GROWTH], |evidence| {
            named(evidence.of(TRANSFERS), costs_more_at_some_size(evidence))
        }),
    },
    Claim {
        key: "small_files_show_no_trend",
        says: "For small files no trend shows whether mapping them is faster, on either side.",
        source: "Report C",
        basis: Basis::Several(&[TRANSFERS, GROWTH], |evidence| {
            named(evidence.of(TRANSFERS), no_trend(evidence))
        }),
    },
    Claim {
        key: "a_mapping_that_grows_by_the_page_is_slower",
        says: "A receiver that maps is slower because it does not know the size: it allocates page after \
               page.",
        source: "Report C",
        basis: Basis::One(GROWTH, growth::by_the_page),
    },
    Claim {
        key: "mapped_files_win_when_read_again_or_in_random_order",
        says: "A mapped file wins when it is sent again, and when it is read in random order.",
        source: "Report C",
        basis: Basis::One(TRANSFERS, |results| named(Some(results), again(results))),
    },
];

/// A judgement that names the link over which the files went, if it was not loopback.
fn named(transfers: Option<&Results<'_>>, judgement: Option<Judgement>) -> Option<Judgement> {
    let Judgement { ruling, because } = judgement?;
    let because = match transfers {
        Some(results) => over(results, because),
        None => because,
    };
    Some(Judgement { ruling, because })
}

/// The time of the first of each two pairs over that of the second, by size: of whole transfers, and to the end
/// of one side as the report timed it.
fn gains(
    evidence: &Evidence<'_>,
    pairs: [[Pair; 2]; 2],
    own_end: Metric,
) -> Vec<(Bytes, Quantity)> {
    let whole = evidence.of(TRANSFERS);
    let as_reported = evidence
        .of(GROWTH)
        .filter(|_| !whole.is_some_and(is_to_elsewhere));
    let whole = whole.into_iter();
    let whole = whole.flat_map(|it| pairs.map(|pairs| times_over(it, pairs, Reading::First)));
    let as_reported = as_reported.into_iter();
    let as_reported =
        as_reported.flat_map(|it| pairs.map(|pairs| growth::times_over(it, pairs, own_end)));
    pooled(whole.chain(as_reported))
}

/// True if the files went to another machine.
fn is_to_elsewhere(results: &Results<'_>) -> bool {
    let mut points = results.points.iter();
    points.any(|result| result.point.level(TO).is_ok())
}

fn large_of(mut ratios: Vec<(Bytes, Quantity)>) -> Vec<(Bytes, Quantity)> {
    ratios.retain(|(size, _)| *size >= LARGE);
    ratios
}

fn small_of(mut ratios: Vec<(Bytes, Quantity)>) -> Vec<(Bytes, Quantity)> {
    ratios.retain(|(size, _)| *size < LARGE);
    ratios
}

/// It holds if a mapping takes longer at one small size.
fn costs_more_at_some_size(evidence: &Evidence<'_>) -> Option<Judgement> {
    let mapped_first = SENDERS.map(|[read, mapped]| [mapped, read]);
    let losses = small_of(gains(evidence, mapped_first, SENDER_TIME));
    let ruling = somewhere(losses.iter().map(|(_, loss)| exceeds(loss, 1.0 + MARGIN)));
    let [(_, least), (size, most)] = extremes(&losses)?;
    let said = sentence!(
        "Below 1 MiB, a file takes {least} to {most} as long from a mapping as by read and write, most at \
         {size}."
    );
    Some(decided(ruling, said))
}

/// It does not hold of a side where mapping is faster at every small size, or slower at every one.
fn no_trend(evidence: &Evidence<'_>) -> Option<Judgement> {
    let [sender, receiver] = [
        small_of(gains(evidence, SENDERS, SENDER_TIME)),
        small_of(gains(evidence, RECEIVERS, RECEIVER_TIME)),
    ];
    let ([(_, a), (_, b)], [(_, c), (_, d)]) = (extremes(&sender)?, extremes(&receiver)?);
    let said = sentence!(
        "Below 1 MiB, a sender that maps is {a} to {b} as fast as one that reads, and a receiver that maps \
         {c} to {d} as fast as one that writes; a difference within 10 % counts as none."
    );
    let ruling = both(opposite(trend(&sender)), opposite(trend(&receiver)));
    Some(decided(ruling, said))
}

/// True if all of the gains point the same way.
fn trend(gains: &[(Bytes, Quantity)]) -> Ruling {
    let gains = || gains.iter().map(|(_, gain)| gain);
    let faster: Vec<Ruling> = gains().map(|it| exceeds(it, 1.0 + TREND)).collect();
    let slower = gains().map(|it| opposite(exceeds(it, 1.0 / (1.0 + TREND))));
    let slower: Vec<Ruling> = slower.collect();
    let all_hold = |rulings: &[Ruling]| rulings.iter().all(|it| *it == Ruling::Holds);
    let is_refuted = |rulings: &[Ruling]| rulings.contains(&Ruling::DoesNotHold);
    if all_hold(&faster) || all_hold(&slower) {
        Ruling::Holds
    } else if is_refuted(&faster) && is_refuted(&slower) {
        Ruling::DoesNotHold
    } else {
        Ruling::Undecided
    }
}

fn again(results: &Results<'_>) -> Option<Judgement> {
    let largest = |reading| times_over(results, [PLAIN, FROM_MAPPING], reading).pop();
    let (size, again) = largest(Reading::Again)?;
    let (_, random) = largest(Reading::RandomOrder)?;
    let wins = [&again, &random].map(|gain| exceeds(gain, 1.0 + MARGIN));
    let ruling = match wins {
        [Ruling::Holds, Ruling::Holds] => Ruling::Holds,
        [Ruling::DoesNotHold, Ruling::DoesNotHold] => Ruling::DoesNotHold,
        _ if wins.contains(&Ruling::Holds) => Ruling::HoldsInPart,
        _ => Ruling::Undecided,
    };
    let said = sentence!(
        "A file of {size} that is mapped already is sent {again} as fast as one that is read; in \
         random order, 4 KiB at a time, {random} as fast."
    );
    Some(decided(ruling, said))
}
