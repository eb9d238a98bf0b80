//! Claims about memory.

use super::bandwidth::{READ, WRITE, curve};
use super::footprint;
use super::pages::Pages;
use crate::estimates::{ratio, ratios};
use crate::judging::{Along, Ratios, alike, decided, exceeds, larger_by};
use crate::optimisation::{COMPILER, Compiler};
use crate::prelude::*;
use instrument::claim::{Claim, Evidence, Judgement};

const BANDWIDTH: &str = "memory.bandwidth";
const FOOTPRINT: &str = "memory.footprint";
/// Less than this is no gap between cache and memory.
const GAP: f64 = 1.1;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "reading_memory_beats_writing_it",
        says: "Reading memory is faster than writing it, at any size.",
        source: "Report E, section 3: 2888 against 2036 MB/s in the cache, 1265 against 528 in RAM",
        experiments: &[BANDWIDTH],
        test: |evidence| {
            let read = rates(evidence, READ)?;
            READING_OVER_WRITING.judge(&ratios(&read, &rates(evidence, WRITE)?))
        },
    },
    Claim {
        key: "cache_beats_memory_severalfold",
        says: "A block that fits the nearest cache is read more than twice as fast as one that only \
               memory holds.",
        source: "Report E, section 3: 2888 against 1265 MB/s",
        experiments: &[BANDWIDTH],
        test: nearest_cache_over_memory,
    },
    Claim {
        key: "without_optimisation_no_gap_is_seen",
        says: "Compiled without optimisation, a loop writes as fast into memory as into the cache.",
        source: "Report E, section 7.1, Figures 34 and 35",
        experiments: &[FOOTPRINT],
        test: |evidence| {
            let (one, other) = ends_of_footprint(evidence, 0)?;
            alike(GAP, one, other, |ratio| {
                sentence!(
                    "Without optimisation, the smallest block is written at {one} and one of twice \
                     the cache at {other}: {ratio}."
                )
            })
        },
    },
    Claim {
        key: "with_optimisation_the_gap_is_seen",
        says: "Compiled with optimisation, a loop writes faster into the cache than beyond it.",
        source: "Report E, section 7.1, Figures 34 and 35",
        experiments: &[FOOTPRINT],
        test: |evidence| {
            let (one, other) = ends_of_footprint(evidence, 3)?;
            larger_by(GAP, one, other, |ratio| {
                sentence!(
                    "At optimisation 3, the smallest block is written at {one} and one of twice the \
                     cache at {other}: {ratio}."
                )
            })
        },
    },
];

/// The rates of the smallest and the largest block at a level of optimisation.
fn ends_of_footprint<'a>(
    evidence: &Evidence<'a>,
    level: usize,
) -> Option<(&'a Estimate, &'a Estimate)> {
    let by_rust = [COMPILER.at(Compiler::Rust)];
    let (metric, _) = footprint::METRICS[level];
    let curve = evidence
        .of(FOOTPRINT)?
        .along(footprint::BLOCK_SIZE, metric, &by_rust);
    let ((_, one), (_, other)) = (curve.first()?, curve.last()?);
    Some((one, other))
}

const READING_OVER_WRITING: Along = Along {
    everywhere: |Ratios { least, most, .. }| {
        sentence!("Reading is {least} to {most} as fast as writing.")
    },
    from_on: |Ratios { least, most, from }| {
        sentence!(
            "Reading is faster for blocks of {from} and larger; over all sizes it is {least} to {most} \
             as fast as writing."
        )
    },
    nowhere: |Ratios { least, most, .. }| {
        sentence!("Reading is {least} to {most} as fast as writing.")
    },
    mixed: |Ratios { least, most, .. }| {
        sentence!(
            "Reading is faster at some sizes only: it is {least} to {most} as fast as writing."
        )
    },
};

fn nearest_cache_over_memory(evidence: &Evidence<'_>) -> Option<Judgement> {
    let curve = rates(evidence, READ)?;
    let (_, memory) = curve.last()?;
    let (_, cache) = curve
        .iter()
        .max_by(|a, b| a.1.centre.total_cmp(&b.1.centre))?;
    let ratio = ratio(cache, memory)?;
    let said = sentence!("The fastest block is read {ratio} as fast as the largest.");
    let because = Finding::new("because", said);
    Some(decided(exceeds(&ratio, 2.0), because))
}

/// Rates by block size in base pages.
fn rates<'a>(
    evidence: &Evidence<'a>,
    metric: Metric<&'static str>,
) -> Option<Vec<(Bytes, &'a Estimate)>> {
    let results = evidence.of(BANDWIDTH)?;
    Some(curve(results, metric, Pages::base(results.machine)?))
}
