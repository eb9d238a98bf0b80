//! Settings for programs that read and write files.

use super::block_size::{self, Best, Pass, USUAL_BLOCK, best, best_below, cliff};
use super::engine::{self, Through, best_of_large, best_queue};
use super::group_commit;
use super::sum::{self, Method, State, by_one_thread, fewest_threads};
use super::sync::{self, Method as Wait, WriteKind};
use crate::advising::{Ways, as_usual, bytes};
use crate::estimates::highest;
use crate::judging::{MARGIN, exceeds, near_best};
use crate::prelude::*;
use instrument::advice::{Action, Advice, Audience, Rule};

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "read_block_size",
        title: "block size for reading files that are in memory",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        basis: Basis::One(block_size::DESIGN.id, read_block_size),
        act: |value, _| {
            let size = bytes(value);
            Action::Code(sentence!("Read files in blocks of {size}."))
        },
    },
    Rule {
        setting: "write_block_size",
        title: "block size for writing files",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        basis: Basis::One(block_size::DESIGN.id, write_block_size),
        act: |value, _| {
            let size = bytes(value);
            Action::Code(sentence!("Write files in blocks of {size}."))
        },
    },
    Rule {
        setting: "scan_threads",
        title: "threads for scanning a file in memory",
        audience: Audience::Programs,
        unit: Some(Unit::Count),
        basis: Basis::One(sum::DESIGN.id, scan_threads),
        act: |value, _| {
            let threads = value.to_string();
            Action::Code(sentence!(
                "Scan a large file in {threads} parts, each in a thread of its own."
            ))
        },
    },
    Rule {
        setting: "read_method",
        title: "way of reading files that are in memory",
        audience: Audience::Programs,
        unit: None,
        basis: Basis::One(sum::DESIGN.id, read_method),
        act: |_, _| Action::Code(sentence!("Map the files that you scan, do not read them.")),
    },
    Rule {
        setting: "direct_queue_depth",
        title: "small random reads in flight at once, past the page cache",
        audience: Audience::Services,
        unit: Some(Unit::Count),
        basis: Basis::One(engine::DESIGN.id, queue_depth),
        act: |value, system| {
            let (depth, by) = (value.to_string(), queue_of(system));
            Action::Code(sentence!("Keep {depth} reads in flight, by {by}."))
        },
    },
    Rule {
        setting: "large_reads_through",
        title: "path of large random reads of a file that fits into memory",
        audience: Audience::Services,
        unit: None,
        basis: Basis::One(engine::DESIGN.id, large_reads),
        act: |_, system| {
            let flag = match system {
                System::Windows => "FILE_FLAG_NO_BUFFERING",
                System::Linux | System::Other => "O_DIRECT",
            };
            Action::Code(sentence!(
                "Open the files of which you read large blocks with {flag}."
            ))
        },
    },
    Rule {
        setting: "safe_write_by",
        title: "way to have a small write on the device before going on",
        audience: Audience::Services,
        unit: None,
        basis: Basis::One(sync::DESIGN.id, safe_write),
        act: |value, _| {
            let way = value.to_string();
            Action::Code(match way.strip_prefix("o_") {
                None => sentence!("Call {way} after the write, not fsync."),
                Some(flag) => {
                    let flag = format!("O_{}", flag.to_uppercase());
                    sentence!("Open the file with {flag}, and call no fsync.")
                }
            })
        },
    },
    Rule {
        setting: "log_blocks",
        title: "blocks of a log whose writes wait for the device",
        audience: Audience::Services,
        unit: None,
        basis: Basis::One(sync::DESIGN.id, log_blocks),
        // Blocks that `fallocate` reserves are not enough: the first write to one still changes the file's
        // description on the device.
        act: |_, _| {
            Action::Code(sentence!(
                "Fill the log with zeros to its full size before its first use, and write over them."
            ))
        },
    },
    Rule {
        setting: "log_wait",
        title: "waits for the device of several threads that commit to one log",
        audience: Audience::Services,
        unit: None,
        basis: Basis::One(group_commit::DESIGN.id, log_wait),
        act: |_, _| {
            Action::Code(sentence!(
                "Let one thread call fdatasync for all threads that wait for it."
            ))
        },
    },
];

/// The system's interface for several reads in flight.
fn queue_of(system: System) -> &'static str {
    match system {
        System::Windows => "overlapped I/O",
        System::Linux | System::Other => "io_uring",
    }
}

/// The number of threads that suffice, if several are surely faster than one.
fn scan_threads(results: &Results<'_>) -> Option<Advice> {
    let [several, one] = fewest_threads(results, State::Warm)?;
    let threads = several.threads;
    let (rate, rate_of_one) = (several.throughput, one.throughput);
    let said = sentence!(
        "{threads} threads sum {rate}, and more gain at most {at_most}; the fastest single thread sums \
         {rate_of_one}.",
        at_most = near_best(),
    );
    Ways::new(results, rate_of_one, rate).advised(threads.level(), 1_u64, said)
}

/// Mapping against reading, each at the block size that is fastest for one thread.
fn read_method(results: &Results<'_>) -> Option<Advice> {
    let fastest = |method| highest(by_one_thread(results, method));
    let (map_block, mapped) = fastest(Method::Mmap)?;
    let (read_block, read) = fastest(Method::Pread)?;
    let said = sentence!(
        "One thread scans a mapped file at {mapped} in blocks of {map_block}, and a file that it reads at \
         {read} in blocks of {read_block}."
    );
    Ways::new(results, read, mapped).advised(Method::Mmap.name(), Method::Pread.name(), said)
}

/// The depth of the best queue, if it beats one read at a time for sure.
fn queue_depth(results: &Results<'_>) -> Option<Advice> {
    let ((queue, rate), one) = best_queue(results, Through::Direct)?;
    let depth = Count(queue.depth.into());
    let said = sentence!(
        "With {of}, {depth} reads of 4 KiB in flight give {rate}, and more gain at most \
         {at_most}; one at a time gives {one}.",
        of = queue.of,
        at_most = near_best(),
    );
    Ways::new(results, one, rate).advised(depth.level(), 1_u64, said)
}

/// The faster of the two paths of the data, each with its best way of reading.
fn large_reads(results: &Results<'_>) -> Option<Advice> {
    let (block, direct) = best_of_large(results, Through::Direct)?;
    let (_, cached) = best_of_large(results, Through::PageCache)?;
    let said =
        sentence!("In blocks of {block}, O_DIRECT gives {direct} and the page cache {cached}.");
    Ways::new(results, cached, direct).advised("direct", "page_cache", said)
}

/// Of the ways to wait for a write over a block that exists, the first that is not shown to be slower than another,
/// if it is surely cheaper than fsync.
fn safe_write(results: &Results<'_>) -> Option<Advice> {
    const WAYS: [(Wait, &str); 3] = [
        (Wait::Fdatasync, "fdatasync"),
        (Wait::DataSync, "o_dsync"),
        (Wait::Sync, "o_sync"),
    ];
    let time = |way| sync::latency(results, way, WriteKind::Overwrite);
    let fsync = time(Wait::Fsync)?;
    let others = WAYS
        .iter()
        .filter_map(|(way, name)| Some((*name, time(*way)?)));
    let curve = Curve::of(&others.collect::<Vec<_>>(), Better::Lower);
    let (name, best) = curve.contenders().next()?;
    let said = sentence!(
        "A write of 4 KiB that waits by {name} takes {best}, by fsync {fsync}: each \
         commit that waits alone takes that long."
    );
    Ways::new(results, fsync, best).advised(name, "fsync", said)
}

/// Blocks that exist already against a file that grows with each write.
fn log_blocks(results: &Results<'_>) -> Option<Advice> {
    let time = |place| sync::latency(results, Wait::Fdatasync, place);
    let (append, exists) = (time(WriteKind::Append)?, time(WriteKind::Overwrite)?);
    let said = sentence!(
        "A write of 4 KiB and fdatasync takes {exists} on blocks that exist, and {append} at the \
         end of a file that grows."
    );
    Ways::new(results, append, exists).advised("allocated", "appended", said)
}

/// One wait for the device for all writers, compared with a wait of each.
fn log_wait(results: &Results<'_>) -> Option<Advice> {
    let (writers, [apart, together]) = group_commit::rates(results)?;
    let said = sentence!(
        "{writers} threads commit {together} with one fdatasync for all that wait, and {apart} if each \
         calls it."
    );
    Ways::new(results, apart, together).advised("shared", "own", said)
}

/// The best for writing over a file, but none in which new files are written far more slowly, since
/// programs seldom know which of the two they do.
fn write_block_size(results: &Results<'_>) -> Option<Advice> {
    let best = best(results, Pass::Write);
    let Some(from) = cliff(results).map(|cliff| cliff.from) else {
        return advised_block(results, &best?, &gain_little());
    };
    if let Some(best) = best.filter(|best| best.size < from) {
        return advised_block(results, &best, &gain_little());
    }
    advised_block(
        results,
        &best_below(results, Pass::Write, from)?,
        &sentence!("those of {from} and more are far slower for new files"),
    )
}

fn read_block_size(results: &Results<'_>) -> Option<Advice> {
    advised_block(results, &best(results, Pass::ReadWarm)?, &gain_little())
}

fn gain_little() -> Sentence {
    sentence!("larger ones gain at most {at_most}", at_most = near_best())
}

/// Advice for a block size. `beyond` gives the reason against a larger one. Where the best block does not
/// surely gain, the usual one stays if it is no smaller; else the measurement does not decide.
fn advised_block(results: &Results<'_>, best: &Best<'_>, beyond: &Sentence) -> Option<Advice> {
    let (rate, usual_rate) = (best.rate, best.usual_rate);
    let ways = Ways::new(results, usual_rate, rate);
    let usual = USUAL_BLOCK;
    if exceeds(&ways.gain()?, 1.0 + MARGIN) == Ruling::Holds {
        let said = sentence!("They give {rate}, blocks of {usual} give {usual_rate}; {beyond}.");
        return ways.advised(best.size.level(), usual.level(), said);
    }
    let said = sentence!("They give {usual_rate}; {beyond}.");
    (best.size <= usual).then(|| as_usual(usual.level(), said))
}
