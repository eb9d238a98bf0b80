//! Claims about ways of reading.

use super::against_dd::{self, Program, Work};
use super::engine::{self, Through, best_queue};
use super::sum::{self, Method, State, best_two, whole_and_small};
use crate::estimates::{pooled, ratios, value_at};
use crate::judging::{ALMOST, MARGIN, about, both, decided, exceeds, larger, larger_along};
use crate::prelude::*;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "many_threads_read_four_times_as_fast",
        says: "Many threads read about four times as fast as one.",
        source: "Report B, section 6: 16 threads",
        basis: Basis::One(sum::DESIGN.id, |results| {
            let [several, one] = best_two(results, State::Warm)?;
            let (one, other) = (several.throughput, one.throughput);
            about(4.0, ALMOST, one, other, |ratio| {
                sentence!(
                    "A file in memory is summed at {one} by the best number of threads and at \
                     {other} by one: {ratio}."
                )
            })
        }),
    },
    Claim {
        key: "mapping_is_faster_than_reading",
        says: "A file is read faster mapped than by read.",
        source: "folklore; report B, section 6, saw the contrary at small blocks",
        basis: Basis::One(sum::DESIGN.id, |results| {
            let (states, methods) = ([State::Warm, State::Cold], [Method::Mmap, Method::Pread]);
            let ratios = pooled(states.map(|state| sum::over(results, state, methods)));
            larger_along("blocks of ", &ratios, |[least, most]| {
                sentence!(
                    "Mapped block by block, a file is summed {least} to {most} as fast as by pread, from \
                     memory or storage, by as many threads."
                )
            })
        }),
    },
    Claim {
        key: "small_mappings_cost_more_than_one",
        says: "A file mapped in small blocks is read slower than one mapped as a whole.",
        source: "Report B, section 6: mapping takes more time in small bunches",
        basis: Basis::One(sum::DESIGN.id, |results| {
            let [(_, one), (block, other)] = whole_and_small(results)?;
            larger(one, other, |ratio| {
                sentence!(
                    "Mapped as a whole, a file in memory is summed at {one}, in blocks of {block} at \
                     {other}: {ratio}."
                )
            })
        }),
    },
    Claim {
        key: "dd_copies_faster",
        says: "dd copies a file faster than a program of one's own.",
        source: "Reports A and B, section 2: dd ahead at each file size (A) and block size (B)",
        basis: Basis::One(against_dd::DESIGN.id, |results| {
            let curve = |program| against_dd::curve(results, Work::Copy, program);
            let ratios = ratios(&curve(Program::Dd), &curve(Program::Ours));
            larger_along("blocks of ", &ratios, |[least, most]| {
                sentence!("dd copies {least} to {most} as fast as oscope's plain read and write.")
            })
        }),
    },
    Claim {
        key: "dd_takes_almost_the_same_time",
        says: "dd and a program of one's own copy a file in almost the same time.",
        source: "Report B, section 2: 50.35 s by dd and 49.32 s by its own, in blocks of 4096 bytes",
        basis: Basis::One(against_dd::DESIGN.id, |results| {
            let curve = |program| against_dd::curve(results, Work::Copy, program);
            let copied = |program| value_at(&curve(program), REPORTED_BLOCK);
            let (one, other) = (copied(Program::Dd)?, copied(Program::Ours)?);
            about(1.0, ALMOST, one, other, |ratio| {
                sentence!(
                    "In blocks of {block}, dd copies {one} and oscope's plain read and write {other}: \
                     {ratio}.",
                    block = REPORTED_BLOCK,
                )
            })
        }),
    },
    Claim {
        key: "threads_cost_most_in_small_blocks",
        says: "More threads sum a file more slowly than one, most of all in small blocks.",
        source: "Report A, section 6",
        basis: Basis::One(sum::DESIGN.id, threads_cost_most_in_small_blocks),
    },
    Claim {
        key: "io_uring_is_faster_in_memory_too",
        says: "io_uring (on Windows, overlapped reads) is faster than pread even for reads from the page cache.",
        source: "folklore",
        basis: Basis::One(engine::DESIGN.id, |results| {
            ring_over_pread(results, Through::PageCache)
        }),
    },
    Claim {
        key: "a_queue_beats_one_read_at_a_time",
        says: "Past the page cache, several reads in flight at once beat one at a time.",
        source: "folklore",
        basis: Basis::One(engine::DESIGN.id, |results| {
            ring_over_pread(results, Through::Direct)
        }),
    },
];

/// Report B copied with dd in blocks of this size.
const REPORTED_BLOCK: Bytes = Bytes(4096);

/// The time of the most threads over that of one, in the smallest blocks and in the largest.
fn threads_cost_most_in_small_blocks(results: &Results<'_>) -> Option<Judgement> {
    let losses = sum::one_over_most_threads(results);
    let ((small, loss), (large, least)) = (*losses.first()?, *losses.last()?);
    if small == large {
        return None;
    }
    let growth = loss.over(least)?;
    let ruling = both(exceeds(&loss, 1.0 + MARGIN), exceeds(&growth, 1.0 + MARGIN));
    let said = sentence!(
        "The most threads take {loss} as long as one in blocks of {small}, and {least} in blocks of \
         {large}."
    );
    Some(decided(ruling, said).with_number("growth", growth))
}

/// The best queue against pread, in small random reads.
fn ring_over_pread(results: &Results<'_>, through: Through) -> Option<Judgement> {
    let ((queue, one), other) = best_queue(results, through)?;
    larger(one, other, |ratio| {
        sentence!(
            "The best depth of {of} gives {one} random reads of 4 KiB, pread {other}: {ratio}.",
            of = queue.of
        )
    })
}
