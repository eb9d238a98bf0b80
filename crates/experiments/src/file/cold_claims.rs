//! Claims about files that are not in memory.

use super::random::{self, MET};
use super::read_ahead::{self, WINDOW};
use super::{CHUNK_SIZE, cold_warm};
use crate::judging::{
    ALMOST, MARGIN, about_along, both, decided, exceeds, extremes, is_about, larger_along,
    opposite, throughout,
};
use crate::prelude::*;

/// Report E found this window of read-ahead.
const REPORTED_WINDOW: f64 = 64.0 * 1024.0;

/// Report E calls this an order of magnitude.
const TENFOLD: f64 = 10.0;
/// What is of the same order differs by less than this factor, half of an exponent of ten.
pub(super) const ORDER: f64 = 3.16;
/// Report B found the difference between the speeds of cold and warm reads stable from here on.
const REPORTED_STABLE: Bytes = Bytes(8 << 10);
/// Report E found no more gain from the order of chunks from here on.
const REPORTED_CHUNK: Bytes = Bytes(64 << 10);
/// Report E found both orders alike in chunks of these sizes.
const REPORTED_ALIKE: [Bytes; 2] = [Bytes(256 << 10), Bytes(1 << 20)];

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "memory_beats_storage_at_every_block_size",
        says: "A file is read faster from memory than from storage, in blocks of any size.",
        source: "Reports A and B, section 4",
        basis: Basis::One(cold_warm::DESIGN.id, |results| {
            let ratios = cold_warm::ratios(results);
            larger_along("blocks of ", &ratios, |[least, most]| {
                sentence!("It is read {least} to {most} as fast from memory.")
            })
        }),
    },
    Claim {
        key: "the_gap_to_storage_is_stable_from_8_kib",
        says: "The larger the block up to 8 KiB, the more bytes a second are read from memory than from \
               storage; from there on the difference is stable.",
        source: "Report B, section 4",
        basis: Basis::One(cold_warm::DESIGN.id, gap_is_stable),
    },
    Claim {
        key: "order_matters_for_small_chunks",
        says: "A file on storage is read faster in order than in random order, unless the chunks are \
               large.",
        source: "Report E, section 4.2",
        basis: Basis::One(random::DESIGN.id, order_matters),
    },
    Claim {
        key: "order_gains_tenfold_below_64_kib",
        says: "In chunks below 64 KB, reading in order is about ten times as fast as at random; from there \
               on both are of the same order of magnitude.",
        source: "Report E, section 4.2.2.2, Figure 17",
        basis: Basis::One(random::DESIGN.id, order_gains_tenfold),
    },
    Claim {
        key: "both_orders_are_alike_around_512_kib",
        says: "In chunks of 256 KB to 1 MB, a file is read at random about as fast as in order.",
        source: "Report E, section 4.2.1.2, Figure 16",
        basis: Basis::One(random::DESIGN.id, |results| {
            let mut ratios = random::ratios(results);
            let [from, to] = REPORTED_ALIKE;
            ratios.retain(|(chunk, _)| (from..=to).contains(chunk));
            about_along(1.0, ALMOST, &ratios, |[least, most]| {
                sentence!(
                    "In chunks of {from} to {to}, reading in order is {least} to {most} as fast as at \
                     random."
                )
            })
        }),
    },
    Claim {
        key: "the_kernel_reads_64_kib_ahead",
        says: "The kernel reads 64 KiB ahead.",
        source: "Report E, section 4.2: 16 pages on Linux 2.4",
        basis: Basis::One(read_ahead::DESIGN.id, window_is_as_reported),
    },
];

/// Warm less cold: the difference must grow up to the block that the report names, and then stay.
fn gap_is_stable(results: &Results<'_>) -> Option<Judgement> {
    let gaps = cold_warm::differences(results);
    let at = gaps
        .iter()
        .position(|(block, _)| *block == REPORTED_STABLE)?;
    let (_, there) = gaps[at];
    let ((smallest, first), larger) = (*gaps[..at].first()?, &gaps[at + 1..]);
    let grows = exceeds(&there.minus(first.times(1.0 + MARGIN)), 0.0);
    let stays = about_along(there.value, ALMOST, larger, |_| Sentence::default())?.ruling;
    let ruling = if exceeds(&there, 0.0) == Ruling::DoesNotHold {
        Ruling::DoesNotHold
    } else {
        both(grows, stays)
    };
    // Where there is no gap, its size is no number for a sentence.
    let [(_, least), (_, most)] = extremes(larger)?;
    let is_sayable = |gap: &Quantity| gap.value > 0.0 && !gap.is_vague();
    let said = if is_sayable(&there) && is_sayable(&least) {
        let before = if is_sayable(&first) {
            sentence!("{first}")
        } else {
            sentence!("nothing certain")
        };
        sentence!(
            "Memory gains {before} over storage in blocks of {smallest}, {there} in blocks of \
             {block}, and {least} to {most} in larger ones.",
            block = REPORTED_STABLE,
        )
    } else {
        sentence!("Memory is not surely faster than storage in blocks of every size.")
    };
    Some(decided(ruling, said))
}

/// In order over random: it must gain in the smallest chunks and not in the largest.
fn order_matters(results: &Results<'_>) -> Option<Judgement> {
    let ratios = random::ratios(results);
    let ((small, first), (large, last)) = (*ratios.first()?, *ratios.last()?);
    let ruling = match (exceeds(&first, 1.0 + MARGIN), exceeds(&last, MET)) {
        (Ruling::Holds, Ruling::DoesNotHold) => Ruling::Holds,
        (Ruling::Holds, Ruling::Holds) => Ruling::HoldsInPart,
        (Ruling::DoesNotHold, _) => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    };
    let said = sentence!(
        "Reading in order is {first} as fast in chunks of {small}, and {last} in chunks of \
         {large}."
    );
    Some(decided(ruling, said))
}

/// The window of read-ahead that was counted, against that of the report.
fn window_is_as_reported(results: &Results<'_>) -> Option<Judgement> {
    let curve = results.along(CHUNK_SIZE, WINDOW, &[]);
    let (_, window) = curve.first()?;
    let window = window.quantity();
    let ruling = is_about(&window, REPORTED_WINDOW, ALMOST);
    let said = sentence!("The kernel reads windows of {window}.");
    Some(decided(ruling, said))
}

/// In order over random, in all chunks below that of the report and in all others.
fn order_gains_tenfold(results: &Results<'_>) -> Option<Judgement> {
    let ratios = random::ratios(results);
    let (below, beyond): (Vec<_>, Vec<_>) = ratios
        .into_iter()
        .partition(|(chunk, _)| *chunk < REPORTED_CHUNK);
    let gains = |(_, gain): &(Bytes, Quantity)| is_about(gain, TENFOLD, ORDER);
    let does_not = |(_, gain): &(Bytes, Quantity)| opposite(exceeds(gain, ORDER));
    let ruling = both(
        throughout(below.iter().map(gains)),
        throughout(beyond.iter().map(does_not)),
    );
    let ([(_, a), (_, b)], [(_, c), (_, d)]) = (extremes(&below)?, extremes(&beyond)?);
    let said = sentence!(
        "Reading in order is {a} to {b} as fast in chunks below {chunk}, and {c} to {d} in \
         the others.",
        chunk = REPORTED_CHUNK,
    );
    Some(decided(ruling, said))
}
