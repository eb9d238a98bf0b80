//! Claims about memory.

use super::bandwidth::{BLOCK_SIZE, READ, WRITE};
use super::pages::{self, PAGES};
use crate::estimates::{WithEstimate, ratio, ratios};
use crate::judging::{Range, decided, exceeds};
use instrument::claim::{Claim, Evidence, Judgement};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::Estimate;

const BANDWIDTH: &str = "memory.bandwidth";

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "reading_memory_beats_writing_it",
        says: "Memory is read faster than it is written, whatever the size.",
        source: "Report E, section 3: 2888 against 2036 MB/s in the cache, 1265 against 528 in RAM",
        experiments: &[BANDWIDTH],
        test: |evidence| {
            Range {
                unit: Unit::Bytes,
                everywhere: "Reading is {least} to {most} as fast as writing.",
                from_on: "From blocks of {from} on, reading is faster; in all, it is {least} to \
                          {most} as fast as writing.",
                nowhere: "Reading is {least} to {most} as fast as writing.",
                mixed: "Reading is faster at some sizes only: {least} to {most} as fast as \
                        writing.",
            }
            .judge(&ratios(&curve(evidence, READ)?, &curve(evidence, WRITE)?))
        },
    },
    Claim {
        key: "cache_beats_memory_severalfold",
        says: "What fits the nearest cache is read more than twice as fast as what only memory holds.",
        source: "Report E, section 3: 2888 against 1265 MB/s",
        experiments: &[BANDWIDTH],
        test: nearest_cache_over_memory,
    },
];

fn nearest_cache_over_memory(evidence: &Evidence<'_>) -> Option<Judgement> {
    let curve = curve(evidence, READ)?;
    let (_, memory) = curve.last()?;
    let (_, cache) = curve
        .iter()
        .max_by(|a, b| a.1.centre.total_cmp(&b.1.centre))?;
    let ratio = ratio(cache, memory)?;
    let because = Finding::new(
        "because",
        "The best block is read {ratio} as fast as the largest.",
    )
    .with("ratio", &ratio, Unit::Ratio);
    Some(decided(exceeds(&ratio, 2.0), because))
}

/// Rates by block size in pages of the usual size.
fn curve<'a>(evidence: &Evidence<'a>, metric: &str) -> Option<Vec<(u64, &'a Estimate)>> {
    let results = evidence.of(BANDWIDTH)?;
    let base = pages::base(results.machine)?;
    Some(results.curve(metric, BLOCK_SIZE, &[(PAGES, base.as_str().into())]))
}
