//! Settings that programs should use that read and write files.

use super::block_size::{self, Best, Pass, USUAL_BLOCK, best, best_below, cliff};
use super::engine::{self, Through, best_of_large, best_queue};
use super::group_commit;
use super::sum::{self, Method, State, by_one_thread, fewest_threads};
use super::sync::{self, Method as Wait, WriteKind};
use crate::estimates::{ratio, ratios};
use crate::judging::{MARGIN, advice, advised, exceeds, margin};
use crate::prelude::*;
use instrument::advice::{Advice, Audience, Rule};
use instrument::claim::{Evidence, Ruling};
use instrument::point::LevelOf;

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "read_block_size",
        title: "block size for reading files",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        experiments: &[block_size::DESIGN.id],
        find: |evidence| block_size(evidence, Pass::ReadWarm),
    },
    Rule {
        setting: "read_cold_block_size",
        title: "block size for reading files that are not in memory",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        experiments: &[block_size::DESIGN.id],
        find: |evidence| block_size(evidence, Pass::ReadCold),
    },
    Rule {
        setting: "write_block_size",
        title: "block size for writing files",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        experiments: &[block_size::DESIGN.id],
        find: write_block_size,
    },
    Rule {
        setting: "scan_threads",
        title: "threads for scanning a file in memory",
        audience: Audience::Programs,
        unit: Some(Unit::Count),
        experiments: &[sum::DESIGN.id],
        find: scan_threads,
    },
    Rule {
        setting: "read_method",
        title: "way of reading files that are in memory",
        audience: Audience::Programs,
        unit: None,
        experiments: &[sum::DESIGN.id],
        find: read_method,
    },
    Rule {
        setting: "map_files_from",
        title: "block size from which on a file in memory is mapped rather than read",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        experiments: &[sum::DESIGN.id],
        find: map_from,
    },
    Rule {
        setting: "direct_queue_depth",
        title: "small random reads in flight at once, past the page cache",
        audience: Audience::Services,
        unit: Some(Unit::Count),
        experiments: &[engine::DESIGN.id],
        find: queue_depth,
    },
    Rule {
        setting: "large_reads_through",
        title: "path of large random reads of a file that fits into memory",
        audience: Audience::Services,
        unit: None,
        experiments: &[engine::DESIGN.id],
        find: large_reads,
    },
    Rule {
        setting: "safe_write_by",
        title: "way to have a small write on the device before going on",
        audience: Audience::Services,
        unit: None,
        experiments: &[sync::DESIGN.id],
        find: safe_write,
    },
    Rule {
        setting: "log_blocks",
        title: "blocks of a log whose writes wait for the device",
        audience: Audience::Services,
        unit: None,
        experiments: &[sync::DESIGN.id],
        find: log_blocks,
    },
    Rule {
        setting: "log_wait",
        title: "waits for the device of several threads that commit to one log",
        audience: Audience::Services,
        unit: None,
        experiments: &[group_commit::DESIGN.id],
        find: log_wait,
    },
];

/// The number of threads that suffice, if several are surely faster than one.
fn scan_threads(evidence: &Evidence<'_>) -> Option<Advice> {
    let [several, one] = fewest_threads(evidence.of(sum::DESIGN.id)?, State::Warm)?;
    let threads = several.threads;
    let (rate, rate_of_one) = (several.throughput, one.throughput);
    let said = sentence!(
        "{threads} threads sum {rate}, and more gain at most {at_most}; the fastest single thread sums \
         {rate_of_one}.",
        at_most = margin(),
    );
    advised(ratio(rate, rate_of_one)?, threads.level(), 1_u64, said)
}

/// The method of the fastest single thread over the other's fastest.
fn read_method(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(sum::DESIGN.id)?;
    let fastest = |method| {
        let rates = by_one_thread(results, method).into_iter();
        let rates = rates.map(|(_, rate)| rate);
        rates.max_by(|one, other| one.centre.total_cmp(&other.centre))
    };
    let gain = ratio(fastest(Method::Mmap)?, fastest(Method::Pread)?)?;
    let said = sentence!(
        "Each in its best blocks, a mapped file is scanned {gain} as fast as one that is read."
    );
    advised(gain, Method::Mmap.name(), Method::Pread.name(), said)
}

/// The smallest block from which on a mapped file is scanned faster than one that is read, by one
/// thread; `never` where it is not in the largest.
fn map_from(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(sum::DESIGN.id)?;
    let curve = |method| by_one_thread(results, method);
    let gains = ratios(&curve(Method::Mmap), &curve(Method::Pread));
    let wins = |(_, gain): &&(_, Quantity)| exceeds(gain, 1.0 + MARGIN) == Ruling::Holds;
    let from = gains.iter().rev().take_while(wins).last();
    let (block, gain) = *from.or(gains.last())?;
    let said = sentence!(
        "In blocks of {block}, a mapped file is scanned {gain} as fast as one that is read."
    );
    advised(gain, block.level(), "never", said)
}

/// The depth of the best queue, if it beats one read at a time for sure.
fn queue_depth(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(engine::DESIGN.id)?;
    let ((queue, rate), one) = best_queue(results, Through::Direct)?;
    let depth = Count(queue.depth.into());
    let said = sentence!(
        "By {of}, {depth} reads in flight at once suffice: {rate} of 4 KiB, one at a \
         time {one}.",
        of = queue.of
    );
    advised(ratio(rate, one)?, depth.level(), 1_u64, said)
}

/// The path of the data that is faster, each by its best way.
fn large_reads(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(engine::DESIGN.id)?;
    let (block, direct) = best_of_large(results, Through::Direct)?;
    let (_, cached) = best_of_large(results, Through::PageCache)?;
    let gain = ratio(direct, cached)?;
    let said = sentence!(
        "In blocks of {block}, O_DIRECT gives {direct}, {gain} what the page cache gives \
         ({cached})."
    );
    advised(gain, "direct", "page_cache", said)
}

/// The cheapest way of waiting for a block that exists, if it is surely cheaper than fsync.
fn safe_write(evidence: &Evidence<'_>) -> Option<Advice> {
    const WAYS: [(Wait, &str); 3] = [
        (Wait::Fdatasync, "fdatasync"),
        (Wait::Sync, "o_sync"),
        (Wait::DataSync, "o_dsync"),
    ];
    let results = evidence.of(sync::DESIGN.id)?;
    let time = |way| sync::latency(results, way, WriteKind::Overwrite);
    let fsync = time(Wait::Fsync)?;
    let others = WAYS
        .iter()
        .filter_map(|(way, name)| Some((*name, time(*way)?)));
    let (name, best) = others.min_by(|(_, one), (_, other)| one.centre.total_cmp(&other.centre))?;
    let said = sentence!(
        "A write of 4 KiB that waits by {name} takes {best}, by fsync {fsync}: each commit of its \
         own pays that."
    );
    advised(ratio(fsync, best)?, name, "fsync", said)
}

/// Blocks that exist already against a file that grows with each write.
fn log_blocks(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(sync::DESIGN.id)?;
    let time = |place| sync::latency(results, Wait::Fdatasync, place);
    let (append, exists) = (time(WriteKind::Append)?, time(WriteKind::Overwrite)?);
    let said = sentence!(
        "A write of 4 KiB and fdatasync takes {exists} on blocks that exist, and {append} at the \
         end of a file that grows."
    );
    advised(ratio(append, exists)?, "allocated", "appended", said)
}

/// One wait for the device for all writers, compared with a wait of each.
fn log_wait(evidence: &Evidence<'_>) -> Option<Advice> {
    let (writers, [apart, together]) = group_commit::rates(evidence.of(group_commit::DESIGN.id)?)?;
    let said = sentence!(
        "{writers} threads commit {together} with one fdatasync for all that wait, and {apart} if each \
         calls it."
    );
    advised(ratio(together, apart)?, "shared", "own", said)
}

/// The best for writing over a file, but none in which new files are written far more slowly, since
/// programs seldom know which of the two they do.
fn write_block_size(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(block_size::DESIGN.id)?;
    let best = best(results, Pass::Write);
    let Some(from) = cliff(results).map(|cliff| cliff.from) else {
        return advised_block(&best?, &gain_nothing());
    };
    if let Some(best) = best.filter(|best| best.size < from) {
        return advised_block(&best, &gain_nothing());
    }
    advised_block(
        &best_below(results, Pass::Write, from)?,
        &sentence!("those of {from} and more are far slower for new files"),
    )
}

fn block_size(evidence: &Evidence<'_>, pass: Pass) -> Option<Advice> {
    let results = evidence.of(block_size::DESIGN.id)?;
    advised_block(&best(results, pass)?, &gain_nothing())
}

fn gain_nothing() -> Sentence {
    sentence!("larger ones gain at most {at_most}", at_most = margin())
}

/// Advice for a block size. `beyond` gives the reason against a larger one. Where the best block does not
/// surely gain, the usual one stays if it is no smaller; else the measurement does not decide.
fn advised_block(best: &Best<'_>, beyond: &Sentence) -> Option<Advice> {
    let (rate, usual_rate) = (best.rate, best.usual_rate);
    let gain = ratio(rate, usual_rate)?;
    let usual = USUAL_BLOCK;
    if exceeds(&gain, 1.0 + MARGIN) == Ruling::Holds {
        let said = sentence!("They give {rate}, blocks of {usual} give {usual_rate}; {beyond}.");
        return Some(advice((best.size.level(), usual.level()), Some(gain), said));
    }
    let said = sentence!("They give {usual_rate}; {beyond}.");
    (best.size <= usual).then(|| advice((usual.level(), usual.level()), None, said))
}
