//! Claims about files that are not in memory.

use super::random::{self, MET};
use super::read_ahead::{self, AHEAD};
use super::{CHUNK_SIZE, cold_warm};
use crate::judging::{
    ALMOST, MARGIN, alike_along, both, decided, exceeds, is_about, larger_along, opposite,
};
use crate::prelude::*;
use instrument::claim::{Claim, Evidence, Judgement, Ruling};

/// Report E found this window of read-ahead.
const REPORTED_WINDOW: f64 = 64.0 * 1024.0;

/// An order of magnitude, as a factor that a rounded exponent of ten leaves room for.
const ORDER: f64 = 3.16;
/// Report B found the gap between cold and warm reads stable from here on.
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
        experiments: &[cold_warm::DESIGN.id],
        test: |evidence| {
            let ratios = cold_warm::ratios(evidence.of(cold_warm::DESIGN.id)?);
            larger_along("blocks of ", &ratios, |[least, most]| {
                sentence!("It is read {least} to {most} as fast from memory.")
            })
        },
    },
    Claim {
        key: "the_gap_to_storage_is_stable_from_8_kib",
        says: "A file in memory is read the faster against one on storage the larger the block, up to \
               8 KiB; from there on the ratio is stable.",
        source: "Report B, section 4",
        experiments: &[cold_warm::DESIGN.id],
        test: gap_is_stable,
    },
    Claim {
        key: "order_matters_for_small_chunks",
        says: "A file on storage is read faster in order than in random order, unless the chunks are \
               large.",
        source: "Report E, section 4.2",
        experiments: &[random::DESIGN.id],
        test: order_matters,
    },
    Claim {
        key: "order_gains_tenfold_below_64_kib",
        says: "In chunks below 64 KB, reading in order is an order of magnitude faster than at random; \
               from there on it is not.",
        source: "Report E, section 4.2.2.2, Figure 17",
        experiments: &[random::DESIGN.id],
        test: order_gains_tenfold,
    },
    Claim {
        key: "both_orders_are_alike_around_512_kib",
        says: "In chunks of 256 KB to 1 MB, a file is read at random about as fast as in order.",
        source: "Report E, section 4.2.1.2, Figure 16",
        experiments: &[random::DESIGN.id],
        test: |evidence| {
            let mut ratios = random::ratios(evidence.of(random::DESIGN.id)?);
            let [from, to] = REPORTED_ALIKE;
            ratios.retain(|(chunk, _)| (from..=to).contains(chunk));
            alike_along(ALMOST, &ratios, |[least, most]| {
                sentence!(
                    "In chunks of {from} to {to}, reading in order is {least} to {most} as fast as at \
                     random."
                )
            })
        },
    },
    Claim {
        key: "the_kernel_reads_64_kib_ahead",
        says: "The kernel reads 64 KiB ahead.",
        source: "Report E, section 4.2: 16 pages on Linux 2.4",
        experiments: &[read_ahead::DESIGN.id],
        test: window_is_as_reported,
    },
];

/// Cold over warm: it must grow up to the block that the report names, and then stay.
fn gap_is_stable(evidence: &Evidence<'_>) -> Option<Judgement> {
    let ratios = cold_warm::ratios(evidence.of(cold_warm::DESIGN.id)?);
    let ((smallest, first), (largest, last)) = (*ratios.first()?, *ratios.last()?);
    let (_, there) = *ratios.iter().find(|(block, _)| *block == REPORTED_STABLE)?;
    if smallest == REPORTED_STABLE || largest == REPORTED_STABLE {
        return None;
    }
    let (growth, rest) = (there.over(first)?, last.over(there)?);
    let ruling = both(exceeds(&growth, 1.0 + MARGIN), is_about(&rest, 1.0, ALMOST));
    let said = sentence!(
        "From memory a file is read {first} as fast as from storage in blocks of {smallest}, {there} in \
         blocks of {block} and {last} in blocks of {largest}.",
        block = REPORTED_STABLE,
    );
    let because = Finding::new("because", said)
        .with_number("growth", growth)
        .with_number("rest", rest);
    Some(decided(ruling, because))
}

/// In order over random: it must gain in the smallest chunks and not in the largest.
fn order_matters(evidence: &Evidence<'_>) -> Option<Judgement> {
    let ratios = random::ratios(evidence.of(random::DESIGN.id)?);
    let ((small, first), (large, last)) = (*ratios.first()?, *ratios.last()?);
    let ruling = match (exceeds(&first, 1.0 + MARGIN), exceeds(&last, MET)) {
        (Ruling::Holds, Ruling::DoesNotHold) => Ruling::Holds,
        (Ruling::Holds, Ruling::Holds) => Ruling::HoldsInPart,
        (Ruling::DoesNotHold, _) => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    };
    let said = sentence!(
        "In order is {first} as fast in chunks of {small}, and {last} in chunks of {large}."
    );
    Some(decided(ruling, Finding::new("because", said)))
}

/// The window of read-ahead that was counted, against that of the report.
fn window_is_as_reported(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(read_ahead::DESIGN.id)?;
    let curve = results.along(CHUNK_SIZE, AHEAD, &[]);
    let (_, ahead) = curve.first()?;
    let ruling = if ahead.interval?.contains(REPORTED_WINDOW) {
        Ruling::Holds
    } else {
        Ruling::DoesNotHold
    };
    let said = sentence!("The kernel was seen to read {ahead} ahead.");
    Some(decided(ruling, Finding::new("because", said)))
}

/// In order over random, in the smallest chunks and in those of the report.
fn order_gains_tenfold(evidence: &Evidence<'_>) -> Option<Judgement> {
    let ratios = random::ratios(evidence.of(random::DESIGN.id)?);
    let (small, first) = *ratios.first()?;
    let (_, there) = *ratios.iter().find(|(chunk, _)| *chunk == REPORTED_CHUNK)?;
    if small >= REPORTED_CHUNK {
        return None;
    }
    let ruling = both(exceeds(&first, ORDER), opposite(exceeds(&there, ORDER)));
    let said = sentence!(
        "In order is {first} as fast in chunks of {small}, and {there} in chunks of {chunk}.",
        chunk = REPORTED_CHUNK,
    );
    Some(decided(ruling, Finding::new("because", said)))
}
