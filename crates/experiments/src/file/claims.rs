//! Claims about files.

use super::BLOCK_SIZE;
use super::block_size::{PASS, THROUGHPUT};
use crate::estimates::{WithEstimate, ratio};
use crate::judging::{MARGIN, decided};
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::Estimate;

const BLOCKS: &str = "file.block_size";
const WARM: &str = "read warm";
const COLD: &str = "read cold";

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "larger_blocks_are_always_faster",
        says: "The larger the block, the faster a file is read.",
        source: "folklore",
        experiments: &[BLOCKS],
        test: |evidence| larger_is_faster(&curve(evidence, WARM)?),
    },
    Claim {
        key: "blocks_of_512_kib_suffice",
        says: "Blocks of more than 512 KiB gain nothing.",
        source: "Report A, section 3",
        experiments: &[BLOCKS],
        test: |evidence| nothing_gained_beyond(512 << 10, &curve(evidence, WARM)?),
    },
    Claim {
        key: "blocks_of_1_mib_suffice",
        says: "Blocks of more than 1 MiB gain nothing.",
        source: "Report B, section 3",
        experiments: &[BLOCKS],
        test: |evidence| nothing_gained_beyond(1 << 20, &curve(evidence, WARM)?),
    },
    Claim {
        key: "cold_files_take_large_blocks_too",
        says: "A file that is not in memory, too, is read fastest in the largest blocks.",
        source: "folklore",
        experiments: &[BLOCKS],
        test: |evidence| larger_is_faster(&curve(evidence, COLD)?),
    },
];

fn curve<'a>(evidence: &Evidence<'a>, pass: &str) -> Option<Vec<(u64, &'a Estimate)>> {
    Some(
        evidence
            .of(BLOCKS)?
            .curve(THROUGHPUT, BLOCK_SIZE, &[(PASS, pass.into())]),
    )
}

/// Whether no smaller block beats the largest.
fn larger_is_faster(curve: &[(u64, &Estimate)]) -> Option<Judgement> {
    let (largest, last) = curve.last()?;
    let (best, fastest) = curve
        .iter()
        .max_by(|a, b| a.1.centre.total_cmp(&b.1.centre))?;
    let ratio = ratio(fastest, last)?;
    let ruling = match ratio.interval? {
        interval if interval.low > 1.0 + MARGIN => Ruling::DoesNotHold,
        interval if interval.high < 1.0 + MARGIN => Ruling::Holds,
        _ => Ruling::CannotBeTold,
    };
    let because = Finding::new(
        "because",
        "Blocks of {best} are the fastest: {ratio} as fast as those of {largest}, the largest.",
    )
    .given("best", *best as f64, Unit::Bytes)
    .given("largest", *largest as f64, Unit::Bytes)
    .with("ratio", &ratio, Unit::Ratio);
    Some(decided(ruling, because))
}

/// Whether the best of the larger blocks gains nothing over one of `size`.
fn nothing_gained_beyond(size: u64, curve: &[(u64, &Estimate)]) -> Option<Judgement> {
    let (_, enough) = curve.iter().find(|(measured, _)| *measured == size)?;
    let larger = curve.iter().filter(|(measured, _)| *measured > size);
    let (best, fastest) = larger.max_by(|a, b| a.1.centre.total_cmp(&b.1.centre))?;
    let ratio = ratio(fastest, enough)?;
    let ruling = match ratio.interval? {
        interval if interval.high < 1.0 + MARGIN => Ruling::Holds,
        interval if interval.low > 1.0 + MARGIN => Ruling::DoesNotHold,
        _ => Ruling::CannotBeTold,
    };
    let because = Finding::new(
        "because",
        "The best of the larger blocks, {best}, is {ratio} as fast.",
    )
    .given("best", *best as f64, Unit::Bytes)
    .with("ratio", &ratio, Unit::Ratio);
    Some(decided(ruling, because))
}
