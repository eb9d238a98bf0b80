//! Claims about memory.

use super::bandwidth::{READ, WRITE, curve};
use super::footprint;
use super::loaded;
use super::pages::Pages;
use crate::estimates::{ratio, ratios, value_at};
use crate::judging::{
    ALMOST, about, decided, exceeds, extremes, larger_along, larger_by, throughout,
};
use crate::listing::{LISTING, listed};
use crate::optimisation::{COMPILER, Compiler};
use crate::prelude::*;

const BANDWIDTH: &str = "memory.bandwidth";
const FOOTPRINT: &str = "memory.footprint";
/// Less than this is no gap between cache and memory.
const GAP: f64 = 1.1;
/// The blocks by which the numbers of report E are reproduced: one that a cache holds, and one that only memory
/// holds.
const IN_CACHE: Bytes = Bytes(64 << 10);
const IN_MEMORY: Bytes = Bytes(256 << 20);

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "reading_memory_beats_writing_it",
        says: "Reading memory is faster than writing it, at any size.",
        source: "Report E, section 3: 2888 against 2036 MB/s in the cache, 1265 against 528 in RAM",
        basis: Basis::One(BANDWIDTH, |results| {
            let results = results.without(LISTING);
            let ratios = ratios(&rates(&results, READ)?, &rates(&results, WRITE)?);
            larger_along("blocks of ", &ratios, |[least, most]| {
                sentence!("Reading is {least} to {most} as fast as writing.")
            })
        }),
    },
    Claim {
        key: "cache_beats_memory_severalfold",
        says: "A block in the cache (64 KiB) is read more than twice as fast as one in memory (256 MiB).",
        source: "Report E, section 3: 2888 against 1265 MB/s",
        basis: Basis::One(BANDWIDTH, |results| {
            of_cache_and_memory(results, READ, |one, other| {
                larger_by(2.0, one, other, |ratio| of_both(one, other, ratio))
            })
        }),
    },
    Claim {
        key: "cache_is_written_four_times_as_fast",
        says: "A block in the cache (64 KiB) is written about four times as fast as one in memory \
               (256 MiB).",
        source: "Report E, section 3.1.2: 2035.7 against 528.0 MB/s",
        basis: Basis::One(BANDWIDTH, |results| about_times(results, WRITE, 4.0)),
    },
    Claim {
        key: "cache_is_read_three_times_as_fast",
        says: "A block in the cache (64 KiB) is read about three times as fast as one in memory \
               (256 MiB).",
        source: "Report E, section 3.1.2, whose own table says 2.3: 2888.2 against 1264.6 MB/s",
        basis: Basis::One(BANDWIDTH, |results| about_times(results, READ, 3.0)),
    },
    Claim {
        key: "curves_are_noisier_at_low_optimisation",
        says: "Within the cache, the speed of writing varies more from size to size the less the compiler \
               optimises.",
        source: "Report E, sections 3.2.2 and 7.1",
        basis: Basis::One(FOOTPRINT, noisier_at_low_optimisation),
    },
    Claim {
        key: "without_optimisation_no_gap_is_seen",
        says: "Compiled without optimisation, a loop writes as fast into memory as into the cache.",
        source: "Report E, section 7.1, Figures 34 and 35",
        basis: Basis::One(FOOTPRINT, |results| {
            let (one, other) = ends_of_footprint(results, 0)?;
            about(1.0, GAP, one, other, |ratio| {
                sentence!(
                    "Without optimisation, the smallest block is written at {one} and one of twice \
                     the cache at {other}: {ratio}."
                )
            })
        }),
    },
    Claim {
        key: "with_optimisation_the_gap_is_seen",
        says: "Compiled with any level of optimisation, a loop writes faster into the cache than beyond it.",
        source: "Report E, section 7.1, Figures 34 and 35",
        basis: Basis::One(FOOTPRINT, gap_is_seen),
    },
    Claim {
        key: "half_of_the_bandwidth_leaves_latency_alone",
        says: "While other processors use half of the memory bandwidth, a load from memory takes about as \
               long as while they use none.",
        source: "folklore",
        basis: Basis::One(loaded::ID, |results| {
            let (loaded, idle) = (loaded::latency(results, 50)?, loaded::latency(results, 0)?);
            about(1.0, ALMOST, loaded, idle, |ratio| {
                sentence!(
                    "A load takes {loaded} with half of the bandwidth in use and {idle} with none: {ratio} as long."
                )
            })
        }),
    },
    Claim {
        key: "full_bandwidth_doubles_latency",
        says: "While other processors use all of the memory bandwidth, a load from memory takes more than \
               twice as long as while they use none.",
        source: "folklore; the authors of the Mess benchmark (2024) saw 85 to 130 ns idle, 200 to 600 ns saturated",
        basis: Basis::One(loaded::ID, |results| {
            let (loaded, idle) = (loaded::latency(results, 100)?, loaded::latency(results, 0)?);
            larger_by(2.0, loaded, idle, |ratio| {
                sentence!(
                    "A load takes {loaded} with all of the bandwidth in use and {idle} with none: {ratio} as long."
                )
            })
        }),
    },
];

/// The smallest block over one beyond the cache, at each level of optimisation but none.
fn gap_is_seen(results: &Results<'_>) -> Option<Judgement> {
    let gap = |level| {
        let (one, other) = ends_of_footprint(results, level)?;
        Some((level, ratio(one, other)?))
    };
    let levels = 1..footprint::METRICS.len();
    let gaps: Vec<_> = levels.map(gap).collect::<Option<_>>()?;
    let ruling = throughout(gaps.iter().map(|(_, gap)| exceeds(gap, GAP)));
    let [(_, least), (_, most)] = extremes(&gaps)?;
    let said = sentence!(
        "At optimisation 1 to 3, the smallest block is written {least} to {most} as fast as one of twice \
         the cache."
    );
    Some(decided(ruling, said))
}

/// The rates of the smallest and the largest block at a level of optimisation.
fn ends_of_footprint<'r>(
    results: &'r Results<'_>,
    level: usize,
) -> Option<(&'r Estimate, &'r Estimate)> {
    let by_rust = [COMPILER.at(Compiler::Rust)];
    let (metric, _) = footprint::METRICS[level];
    let curve = results.along(footprint::BLOCK_SIZE, metric, &by_rust);
    let ((_, one), (_, other)) = (curve.first()?, curve.last()?);
    Some((one, other))
}

/// The cache over memory, against the ratio that the report states.
fn about_times(results: &Results<'_>, metric: Metric, times: f64) -> Option<Judgement> {
    of_cache_and_memory(results, metric, |one, other| {
        about(times, ALMOST, one, other, |ratio| {
            of_both(one, other, ratio)
        })
    })
}

fn of_both(cache: &Estimate, memory: &Estimate, ratio: Quantity) -> Sentence {
    sentence!(
        "A block of {small} reaches {cache}, one of {large} {memory}: {ratio} as much.",
        small = IN_CACHE,
        large = IN_MEMORY,
    )
}

/// Judges by the rates of the same two blocks by which `oscope reproduce` gives the report's ratios: of its listing
/// if that was measured, else of the usual loops.
fn of_cache_and_memory(
    results: &Results<'_>,
    metric: Metric,
    judge: impl Fn(&Estimate, &Estimate) -> Option<Judgement>,
) -> Option<Judgement> {
    [listed(results), results.without(LISTING)]
        .iter()
        .find_map(|results| {
            let curve = rates(results, metric)?;
            judge(value_at(&curve, IN_CACHE)?, value_at(&curve, IN_MEMORY)?)
        })
}

/// The variation of the rate between blocks that fit the cache, at the lowest and the highest optimisation.
fn noisier_at_low_optimisation(results: &Results<'_>) -> Option<Judgement> {
    let unevenness = |level| footprint::unevenness(results, level);
    let (low, high) = (unevenness(0)?, unevenness(3)?);
    let ruling = if low.extent().low > high.extent().high {
        Ruling::Holds
    } else if low.extent().high < high.extent().low {
        Ruling::DoesNotHold
    } else {
        Ruling::Undecided
    };
    let said = sentence!(
        "From one size to the next within the cache, the rate departs from a smooth curve by {low} without \
         optimisation and by {high} at optimisation 3."
    );
    Some(
        decided(ruling, said)
            .with_number("low", low)
            .with_number("high", high),
    )
}

/// Rates by block size in base pages.
fn rates<'r>(results: &'r Results<'_>, metric: Metric) -> Option<Vec<(Bytes, &'r Estimate)>> {
    Some(curve(results, metric, Pages::base(results.machine)?))
}
