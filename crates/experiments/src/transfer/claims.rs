//! Claims about transfers.

use super::findings::over;
use super::growth;
use super::levels::{
    FROM_MAPPING, INTO_MAPPING, MAPPED, PLAIN, Pair, RECEIVER_TIME, Reading, SIZE, TIME, times_over,
};
use crate::estimates::ratios_within;
use crate::judging::{
    ALMOST, MARGIN, a_little, alike_along, all_alike, decided, exceeds, larger_along,
};
use crate::prelude::*;
use instrument::claim::{Claim, Evidence, Judgement, Ruling};

const TRANSFERS: &str = "transfer.file";
const GROWTH: &str = "transfer.growth";
/// Files are large from here on, and small below.
const LARGE: Bytes = Bytes(1 << 20);
/// A difference up to this share is no trend.
const TREND: f64 = 0.1;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "large_files_are_sent_faster_from_a_mapping",
        says: "A large file is sent faster if the sender maps it.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| {
            let gains = large(evidence, PLAIN, FROM_MAPPING)?;
            let judged = larger_along("files of ", &gains, |[least, most]| {
                sentence!(
                    "A sender that maps files of 1 MiB and more is {least} to {most} as fast as one \
                     that reads them."
                )
            });
            named(evidence, judged)
        },
    },
    Claim {
        key: "files_are_received_slower_into_a_mapping",
        says: "A large file is received a little slower if the receiver maps it.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| {
            let losses = large(evidence, INTO_MAPPING, PLAIN)?;
            let slower = larger_along("files of ", &losses, |[least, most]| {
                sentence!(
                    "A receiver that maps files of 1 MiB and more takes {least} to {most} as long as \
                     one that writes them."
                )
            });
            named(evidence, slower.map(|judged| a_little(judged, &losses)))
        },
    },
    Claim {
        key: "the_receiver_takes_longer",
        says: "The slave takes longer than the master, by any method.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| {
            let ratios = both_ends(evidence, PLAIN)?;
            let judged = larger_along("files of ", &ratios, |[least, most]| {
                sentence!("The receiver takes {least} to {most} as long as the sender.")
            });
            named(evidence, judged)
        },
    },
    Claim {
        key: "both_ends_take_almost_the_same_time_for_large_files",
        says: "For large files, master and slave take almost the same time.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| {
            let ratios = both_ends(evidence, PLAIN)?.into_iter();
            let mapped = both_ends(evidence, MAPPED)?;
            let ratios = large_of(ratios.chain(mapped).collect());
            let judged = alike_along(ALMOST, &ratios, |[least, most]| {
                sentence!(
                    "From 1 MiB on, the receiver takes {least} to {most} as long as the sender, by \
                     read and write or mapped."
                )
            });
            named(evidence, judged)
        },
    },
    Claim {
        key: "for_large_files_the_sender_makes_little_difference",
        says: "For large files, it makes little difference if the sender maps them.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| {
            let gains = large(evidence, PLAIN, FROM_MAPPING)?;
            let judged = alike_along(ALMOST, &gains, |[least, most]| {
                sentence!(
                    "From 1 MiB on, a sender that maps its file is {least} to {most} as fast as one \
                     that reads it."
                )
            });
            named(evidence, judged)
        },
    },
    Claim {
        key: "mapping_costs_more_to_begin_with",
        says: "The fixed cost of mapping a file is above that of reading it: the smallest file is sent \
               faster by read and write.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| {
            let smallest = *gains(evidence, FROM_MAPPING, PLAIN, Reading::First)?.first()?;
            let (size, ratio) = smallest;
            let said = sentence!(
                "A file of {size} takes {ratio} as long from a mapping as by read and write."
            );
            let because = Finding::new("because", said).with_number("ratio", ratio);
            named(
                evidence,
                Some(decided(exceeds(&ratio, 1.0 + MARGIN), because)),
            )
        },
    },
    Claim {
        key: "for_small_files_the_method_makes_no_difference",
        says: "For small files it makes no difference which side maps them.",
        source: "Report C",
        experiments: &[TRANSFERS],
        test: |evidence| {
            named(
                evidence,
                small(&gains(evidence, PLAIN, MAPPED, Reading::First)?),
            )
        },
    },
    Claim {
        key: "a_mapping_that_grows_by_the_page_is_slower",
        says: "A receiver that maps is slower because it does not know the size: it allocates page after \
               page.",
        source: "Report C",
        experiments: &[GROWTH],
        test: |evidence| growth::by_the_page(evidence.of(GROWTH)?),
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

/// The receiver's time over the sender's, by size, where both sides use these methods.
fn both_ends(evidence: &Evidence<'_>, pair: Pair) -> Option<Vec<(Bytes, Quantity)>> {
    let results = evidence.of(TRANSFERS)?;
    let curve = |metric| results.along(SIZE, metric, &pair.levels(Reading::First));
    Some(ratios_within(&curve(RECEIVER_TIME), &curve(TIME)))
}

/// The time of one pair relative to the other, by size.
fn gains(
    evidence: &Evidence<'_>,
    slow: Pair,
    fast: Pair,
    reading: Reading,
) -> Option<Vec<(Bytes, Quantity)>> {
    let results = evidence.of(TRANSFERS)?;
    Some(times_over(results, [slow, fast], reading))
}

fn large(evidence: &Evidence<'_>, slow: Pair, fast: Pair) -> Option<Vec<(Bytes, Quantity)>> {
    Some(large_of(gains(evidence, slow, fast, Reading::First)?))
}

fn large_of(mut ratios: Vec<(Bytes, Quantity)>) -> Vec<(Bytes, Quantity)> {
    ratios.retain(|(size, _)| *size >= LARGE);
    ratios
}

fn small(gains: &[(Bytes, Quantity)]) -> Option<Judgement> {
    let small: Vec<_> = gains.iter().filter(|(size, _)| *size < LARGE).collect();
    let distance = |gain: &Quantity| (gain.value.ln()).abs();
    let (size, gain) = small
        .iter()
        .max_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)))?;
    let ruling = all_alike(1.0 + TREND, small.iter().map(|(_, gain)| gain));
    let said = sentence!(
        "Below 1 MiB, the largest difference is at {size}, where mapping on both sides is {gain} \
         as fast as read and write; a difference within 10 % counts as none."
    );
    Some(decided(ruling, Finding::new("because", said)))
}

fn again(evidence: &Evidence<'_>) -> Option<Judgement> {
    let largest = |reading| gains(evidence, PLAIN, FROM_MAPPING, reading)?.pop();
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
    Some(decided(ruling, Finding::new("because", said)))
}
