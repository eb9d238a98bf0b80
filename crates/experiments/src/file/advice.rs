//! What programs should use that read and write files.

use super::block_size::{Pass, USUAL_BLOCK, best};
use super::engine::DIRECT;
use super::reader_claims::best_ring;
use super::sum::{THREADS, THROUGHPUT, WARM, best_two, by_one_thread};
use crate::estimates::{WithEstimate, ratio};
use crate::judging::better;
use files::Method;
use instrument::advice::{Advice, Rule};
use instrument::claim::Evidence;
use instrument::finding::Finding;
use instrument::quantity::Unit;

const BLOCKS: &str = "file.block_size";
const SUM: &str = "file.sum";
const ENGINES: &str = "file.engine";

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "read_block_size",
        title: "block size for reading files",
        unit: Some(Unit::Bytes),
        experiments: &[BLOCKS],
        find: |evidence| block_size(evidence, Pass::ReadWarm),
    },
    Rule {
        setting: "read_cold_block_size",
        title: "block size for reading files that are not in memory",
        unit: Some(Unit::Bytes),
        experiments: &[BLOCKS],
        find: |evidence| block_size(evidence, Pass::ReadCold),
    },
    Rule {
        setting: "write_block_size",
        title: "block size for writing files",
        unit: Some(Unit::Bytes),
        experiments: &[BLOCKS],
        find: |evidence| block_size(evidence, Pass::Write),
    },
    Rule {
        setting: "scan_threads",
        title: "threads for going through a file in memory",
        unit: Some(Unit::Count),
        experiments: &[SUM],
        find: scan_threads,
    },
    Rule {
        setting: "read_method",
        title: "way of reading files that are in memory",
        unit: None,
        experiments: &[SUM],
        find: read_method,
    },
    Rule {
        setting: "direct_queue_depth",
        title: "small random reads under way at once, past the page cache",
        unit: Some(Unit::Count),
        experiments: &[ENGINES],
        find: queue_depth,
    },
];

/// The number of threads of the fastest reader, if that is more than one for sure.
fn scan_threads(evidence: &Evidence<'_>) -> Option<Advice> {
    let [several, one] = best_two(evidence.of(SUM)?, WARM)?;
    let gain = ratio(several.estimate(THROUGHPUT)?, one.estimate(THROUGHPUT)?)?;
    let threads = several.point.number(THREADS).ok()?;
    let (value, gain) = better(&gain, threads, 1)?;
    let sentence = if value == 1 {
        "No other number of threads was faster than one."
    } else {
        "So many were the fastest."
    };
    Some(Advice {
        value: value.into(),
        usual: 1.into(),
        gain,
        because: Finding::new("because", sentence),
    })
}

/// The method of the fastest single thread over the other's fastest.
fn read_method(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(SUM)?;
    let fastest = |method: Method| {
        let curve = by_one_thread(results, method);
        let best = curve
            .into_iter()
            .max_by(|one, other| one.1.centre.total_cmp(&other.1.centre));
        best.map(|(_, rate)| rate)
    };
    let gain = ratio(fastest(Method::Mmap)?, fastest(Method::Pread)?)?;
    let (value, gain_over_usual) = better(&gain, Method::Mmap, Method::Pread)?;
    let because = Finding::new(
        "because",
        "Each in its best blocks, a mapped file is gone through {gain} as fast as one that is read.",
    );
    Some(Advice {
        value: value.name().into(),
        usual: Method::Pread.name().into(),
        gain: gain_over_usual,
        because: because.with("gain", &gain, Unit::Ratio),
    })
}

/// The depth of the best queue, if it beats one read at a time for sure.
fn queue_depth(evidence: &Evidence<'_>) -> Option<Advice> {
    let ((engine, rate), pread) = best_ring(evidence, DIRECT)?;
    let gain = ratio(rate, pread)?;
    let depth: u64 = engine.split_whitespace().nth(1)?.parse().ok()?;
    let (value, gain_over_usual) = better(&gain, depth, 1)?;
    let because = Finding::new(
        "because",
        "Of the queues, {engine_depth} deep is the best: {gain} as many reads as one at a time.",
    )
    .given("engine_depth", depth as f64, Unit::Count)
    .with("gain", &gain, Unit::Ratio);
    Some(Advice {
        value: value.into(),
        usual: 1.into(),
        gain: gain_over_usual,
        because,
    })
}

fn block_size(evidence: &Evidence<'_>, pass: Pass) -> Option<Advice> {
    let (size, gain) = best(evidence.of(BLOCKS)?, pass)?;
    let because = Finding::new(
        "because",
        "Larger blocks gain nothing; these give {gain} of what blocks of {usual} give.",
    )
    .with("gain", &gain, Unit::Ratio)
    .given("usual", USUAL_BLOCK as f64, Unit::Bytes);
    Some(Advice {
        value: size.into(),
        usual: USUAL_BLOCK.into(),
        gain: Some(gain),
        because,
    })
}
