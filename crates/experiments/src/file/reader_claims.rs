//! Claims about ways of reading.

use super::BLOCK_SIZE;
use super::against_dd::{self, COPY, DD, OURS, PROGRAM, WORK};
use super::engine::{CACHE, DIRECT, ENGINE, RATE, SMALL_BLOCK, THROUGH};
use super::sum::{THROUGHPUT, WARM, best_two, by_one_thread};
use crate::estimates::ratios;
use crate::judging::{Range, is_larger, is_larger_by};
use files::Method;
use instrument::claim::{Claim, Evidence, Judgement};
use instrument::quantity::Unit;
use instrument::results::Estimate;

const SUM: &str = "file.sum";
const ENGINES: &str = "file.engine";
const AGAINST_DD: &str = "file.against_dd";

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "many_threads_read_four_times_as_fast",
        says: "Many threads read four times as fast as one.",
        source: "Report B, section 6: 16 threads",
        experiments: &[SUM],
        test: |evidence| {
            let [several, one] = best_two(evidence.of(SUM)?, WARM)?;
            is_larger_by(
                4.0,
                (several.estimate(THROUGHPUT)?, one.estimate(THROUGHPUT)?),
                Unit::BytesPerSecond,
                "A file in memory is summed at {one} by the best number of threads and at {other} \
                 by one: {ratio}.",
            )
        },
    },
    Claim {
        key: "mapping_is_faster_than_reading",
        says: "A file is read faster mapped than by read.",
        source: "folklore; report B, section 6, saw the contrary at small blocks",
        experiments: &[SUM],
        test: mapping_is_faster,
    },
    Claim {
        key: "dd_copies_faster",
        says: "dd is faster than a program of one's own.",
        source: "Reports A and B, section 2: dd was ahead in every copy",
        experiments: &[AGAINST_DD],
        test: |evidence| {
            let results = evidence.of(AGAINST_DD)?;
            let curve = |program: &str| {
                let levels = [(WORK, COPY.into()), (PROGRAM, program.into())];
                results.curve(against_dd::THROUGHPUT, BLOCK_SIZE, &levels)
            };
            let sentence = "dd copies {least} to {most} as fast as oscope's plain read and write.";
            Range {
                unit: Unit::Bytes,
                everywhere: sentence,
                from_on: "From blocks of {from} on; in all, dd copies {least} to {most} as fast as \
                          oscope's plain read and write.",
                nowhere: sentence,
                mixed: sentence,
            }
            .judge(&ratios(&curve(DD), &curve(OURS)))
        },
    },
    Claim {
        key: "io_uring_is_faster_in_memory_too",
        says: "io_uring is faster than pread even for what is in the page cache.",
        source: "folklore",
        experiments: &[ENGINES],
        test: |evidence| ring_over_pread(evidence, CACHE),
    },
    Claim {
        key: "a_queue_beats_one_read_at_a_time",
        says: "Past the page cache, several reads under way at once beat one at a time.",
        source: "folklore",
        experiments: &[ENGINES],
        test: |evidence| ring_over_pread(evidence, DIRECT),
    },
];

/// By one thread out of memory, along the block size.
fn mapping_is_faster(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(SUM)?;
    let curve = |method| by_one_thread(results, method);
    let sentence = "Mapped block by block, a file in memory is summed {least} to {most} as fast as \
                    by pread.";
    Range {
        unit: Unit::Bytes,
        everywhere: sentence,
        from_on: "From blocks of {from} on; in all, a file in memory is summed {least} to {most} \
                  as fast mapped block by block as by pread.",
        nowhere: sentence,
        mixed: sentence,
    }
    .judge(&ratios(&curve(Method::Mmap), &curve(Method::Pread)))
}

/// The best queue against pread, in small random reads.
fn ring_over_pread(evidence: &Evidence<'_>, through: &str) -> Option<Judgement> {
    let (ring, pread) = best_ring(evidence, through)?;
    is_larger(
        (ring.1, pread),
        Unit::OperationsPerSecond,
        "The best depth of io_uring gives {one} random reads of 4 KiB, pread {other}: {ratio}.",
    )
}

/// The name and rate of the best queue, and the rate of pread, in small random reads.
pub(super) fn best_ring<'a>(
    evidence: &Evidence<'a>,
    through: &str,
) -> Option<((&'a str, &'a Estimate), &'a Estimate)> {
    let results = evidence.of(ENGINES)?;
    let levels = [(THROUGH, through.into()), (BLOCK_SIZE, SMALL_BLOCK.into())];
    let points = results
        .points
        .iter()
        .filter(|result| result.point.matches(&levels));
    let rates = points.filter_map(|result| {
        let engine = result.point.choice(ENGINE).ok()?;
        let rate = result.estimate(RATE).filter(|rate| rate.is_sound())?;
        Some((engine, rate))
    });
    let rates: Vec<_> = rates.collect();
    let (_, pread) = rates.iter().find(|(engine, _)| *engine == "pread")?;
    let rings = rates
        .iter()
        .filter(|(engine, _)| engine.starts_with("io_uring"));
    let best = rings.max_by(|one, other| one.1.centre.total_cmp(&other.1.centre))?;
    Some((*best, pread))
}
