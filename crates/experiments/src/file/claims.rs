//! Claims about files.

use super::block_size::{self, Pass, curve};
use super::rewrite_passes::{self, READ, READ_AGAIN, REWRITE, WAY, Way};
use super::sum::{self, State};
use super::sync::{self, Method, WriteKind};
use super::{CHUNK_SIZE, call, phases};
use crate::estimates::{highest, lowest, pooled, ratio, ratios, ratios_within};
use crate::judging::{
    ALMOST, MARGIN, about_along, decided, exceeds, extremes, larger, larger_along, larger_by,
    opposite, throughout,
};
use crate::prelude::*;
use instrument::curve::Open;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "larger_blocks_are_always_faster",
        says: "The larger the block, the faster a file is read.",
        source: "folklore",
        basis: Basis::One(block_size::DESIGN.id, |results| {
            larger_is_faster(Pass::ReadWarm, results)
        }),
    },
    Claim {
        key: "larger_blocks_end_up_gaining_nothing",
        says: "From some block size on, larger blocks read a file no faster.",
        source: "Report A, section 3",
        basis: Basis::One(block_size::DESIGN.id, ends_in_a_plateau),
    },
    Claim {
        key: "blocks_of_512_kib_are_the_fastest",
        says: "A file is read fastest in blocks of 512 KiB.",
        source: "Report A, section 3",
        basis: Basis::One(block_size::DESIGN.id, fastest_as_reported),
    },
    Claim {
        key: "blocks_of_1_mib_suffice",
        says: "Blocks of more than 1 MiB gain nothing.",
        source: "Report B, section 6",
        basis: Basis::Several(
            &[sum::DESIGN.id, block_size::DESIGN.id],
            nothing_gained_beyond_1_mib,
        ),
    },
    Claim {
        key: "cold_files_take_large_blocks_too",
        says: "A file that is not in memory is read fastest in the largest blocks, too.",
        source: "folklore",
        basis: Basis::One(block_size::DESIGN.id, |results| {
            larger_is_faster(Pass::ReadCold, results)
        }),
    },
    Claim {
        key: "seeking_is_cheaper_than_reading",
        says: "Moving the position by a byte takes less time than reading a byte.",
        source: "Report A, section 5: 7.05 against 3.54 million a second; B: 10.24 against 3.84",
        basis: Basis::One(call::DESIGN.id, |results| {
            let ratios = call::seek_over_read(results);
            larger_along("files of ", &ratios, of_seeks)
        }),
    },
    Claim {
        key: "seeking_costs_half_of_reading",
        says: "Moving the position by a byte takes about half the time of reading a byte.",
        source: "Report A, section 5, whose table has 1.97 to 2.00 times; B's has 2.7 times",
        basis: Basis::One(call::DESIGN.id, |results| {
            let ratios = call::seek_over_read(results);
            about_along(2.0, ALMOST, &ratios, of_seeks)
        }),
    },
    Claim {
        key: "one_thread_sums_fastest",
        says: "A file in memory is summed faster by one thread than by several.",
        source: "Report A, section 6: 11 477 against 9 402 MiB/s",
        basis: Basis::One(sum::DESIGN.id, |results| {
            let [several, one] = sum::best_two(results, State::Warm)?;
            let (one, other) = (one.throughput, several.throughput);
            larger(one, other, |ratio| {
                sentence!(
                    "By wall time, the fastest single thread gives {one}, the fastest several \
                     {other}: {ratio}."
                )
            })
        }),
    },
    Claim {
        key: "mapping_halves_the_speed_of_small_blocks",
        says: "In small blocks, a file in memory is summed about twice as fast by read as mapped.",
        source: "Report B, section 6",
        basis: Basis::One(sum::DESIGN.id, |results| {
            let mut ratios = sum::over(
                results,
                State::Warm,
                [sum::Method::Pread, sum::Method::Mmap],
            );
            let (smallest, _) = *ratios.first()?;
            ratios.retain(|(block, _)| *block == smallest);
            about_along(2.0, ALMOST, &ratios, |[least, most]| {
                sentence!(
                    "In blocks of {smallest}, the smallest measured, as many threads sum {least} to \
                     {most} as fast by read as mapped."
                )
            })
        }),
    },
    Claim {
        key: "mapping_beats_streams_on_files_larger_than_memory",
        says: "Files larger than memory are read, written back and read again faster by mmap than by the \
               C library's streams.",
        source: "Report E, section 4.1: 2.579 against 45.142 µs for a KiB",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            streams_over(results, Way::Mapping)
        }),
    },
    Claim {
        key: "mapping_of_the_first_chunk_beats_streams",
        says: "Files larger than memory are read, written back and read again faster by mmap than by the \
               C library's streams, in the listing as it is printed, which maps the first chunk each \
               time.",
        source: "Report E, section 4.1.3, Figure 13: 2.579 against 45.142 µs for a KiB",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            streams_over(results, Way::MappingOfStart)
        }),
    },
    Claim {
        key: "dirty_pages_slow_the_second_read",
        says: "After a file larger than memory was written without waiting, reading it again is slower \
               than the first time, since dirty pages must be cleaned first.",
        source: "Report E, section 4.1.2.2",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            let results = larger_than_memory(results);
            let curve = |pass| results.along(CHUNK_SIZE, pass, &[WAY.at(Way::Calls)]);
            let ratios = ratios_within(&curve(READ_AGAIN), &curve(READ));
            larger_along("chunks of ", &ratios, |[least, most]| {
                sentence!("Reading again takes {least} to {most} as long as the first time.")
            })
        }),
    },
    Claim {
        key: "synchronous_reads_follow_one_curve",
        says: "With writes that wait, the first and the second reading of a file larger than memory get slower \
               and faster alike with the size of chunks.",
        source: "Report E, section 4.1.2.2",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            similar_trends(results, Way::CallsSync, READ, READ_AGAIN)
        }),
    },
    Claim {
        key: "mapped_reads_and_writes_follow_one_curve",
        says: "By mmap, reading and overwriting a file larger than memory get slower and faster alike with the \
               size of chunks.",
        source: "Report E, section 4.1.3",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            similar_trends(results, Way::Mapping, READ, REWRITE)
        }),
    },
    Claim {
        key: "synchronous_writes_cost_tenfold",
        says: "Writes that wait for the device cost more than ten times as much as those that do not, even \
               in the best chunks.",
        source: "folklore",
        basis: Basis::One(rewrite_passes::DESIGN.id, |results| {
            let one = fastest(results, Way::CallsSync, REWRITE)?;
            let other = fastest(results, Way::Calls, REWRITE)?;
            larger_by(10.0, one, other, |ratio| {
                sentence!(
                    "Each in its best chunks, overwriting takes {one} per KiB with O_SYNC and \
                     {other} without: {ratio}."
                )
            })
        }),
    },
    Claim {
        key: "mapping_beats_calls_on_changing_in_place",
        says: "Changing a file in place is faster by mmap than by read and write, in buffers of \
               any size.",
        source: "Report E, section 4.3: 20.9 against 95.2 s at 4 KiB, 21.3 against 60.7 s at 64 MiB",
        basis: Basis::One(phases::DESIGN.id, |results| {
            calls_over_mapping(results, phases::MAP_TOTAL)
        }),
    },
    Claim {
        key: "mapping_of_the_first_buffer_beats_calls",
        says: "Changing a file in place is faster by mmap than by read and write, in the listing as it is \
               printed, which maps the first buffer each time.",
        source: "Report E, section 4.3, Figures 19 and 22",
        basis: Basis::One(phases::DESIGN.id, |results| {
            calls_over_mapping(results, phases::START_TOTAL)
        }),
    },
    Claim {
        key: "fdatasync_beats_fsync",
        says: "Where only the data matters, fdatasync is faster than fsync.",
        source: "folklore",
        basis: Basis::One(sync::DESIGN.id, |results| {
            let latency = |method| sync::latency(results, method, WriteKind::Overwrite);
            let (one, other) = (latency(Method::Fsync)?, latency(Method::Fdatasync)?);
            larger(one, other, |ratio| {
                sentence!(
                    "On blocks that exist, a write and fsync take {one}, a write and fdatasync \
                     {other}: {ratio}."
                )
            })
        }),
    },
];

/// Time by read and write over that mapped, by buffer size.
fn calls_over_mapping(results: &Results<'_>, mapped: Metric) -> Option<Judgement> {
    let curve = |total| results.along(phases::BUFFER_SIZE, total, &[]);
    let ratios = ratios_within(&curve(phases::TOTAL), &curve(mapped));
    larger_along("buffers of ", &ratios, |[least, most]| {
        sentence!("By read and write it takes {least} to {most} as long as by mmap.")
    })
}

fn of_seeks([least, most]: [Quantity; 2]) -> Sentence {
    sentence!("Moving the position by a byte is {least} to {most} as fast as reading one.")
}

/// The points whose file was larger than the memory that the process might use.
fn larger_than_memory<'r>(results: &Results<'r>) -> Results<'r> {
    results.only(rewrite_passes::is_larger_than_memory)
}

/// Whether one pass takes the same multiple of another in larger chunks as in the smallest.
fn similar_trends(
    results: &Results<'_>,
    way: Way,
    pass: Metric,
    other: Metric,
) -> Option<Judgement> {
    let results = larger_than_memory(results);
    let curve = |pass| results.along(CHUNK_SIZE, pass, &[WAY.at(way)]);
    let ratios = ratios_within(&curve(other), &curve(pass));
    let ((_, smallest), larger) = ratios.split_first()?;
    let changes = larger
        .iter()
        .map(|(chunk, ratio)| Some((*chunk, ratio.over(*smallest)?)));
    let changes: Vec<_> = changes.collect::<Option<_>>()?;
    about_along(1.0, ALMOST, &changes, |[least, most]| {
        sentence!(
            "In larger chunks, the ratio of both times is {least} to {most} as large as in the smallest."
        )
    })
}

/// Time by the C library's streams over that of another way, in all three passes, by chunk size. A way that waits
/// has smaller files in small chunks, since each chunk waits.
fn streams_over(results: &Results<'_>, way: Way) -> Option<Judgement> {
    let streams = larger_than_memory(results);
    let passes = [READ, REWRITE, READ_AGAIN].map(|pass| {
        ratios(
            &streams.along(CHUNK_SIZE, pass, &[WAY.at(Way::Stdio)]),
            &results.along(CHUNK_SIZE, pass, &[WAY.at(way)]),
        )
    });
    larger_along("chunks of ", &pooled(passes), |[least, most]| {
        sentence!("In the three passes, streams take {least} to {most} as long as mmap.")
    })
}

/// The time of a KiB in one pass by one way, in the chunks that suit that way best.
fn fastest<'r>(results: &'r Results<'_>, way: Way, pass: Metric) -> Option<&'r Estimate> {
    let (_, cost) = lowest(results.along(CHUNK_SIZE, pass, &[WAY.at(way)]))?;
    Some(cost)
}

/// A ratio within the margin of 1 means that nothing is gained.
fn gains_nothing(ratio: &Quantity) -> Ruling {
    opposite(exceeds(ratio, 1.0 + MARGIN))
}

/// No smaller block beats the largest, which is faster than each.
fn larger_is_faster(pass: Pass, results: &Results<'_>) -> Option<Judgement> {
    let curve = curve(results, pass);
    let (largest, last) = *curve.last()?;
    let (best, fastest) = highest(curve.iter().copied())?;
    if best == largest {
        let smaller = curve.iter().filter(|(size, _)| *size < largest);
        let (next, slower) = highest(smaller.copied())?;
        return larger(last, slower, |ratio| {
            sentence!(
                "Blocks of {largest}, the largest, are the fastest: {ratio} as fast as those of {next}."
            )
        });
    }
    let ratio = ratio(fastest, last)?;
    ratio.interval?;
    let said = sentence!(
        "Blocks of {best} are the fastest: {ratio} as fast as those of {largest}, the largest."
    );
    Some(decided(gains_nothing(&ratio), said))
}

/// The block with which report A read fastest.
const REPORTED_FASTEST: Bytes = Bytes(512 << 10);
/// Report B saw no more gain in larger blocks.
const REPORTED_ENOUGH: Bytes = Bytes(1 << 20);

/// Whether the curve of reads from memory stops rising before its largest block.
fn ends_in_a_plateau(results: &Results<'_>) -> Option<Judgement> {
    let curve = curve(results, Pass::ReadWarm);
    let (ruling, said) = match Curve::of(&curve, Better::Higher).plateau() {
        Ok(Onset { from, .. }) => (
            Ruling::Holds,
            sentence!("Blocks larger than {from} read no faster than these."),
        ),
        Err(Open::Beyond(last)) => (
            Ruling::DoesNotHold,
            sentence!("Blocks of {last}, the largest, still read the fastest."),
        ),
        Err(Open::Between(..) | Open::TooFew) => return None,
    };
    Some(decided(ruling, said))
}

/// The best of all other blocks against the one that the report found the fastest.
fn fastest_as_reported(results: &Results<'_>) -> Option<Judgement> {
    let curve = curve(results, Pass::ReadWarm);
    let (_, reported) = curve.iter().find(|(block, _)| *block == REPORTED_FASTEST)?;
    let others = curve.iter().filter(|(block, _)| *block != REPORTED_FASTEST);
    let (best, fastest) = highest(others.copied())?;
    let ratio = ratio(fastest, reported)?;
    let said = sentence!(
        "The best of the other blocks, {best}, is {ratio} as fast as {reported_block}.",
        reported_block = REPORTED_FASTEST,
    );
    Some(decided(gains_nothing(&ratio), said))
}

/// The best of the larger blocks over one of 1 MiB: of a file that is only read, and by each number of threads that
/// sum it.
fn nothing_gained_beyond_1_mib(evidence: &Evidence<'_>) -> Option<Judgement> {
    let read = evidence.of(block_size::DESIGN.id);
    let read = read.map(|results| curve(results, Pass::ReadWarm));
    let summed = evidence.of(sum::DESIGN.id).map(sum::warm_by_block);
    let curves = read.into_iter().chain(summed.into_iter().flatten());
    let gain = |curve: Vec<(Bytes, &Estimate)>| {
        let (_, enough) = *curve.iter().find(|(block, _)| *block == REPORTED_ENOUGH)?;
        let larger = curve.iter().filter(|(block, _)| *block > REPORTED_ENOUGH);
        let (best, fastest) = highest(larger.copied())?;
        Some((best, ratio(fastest, enough)?))
    };
    let gains: Vec<(Bytes, Quantity)> = curves.filter_map(gain).collect();
    let ruling = throughout(gains.iter().map(|(_, gain)| gains_nothing(gain)));
    let [(_, least), (best, most)] = extremes(&gains)?;
    let said = sentence!(
        "The best of the larger blocks is {least} to {most} as fast, the most in blocks of {best}."
    );
    Some(decided(ruling, said))
}
