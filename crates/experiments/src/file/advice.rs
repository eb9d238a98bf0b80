//! What programs should use that read and write files.

use super::block_size::{Pass, USUAL_BLOCK, best, best_below, cliff};
use super::engine::DIRECT;
use super::reader_claims::best_ring;
use super::sum::{THREADS, THROUGHPUT, WARM, best_two, by_one_thread};
use crate::estimates::{WithEstimate, estimated, ratio, ratios};
use crate::judging::{MARGIN, better, exceeds};
use files::Method;
use instrument::advice::{Advice, Rule};
use instrument::claim::{Evidence, Ruling};
use instrument::finding::Finding;
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::results::Estimate;
use instrument::statistics::Estimated;

const BLOCKS: &str = "file.block_size";
const SUM: &str = "file.sum";
const ENGINES: &str = "file.engine";
const NEVER: &str = "never";

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
        find: write_block_size,
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
        setting: "map_files_from",
        title: "block size from which on a file in memory is mapped rather than read",
        unit: Some(Unit::Bytes),
        experiments: &[SUM],
        find: map_from,
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
    let (rate, rate_of_one) = (several.estimate(THROUGHPUT)?, one.estimate(THROUGHPUT)?);
    let threads = several.point.number(THREADS).ok()?;
    let (value, gain) = better(&ratio(rate, rate_of_one)?, threads, 1)?;
    let because = Finding::new(
        "because",
        "The best number of several threads, {threads}, sums {rate}, the fastest single one \
         {rate_of_one}.",
    )
    .given("threads", threads as f64, Unit::Count)
    .with("rate", &estimated(rate), Unit::BytesPerSecond)
    .with("rate_of_one", &estimated(rate_of_one), Unit::BytesPerSecond);
    Some(Advice {
        value: value.into(),
        usual: 1.into(),
        gain,
        because,
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

/// The smallest block from which on a mapped file is gone through faster than one that is read, by one
/// thread; `never` where it is not in the largest.
fn map_from(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(SUM)?;
    let curve = |method| by_one_thread(results, method);
    let gains = ratios(&curve(Method::Mmap), &curve(Method::Pread));
    let wins = |(_, gain): &&(u64, Estimated)| exceeds(gain, 1.0 + MARGIN) == Ruling::Holds;
    let from = gains.iter().rev().take_while(wins).last();
    let (block, gain) = *from.or(gains.last())?;
    let never = Level::from(NEVER);
    let (value, gain_over_usual) = better(&gain, Level::from(block), never.clone())?;
    let because = Finding::new(
        "because",
        "In blocks of {block}, a mapped file is gone through {gain} as fast as one that is read.",
    )
    .given("block", block as f64, Unit::Bytes)
    .with("gain", &gain, Unit::Ratio);
    Some(Advice {
        value,
        usual: never,
        gain: gain_over_usual,
        because,
    })
}

/// The depth of the best queue, if it beats one read at a time for sure.
fn queue_depth(evidence: &Evidence<'_>) -> Option<Advice> {
    let ((engine, rate), one) = best_ring(evidence, DIRECT)?;
    let gain = ratio(rate, one)?;
    let depth: u64 = engine.split_whitespace().nth(1)?.parse().ok()?;
    let (value, gain_over_usual) = better(&gain, depth, 1)?;
    let because = Finding::new(
        "because",
        "By io_uring, {depth} under way at once are the best: {rate} of 4 KiB, one at a time {one}.",
    )
    .given("depth", depth as f64, Unit::Count)
    .with("rate", &estimated(rate), Unit::OperationsPerSecond)
    .with("one", &estimated(one), Unit::OperationsPerSecond);
    Some(Advice {
        value: value.into(),
        usual: 1.into(),
        gain: gain_over_usual,
        because,
    })
}

/// The best for writing over a file, but none in which new files are written far more slowly, since
/// programs seldom know which of both they do.
fn write_block_size(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(BLOCKS)?;
    let best = best(results, Pass::Write);
    let Some(cliff) = cliff(results) else {
        return advised_block(best?, "larger ones gain nothing");
    };
    if let Some(best) = best.filter(|(size, ..)| *size < cliff.from) {
        return advised_block(best, "larger ones gain nothing");
    }
    let advice = advised_block(
        best_below(results, Pass::Write, cliff.from)?,
        "those of {from} and more are far slower for new files",
    )?;
    Some(Advice {
        because: advice.because.given("from", cliff.from as f64, Unit::Bytes),
        ..advice
    })
}

fn block_size(evidence: &Evidence<'_>, pass: Pass) -> Option<Advice> {
    advised_block(
        best(evidence.of(BLOCKS)?, pass)?,
        "larger ones gain nothing",
    )
}

/// Advice for a block size, of which `beyond` tells why it is not a larger one.
fn advised_block(
    (size, rate, usual_rate): (u64, &Estimate, &Estimate),
    beyond: &str,
) -> Option<Advice> {
    let gain = ratio(rate, usual_rate)?;
    let because = if size == USUAL_BLOCK {
        Finding::new("because", &format!("They give {{rate}}; {beyond}."))
    } else {
        let sentence =
            format!("They give {{rate}}, blocks of {{usual}} give {{usual_rate}}; {beyond}.");
        Finding::new("because", &sentence)
            .given("usual", USUAL_BLOCK as f64, Unit::Bytes)
            .with("usual_rate", &estimated(usual_rate), Unit::BytesPerSecond)
    }
    .with("rate", &estimated(rate), Unit::BytesPerSecond);
    Some(Advice {
        value: size.into(),
        usual: USUAL_BLOCK.into(),
        gain: Some(gain),
        because,
    })
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, SUM, map_from, write_block_size};
    use crate::find;
    use crate::made_up::{machine, result, results, setting};
    use instrument::advice::Advice;
    use instrument::claim::Evidence;
    use instrument::plan::Profile;

    const KIB: u64 = 1 << 10;

    /// Reading takes 10 µs a block and mapping `map_us`, beside what a byte takes; `mapped` is that
    /// in ns for a mapped one.
    fn advised(map_us: f64, mapped: f64) -> Option<Advice> {
        let sum = find(SUM).expect("it exists");
        let points = sum.points(&setting(Profile::Standard)).into_iter();
        let measured = points.map(|point| {
            let block = point.number("block_size").expect("all have one") as f64;
            let ns = match point.choice("method") {
                Ok("mmap") => map_us * 1e3 + mapped * block,
                _ => 10e3 + 0.1 * block,
            };
            result(point, &[("throughput", block * 1e9 / ns)])
        });
        let (definition, machine) = (sum.definition(), machine());
        let results = [results(&definition, &machine, measured.collect())];
        map_from(&Evidence::new(&results))
    }

    /// The advice for writing where overwriting gains up to blocks of `plateau`, and new files in
    /// blocks of 1 MiB and more take `slower` as long.
    fn advised_for_writing(plateau: u64, slower: f64) -> Option<Advice> {
        let blocks = find(BLOCKS).expect("it exists");
        let points = blocks.points(&setting(Profile::Quick)).into_iter();
        let measured = points.map(|point| {
            let block = point.number("block_size").expect("all have one");
            let rate = 2e9 * (block.min(plateau) as f64 / plateau as f64).sqrt();
            let rate = match point.choice("pass") {
                Ok("write new") if block >= 1 << 20 => rate / slower,
                _ => rate,
            };
            result(point, &[("throughput", rate)])
        });
        let (definition, machine) = (blocks.definition(), machine());
        let results = [results(&definition, &machine, measured.collect())];
        write_block_size(&Evidence::new(&results))
    }

    #[test]
    fn no_block_is_advised_that_is_slow_for_new_files() {
        let advised = |plateau, slower| advised_for_writing(plateau, slower).expect("told");
        for (plateau, slower, expected) in [
            (64 * KIB, 1.0, 64 * KIB),
            (64 * KIB, 5.0, 64 * KIB),
            (1024 * KIB, 1.0, 1024 * KIB),
            (1024 * KIB, 5.0, 512 * KIB),
            (1 << 30, 5.0 * 3.0, 512 * KIB),
        ] {
            let advice = advised(plateau, slower);
            assert_eq!(advice.value, expected.into(), "{plateau} {slower}");
            let is_behind = advice.because.template.contains("slower for new files");
            assert_eq!(is_behind, expected < plateau, "{advice:?}");
        }
        assert_eq!(advised_for_writing(1 << 30, 1.0), None);
    }

    #[test]
    fn files_are_mapped_from_the_smallest_block_that_gains() {
        // A block of 512 KiB: 56 µs mapped, 62 µs read; one of 64 KiB: 33 against 17.
        let advice = advised(30.0, 0.05).expect("told");
        assert_eq!(
            (advice.value, advice.usual),
            ((512 * KIB).into(), "never".into())
        );
        assert!((advice.gain.expect("it gains").centre - 62.4 / 56.2).abs() < 0.01);
    }

    #[test]
    fn files_are_never_mapped_where_the_largest_block_is_read_faster() {
        let advice = advised(30.0, 0.2).expect("told");
        assert_eq!((advice.value, advice.gain), ("never".into(), None));
    }
}
