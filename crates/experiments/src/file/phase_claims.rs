//! Claims of report E about the phases of changing a file in place, and about streams.

use super::cold_claims::ORDER;
use super::phases::{self, BUFFER_SIZE, LOOP, MAP, MAP_LOOP, READ, UNMAP, WRITE};
use super::remote::{self, Location};
use super::rewrite_passes::{self, READ as READ_PASS, READ_AGAIN, REWRITE, WAY, Way};
use super::{CHUNK_SIZE, THROUGHPUT};
use crate::estimates::{highest, lowest, pooled, ratio, ratios, ratios_within};
use crate::judging::{
    ALMOST, MARGIN, a_little, about_along, both, decided, exceeds, larger, larger_along, larger_by,
};
use crate::memory::hierarchy::last_bytes;
use crate::prelude::*;

/// Report E's figures differ by ten times; twice is much as well.
const MUCH: f64 = 2.0;
/// Report E calls this two orders of magnitude.
const TWO_ORDERS: f64 = 100.0;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "mapping_a_buffer_is_faster_than_reading_it",
        says: "To map a part of a file is faster than to read it, since nothing is loaded yet.",
        source: "Report E, section 4.3.2",
        basis: Basis::One(phases::DESIGN.id, |results| {
            phase(results, READ, MAP, |[least, most]| {
                sentence!("Reading takes {least} to {most} as long as mapping.")
            })
        }),
    },
    Claim {
        key: "looping_over_a_mapping_is_slower",
        says: "The loop over a mapping is slower than over a buffer, since it loads the pages.",
        source: "Report E, section 4.3.2",
        basis: Basis::One(phases::DESIGN.id, |results| {
            phase(results, MAP_LOOP, LOOP, |[least, most]| {
                sentence!(
                    "The loop over a mapping takes {least} to {most} as long as over a buffer."
                )
            })
        }),
    },
    Claim {
        key: "unmapping_is_faster_than_writing",
        says: "To unmap a changed part of a file is faster than to write it with O_SYNC.",
        source: "Report E, section 4.3.2",
        basis: Basis::One(phases::DESIGN.id, |results| {
            phase(results, WRITE, UNMAP, |[least, most]| {
                sentence!("Writing takes {least} to {most} as long as unmapping.")
            })
        }),
    },
    Claim {
        key: "streams_write_slower_without_their_buffer",
        says: "fwrite is a little slower without the buffer of its stream.",
        source: "Report E, section 4.1.1.2, Figure 8",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            let losses = passes(results, REWRITE, Way::StdioUnbuffered, Way::Stdio);
            let slower = larger_along("chunks of ", &losses, |[least, most]| {
                sentence!("Without the buffer, overwriting takes {least} to {most} as long.")
            })?;
            Some(a_little(slower, &losses))
        }),
    },
    Claim {
        key: "streams_read_alike_without_their_buffer",
        says: "fread is as fast without the buffer of its stream.",
        source: "Report E, section 4.1.1.2, Figure 8",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            let of = |pass| passes(results, pass, Way::StdioUnbuffered, Way::Stdio);
            let ratios = pooled([READ_PASS, READ_AGAIN].map(of));
            about_along(1.0, ALMOST, &ratios, |[least, most]| {
                sentence!(
                    "Without the buffer, a file is read in {least} to {most} the time, the first time \
                     and again."
                )
            })
        }),
    },
    Claim {
        key: "streams_read_alike_in_all_chunks",
        says: "fread is as fast in chunks of any size.",
        source: "Report E, section 4.1.1.2",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            let ratios = smallest_over(results, READ_PASS)?;
            about_along(1.0, ALMOST, &ratios, |[least, most]| {
                sentence!("Larger chunks are read {least} to {most} as fast as the smallest.")
            })
        }),
    },
    Claim {
        key: "streams_write_faster_in_larger_chunks",
        says: "fwrite is faster in larger chunks.",
        source: "Report E, section 4.1.1.2",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            let ratios = smallest_over(results, REWRITE)?;
            larger_along("chunks of ", &ratios, |[least, most]| {
                sentence!("Larger chunks are written {least} to {most} as fast as the smallest.")
            })
        }),
    },
    Claim {
        key: "reading_is_much_cheaper_in_buffers_below_the_cache",
        says: "The reads of a file take much less time in buffers smaller than the processor's cache.",
        source: "Report E, section 4.3.2",
        basis: Basis::One(phases::DESIGN.id, cheaper_below_the_cache),
    },
    Claim {
        key: "writes_that_wait_are_slower",
        says: "Synchronous writes are slower than those that do not wait, in chunks of any size.",
        source: "Report E, section 4.1.2.2, Figure 11",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            let ratios = passes(results, REWRITE, Way::CallsSync, Way::Calls);
            larger_along("chunks of ", &ratios, |[least, most]| {
                sentence!("With O_SYNC, overwriting takes {least} to {most} as long.")
            })
        }),
    },
    Claim {
        key: "mapped_files_peak_below_the_cache",
        says: "A file is read fastest by mmap in chunks just below the processor's cache.",
        source: "Report E, section 4.1.3, Figure 14",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            peak_below_the_cache(results, Way::Mapping)
        }),
    },
    Claim {
        key: "mapping_of_the_first_chunk_peaks_below_the_cache",
        says: "A file is read fastest by mmap in chunks just below the processor's cache, in the listing as \
               printed, which maps the first chunk each time.",
        source: "Report E, section 4.1.3, Figures 13 and 14",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            peak_below_the_cache(results, Way::MappingOfStart)
        }),
    },
    Claim {
        key: "remote_files_are_two_orders_slower",
        says: "Writing a remote file takes about a hundred times as long as writing a local one.",
        source: "Report E, section 4.4.2: two orders of magnitude",
        basis: Basis::One(remote::DESIGN.id, |results| {
            let [there, here] =
                [Location::Remote, Location::Local].map(|place| remote::along(results, place));
            about_along(
                TWO_ORDERS,
                ORDER,
                &ratios(&there, &here),
                |[least, most]| {
                    sentence!("A remote write takes {least} to {most} as long as a local one.")
                },
            )
        }),
    },
    Claim {
        key: "larger_chunks_gain_here_and_there",
        says: "Writes that wait move more bytes a second in larger chunks, on this machine and on another.",
        source: "Report E, section 4.4.2",
        basis: Basis::One(remote::DESIGN.id, larger_chunks_gain),
    },
];

/// The time of one pass by one way over that by another, by chunk size.
fn passes(results: &Results<'_>, pass: Metric, one: Way, other: Way) -> Vec<(Bytes, Quantity)> {
    let curve = |way| results.along(CHUNK_SIZE, pass, &[WAY.at(way)]);
    ratios(&curve(one), &curve(other))
}

/// The time of a pass by streams in the smallest chunks over that in each larger one.
fn smallest_over(results: &Results<'_>, pass: Metric) -> Option<Vec<(Bytes, Quantity)>> {
    let curve = results.along(CHUNK_SIZE, pass, &[WAY.at(Way::Stdio)]);
    let ((_, smallest), larger) = curve.split_first()?;
    let of = |(chunk, time): &(Bytes, &Estimate)| Some((*chunk, ratio(smallest, time)?));
    larger.iter().map(of).collect()
}

/// The cheapest reads in buffers beyond the last cache over the dearest in buffers within it.
fn cheaper_below_the_cache(results: &Results<'_>) -> Option<Judgement> {
    let cache = Bytes(last_bytes(results.machine));
    let curve = results.along(BUFFER_SIZE, READ, &[]);
    let (below, beyond): (Vec<_>, Vec<_>) = curve.into_iter().partition(|(size, _)| *size <= cache);
    let ((small, other), (large, one)) = (highest(below)?, lowest(beyond)?);
    larger_by(MUCH, one, other, |ratio| {
        sentence!(
            "A KiB takes at least {one} in buffers beyond the cache ({large} is best), and at \
             most {other} in the others ({small} is worst): {ratio}."
        )
    })
}

/// Chunks just below the cache are between a quarter of it and all of it.
const JUST_BELOW: u64 = 4;

/// The best chunk just below the last-level cache against the best of all others. It can be decided only if
/// there are chunks on both sides.
fn peak_below_the_cache(results: &Results<'_>, way: Way) -> Option<Judgement> {
    let cache = Bytes(last_bytes(results.machine));
    if cache == Bytes(0) {
        return None;
    }
    let curve = results.along(CHUNK_SIZE, READ_PASS, &[WAY.at(way)]);
    let is_below = |chunk: Bytes| chunk <= cache && chunk.0 * JUST_BELOW >= cache.0;
    let (largest, _) = curve.last()?;
    if *largest <= cache {
        return None;
    }
    let best = |wanted: bool| {
        let there = curve.iter().filter(|(chunk, _)| is_below(*chunk) == wanted);
        lowest(there.copied())
    };
    let ((near, other), (elsewhere, one)) = (best(true)?, best(false)?);
    larger(one, other, |ratio| {
        sentence!(
            "A KiB takes {other} in chunks of {near}, just below the cache of {cache}, and {one} in \
             the best others, of {elsewhere}: {ratio}."
        )
    })
}

/// The throughput in the largest chunks over that in the smallest, in both places.
fn larger_chunks_gain(results: &Results<'_>) -> Option<Judgement> {
    let gain = |place| {
        let curve = results.along(CHUNK_SIZE, THROUGHPUT, &[remote::PLACE.at(place)]);
        ratio(curve.last()?.1, curve.first()?.1)
    };
    let (here, there) = (gain(Location::Local)?, gain(Location::Remote)?);
    let gains = |gain| exceeds(gain, 1.0 + MARGIN);
    let said = sentence!(
        "In the largest chunks, local writes move {here} as many bytes a second as in the \
         smallest, and remote ones {there}."
    );
    Some(decided(both(gains(&here), gains(&there)), said))
}

/// One phase over another of the same processes, by buffer size.
fn phase(
    results: &Results<'_>,
    one: Metric,
    other: Metric,
    say: impl FnOnce([Quantity; 2]) -> Sentence,
) -> Option<Judgement> {
    let curve = |metric| results.along(BUFFER_SIZE, metric, &[]);
    let ratios = ratios_within(&curve(one), &curve(other));
    larger_along("buffers of ", &ratios, say)
}
