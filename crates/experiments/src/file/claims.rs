//! Claims about files.

use super::block_size::{PASS, THROUGHPUT};
use super::random::MET;
use super::rewrite_passes::{self, READ, READ_AGAIN, REWRITE, WAY};
use super::{BLOCK_SIZE, call, cold_warm, order, phases, read_ahead, sum, sync};
use crate::estimates::{WithEstimate, ratio, ratios_within};
use crate::judging::{MARGIN, Range, decided, exceeds, is_larger, is_larger_by};
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::Estimate;

const BLOCKS: &str = "file.block_size";
const WARM: &str = "read warm";
const COLD: &str = "read cold";
const COLD_WARM: &str = "file.cold_warm";
const CALL: &str = "file.call";
const RANDOM: &str = "file.random";
const READ_AHEAD: &str = "file.read_ahead";
const PASSES: &str = "file.rewrite_passes";
const PHASES: &str = "file.phases";
const SYNC: &str = "file.sync";
const SUM: &str = "file.sum";

/// Report E found this window of read-ahead.
const REPORTED_WINDOW: f64 = 64.0 * 1024.0;

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
    Claim {
        key: "memory_beats_storage_at_every_block_size",
        says: "A file is read faster from memory than from storage, in blocks of any size.",
        source: "Reports A and B, section 4",
        experiments: &[COLD_WARM],
        test: |evidence| ALONG_BLOCKS.judge(&cold_warm::ratios(evidence.of(COLD_WARM)?)),
    },
    Claim {
        key: "seeking_is_cheaper_than_reading",
        says: "To move the position by a byte costs half of reading a byte, or less.",
        source: "Report A, section 5: 7.05 against 3.54 million a second; B: 10.24 against 3.84",
        experiments: &[CALL],
        test: |evidence| {
            let largest = |call: &str| {
                let curve = evidence.of(CALL)?.curve(
                    call::RATE,
                    super::FILE_SIZE,
                    &[(call::CALL, call.into())],
                );
                curve.last().map(|(_, rate)| *rate)
            };
            is_larger_by(
                2.0,
                (largest(call::SEEK)?, largest(call::READ)?),
                Unit::OperationsPerSecond,
                "lseek: {one}; read of 1 byte: {other}; {ratio} as many.",
            )
        },
    },
    Claim {
        key: "one_thread_sums_fastest",
        says: "A file in memory is summed faster by one thread than by several.",
        source: "Report A, section 6: 11 801 against 9 402 MiB/s, by processor time",
        experiments: &[SUM],
        test: |evidence| {
            let [several, one] = sum::best_two(evidence.of(SUM)?, sum::WARM)?;
            is_larger(
                (
                    one.estimate(sum::THROUGHPUT)?,
                    several.estimate(sum::THROUGHPUT)?,
                ),
                Unit::BytesPerSecond,
                "By wall time, the fastest single thread gives {one}, the fastest several {other}: \
                 {ratio}.",
            )
        },
    },
    Claim {
        key: "mapping_halves_the_speed_of_small_blocks",
        says: "In small blocks, a file in memory is summed twice as fast by read as mapped.",
        source: "Report B, section 6",
        experiments: &[SUM],
        test: |evidence| {
            let [read, mapped] = sum::by_smallest_blocks(evidence.of(SUM)?)?;
            is_larger_by(
                2.0,
                (read, mapped),
                Unit::BytesPerSecond,
                "In the smallest blocks measured, one thread reads {one} and maps {other}: {ratio}.",
            )
        },
    },
    Claim {
        key: "order_matters_for_small_chunks",
        says: "A file on storage is read faster in order than in random order, unless the chunks are \
               large.",
        source: "Report E, section 4.2",
        experiments: &[RANDOM],
        test: order_matters,
    },
    Claim {
        key: "the_kernel_reads_64_kib_ahead",
        says: "The kernel reads 64 KiB ahead.",
        source: "Report E, section 4.2: 16 pages on Linux 2.4",
        experiments: &[READ_AHEAD],
        test: window_is_as_reported,
    },
    Claim {
        key: "mapping_beats_streams_on_files_larger_than_memory",
        says: "Files larger than memory are read and written back faster mapped than by the C \
               library's streams.",
        source: "Report E, section 4.1: 2.579 against 45.142 µs for a KiB",
        experiments: &[PASSES],
        test: |evidence| {
            let (streams, mapped) = (
                fastest(evidence, rewrite_passes::STDIO, READ)?,
                fastest(evidence, rewrite_passes::MAPPING, READ)?,
            );
            is_larger(
                (streams, mapped),
                Unit::Nanoseconds,
                "The first pass takes {one} a KiB by fread and {other} mapped: {ratio}.",
            )
        },
    },
    Claim {
        key: "dirty_pages_slow_the_second_read",
        says: "After a file was written without waiting, reading it again is slower than the first \
               time, since dirty pages must be cleaned first.",
        source: "Report E, section 4.1",
        experiments: &[PASSES],
        test: |evidence| {
            is_larger(
                (
                    fastest(evidence, rewrite_passes::CALLS, READ_AGAIN)?,
                    fastest(evidence, rewrite_passes::CALLS, READ)?,
                ),
                Unit::Nanoseconds,
                "Reading again takes {one} a KiB, the first time {other}: {ratio}.",
            )
        },
    },
    Claim {
        key: "synchronous_writes_cost_tenfold",
        says: "Writes that wait for the device cost more than ten times as much as those that do not, even \
               in the best chunks.",
        source: "folklore",
        experiments: &[PASSES],
        test: |evidence| {
            is_larger_by(
                10.0,
                (
                    fastest(evidence, rewrite_passes::CALLS_SYNC, REWRITE)?,
                    fastest(evidence, rewrite_passes::CALLS, REWRITE)?,
                ),
                Unit::Nanoseconds,
                "Each in its best chunks, writing back takes {one} a KiB with O_SYNC and {other} without: \
                 {ratio}.",
            )
        },
    },
    Claim {
        key: "mapping_beats_calls_on_changing_in_place",
        says: "To change a file in place is faster mapped than by read and write, in buffers of any \
               size.",
        source: "Report E, section 4.3: 20.9 against 95.2 s at 4 KiB, 21.3 against 60.7 s at 64 MiB",
        experiments: &[PHASES],
        test: |evidence| {
            let results = evidence.of(PHASES)?;
            let curve = |total| results.curve(total, phases::BUFFER_SIZE, &[]);
            Range {
                unit: Unit::Bytes,
                everywhere: "By read and write it takes {least} to {most} as long as mapped.",
                from_on: "From buffers of {from} on: by read and write it takes {least} to {most} \
                          as long as mapped.",
                nowhere: "By read and write it takes {least} to {most} as long as mapped.",
                mixed: "At some sizes only: by read and write it takes {least} to {most} as long as \
                        mapped.",
            }
            .judge(&ratios_within(
                &curve(phases::TOTAL),
                &curve(phases::MAP_TOTAL),
            ))
        },
    },
    Claim {
        key: "fdatasync_beats_fsync",
        says: "Where only the data matter, fdatasync is faster than fsync.",
        source: "folklore",
        experiments: &[SYNC],
        test: |evidence| {
            let latency = |method: &str| {
                let levels = [
                    (sync::METHOD, method.into()),
                    (sync::PLACE, sync::OVERWRITE.into()),
                ];
                evidence.estimate(SYNC, sync::LATENCY, &levels)
            };
            is_larger(
                (latency(sync::FSYNC)?, latency(sync::FDATASYNC)?),
                Unit::Nanoseconds,
                "Over what is there, a write and fsync take {one}, with fdatasync {other}: {ratio}.",
            )
        },
    },
];

const ALONG_BLOCKS: Range<'static> = Range {
    unit: Unit::Bytes,
    everywhere: "It is read {least} to {most} as fast from memory.",
    from_on: "From blocks of {from} on; in all, it is read {least} to {most} as fast from memory.",
    nowhere: "It is read {least} to {most} as fast from memory.",
    mixed: "At some sizes only: it is read {least} to {most} as fast from memory.",
};

/// In order over random: it must gain in the smallest chunks and not in the largest.
fn order_matters(evidence: &Evidence<'_>) -> Option<Judgement> {
    let ratios = order::ratios(evidence.of(RANDOM)?);
    let ((small, first), (large, last)) = (ratios.first()?, ratios.last()?);
    let ruling = match (exceeds(first, 1.0 + MARGIN), exceeds(last, MET)) {
        (Ruling::Holds, Ruling::DoesNotHold) => Ruling::Holds,
        (Ruling::Holds, Ruling::Holds) => Ruling::HoldsInPart,
        (Ruling::DoesNotHold, _) => Ruling::DoesNotHold,
        _ => Ruling::CannotBeTold,
    };
    let because = Finding::new(
        "because",
        "In order is {first} as fast in chunks of {small}, and {last} in chunks of {large}.",
    )
    .with("first", first, Unit::Ratio)
    .given("small", *small as f64, Unit::Bytes)
    .with("last", last, Unit::Ratio)
    .given("large", *large as f64, Unit::Bytes);
    Some(decided(ruling, because))
}

/// Whether what the kernel was seen to have read ahead is what the report saw.
fn window_is_as_reported(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(READ_AHEAD)?;
    let curve = results.curve(read_ahead::AHEAD, order::CHUNK_SIZE, &[]);
    let (_, ahead) = curve.first()?;
    let interval = ahead.interval?;
    let ruling = if interval.contains(REPORTED_WINDOW) {
        Ruling::Holds
    } else {
        Ruling::DoesNotHold
    };
    let because = Finding::new("because", "It was seen to read {ahead} ahead.").estimated(
        "ahead",
        ahead.centre,
        ahead.interval,
        Unit::Bytes,
    );
    Some(decided(ruling, because))
}

/// What a KiB costs in one pass by one way, in the chunks that suit that way best.
fn fastest<'a>(evidence: &Evidence<'a>, way: &str, pass: &str) -> Option<&'a Estimate> {
    let results = evidence.of(PASSES)?;
    let costs = results.curve(pass, order::CHUNK_SIZE, &[(WAY, way.into())]);
    let best = costs
        .into_iter()
        .min_by(|one, other| one.1.centre.total_cmp(&other.1.centre))?;
    Some(best.1)
}

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
