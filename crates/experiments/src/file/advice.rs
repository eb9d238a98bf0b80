//! Settings that programs should use that read and write files.

use super::block_size::{self, Best, Pass, USUAL_BLOCK, best, best_below, cliff};
use super::engine::{self, Through, best_of_large, best_queue};
use super::group_commit;
use super::sum::{self, Method, State, best_two, by_one_thread};
use super::sync::{self, Method as Wait, Place};
use crate::estimates::{ratio, ratios};
use crate::judging::{MARGIN, advice, better, exceeds};
use crate::prelude::*;
use instrument::advice::{Advice, Audience, Rule};
use instrument::claim::{Evidence, Ruling};
use instrument::point::{Level, LevelOf};

const NEVER: &str = "never";
const ONE: Count = Count(1);

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

/// The number of threads of the fastest reader, if that is more than one for sure.
fn scan_threads(evidence: &Evidence<'_>) -> Option<Advice> {
    let [several, one] = best_two(evidence.of(sum::DESIGN.id)?, State::Warm)?;
    let threads = several.threads;
    let (rate, rate_of_one) = (several.throughput, one.throughput);
    let (value, gain) = better(&ratio(rate, rate_of_one)?, threads, ONE)?;
    let said = sentence!(
        "The best number of threads, {threads}, sums {rate}, the fastest single thread \
         {rate_of_one}."
    );
    Some(advice((value.level(), ONE.level()), gain, said))
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
    let (value, gain_over_usual) = better(&gain, Method::Mmap, Method::Pread)?;
    let said = sentence!(
        "Each in its best blocks, a mapped file is scanned {gain} as fast as one that is read."
    );
    Some(advice(
        (value.level(), Method::Pread.level()),
        gain_over_usual,
        said,
    ))
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
    let never = Level::from(NEVER);
    let (value, gain_over_usual) = better(&gain, block.level(), never.clone())?;
    let said = sentence!(
        "In blocks of {block}, a mapped file is scanned {gain} as fast as one that is read."
    );
    Some(advice((value, never), gain_over_usual, said))
}

/// The depth of the best queue, if it beats one read at a time for sure.
fn queue_depth(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(engine::DESIGN.id)?;
    let ((queue, rate), one) = best_queue(results, Through::Direct)?;
    let depth = Count(queue.depth.into());
    let (value, gain) = better(&ratio(rate, one)?, depth, ONE)?;
    let said = sentence!(
        "By {of}, {depth} reads in flight at once are the best: {rate} of 4 KiB, one at a \
         time {one}.",
        of = queue.of
    );
    Some(advice((value.level(), ONE.level()), gain, said))
}

/// The path of the data that is faster, each by its best way.
fn large_reads(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(engine::DESIGN.id)?;
    let (block, direct) = best_of_large(results, Through::Direct)?;
    let (_, cached) = best_of_large(results, Through::PageCache)?;
    let gain = ratio(direct, cached)?;
    let (value, gain_over_usual) = better(&gain, "direct", "page_cache")?;
    let said = sentence!(
        "In blocks of {block}, O_DIRECT gives {direct}, {gain} what the page cache gives \
         ({cached})."
    );
    Some(advice((value, "page_cache"), gain_over_usual, said))
}

/// The cheapest way of waiting for a block that exists, if it is surely cheaper than fsync.
fn safe_write(evidence: &Evidence<'_>) -> Option<Advice> {
    const WAYS: [(Wait, &str); 3] = [
        (Wait::Fdatasync, "fdatasync"),
        (Wait::Sync, "o_sync"),
        (Wait::DataSync, "o_dsync"),
    ];
    let results = evidence.of(sync::DESIGN.id)?;
    let time = |way| sync::latency(results, way, Place::Overwrite);
    let fsync = time(Wait::Fsync)?;
    let others = WAYS
        .iter()
        .filter_map(|(way, name)| Some((*name, time(*way)?)));
    let (name, best) = others.min_by(|(_, one), (_, other)| one.centre.total_cmp(&other.centre))?;
    let (value, gain) = better(&ratio(fsync, best)?, name, "fsync")?;
    let said = sentence!(
        "A write of 4 KiB that waits by {name} takes {best}, by fsync {fsync}: each commit of its \
         own pays that."
    );
    Some(advice((value, "fsync"), gain, said))
}

/// Blocks that exist already against a file that grows with each write.
fn log_blocks(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(sync::DESIGN.id)?;
    let time = |place| sync::latency(results, Wait::Fdatasync, place);
    let (append, exists) = (time(Place::Append)?, time(Place::Overwrite)?);
    let (value, gain) = better(&ratio(append, exists)?, "allocated", "appended")?;
    let said = sentence!(
        "A write of 4 KiB and fdatasync takes {exists} on blocks that exist, and {append} at the \
         end of a file that grows."
    );
    Some(advice((value, "appended"), gain, said))
}

/// One wait for the device on behalf of all that have written, against a wait of each.
fn log_wait(evidence: &Evidence<'_>) -> Option<Advice> {
    let (writers, [apart, together]) = group_commit::rates(evidence.of(group_commit::DESIGN.id)?)?;
    let (value, gain) = better(&ratio(together, apart)?, "shared", "own")?;
    let said = sentence!(
        "{writers} threads commit {together} if one fdatasync serves all that wait, and {apart} if each \
         calls it."
    );
    Some(advice((value, "own"), gain, said))
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
    sentence!("larger ones gain nothing")
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

#[cfg(test)]
mod tests {
    use super::super::block_size::{BlockSize, PASS};
    use super::super::sum::{METHOD, SumOfWords};
    use super::*;
    use crate::file::{BLOCK_SIZE, THROUGHPUT};
    use crate::made_up::{machine, measured, results, setting};

    const KIB: u64 = 1 << 10;

    /// The advice that `rule` finds where each point of `experiment` is as fast as `rate` says.
    fn found(
        rule: fn(&Evidence<'_>) -> Option<Advice>,
        experiment: &dyn Experiment,
        profile: Profile,
        rate: impl Fn(&Point, f64) -> f64,
    ) -> Option<Advice> {
        let points = experiment.points(&setting(profile)).into_iter();
        let measured = points.map(|point| {
            let block = point.level(BLOCK_SIZE).expect("all have one").0 as f64;
            let rate = rate(&point, block);
            measured(point, &[(THROUGHPUT, rate)])
        });
        let (definition, machine) = (experiment.definition(), machine());
        let results = [results(&definition, &machine, measured.collect())];
        rule(&Evidence::new(&results))
    }

    /// Reading takes 10 µs a block and mapping `map_us`, beside the time of its bytes; `mapped` is that
    /// of a mapped byte in ns.
    fn advised(map_us: f64, mapped: f64) -> Option<Advice> {
        found(map_from, &SumOfWords, Profile::Standard, |point, block| {
            let ns = match point.level(METHOD) {
                Ok(Method::Mmap) => map_us * 1e3 + mapped * block,
                _ => 10e3 + 0.1 * block,
            };
            block * 1e9 / ns
        })
    }

    /// The advice for writing where overwriting gains up to blocks of `plateau`, and new files in
    /// blocks of 1 MiB and more take `slower` as long.
    fn advised_for_writing(plateau: u64, slower: f64) -> Option<Advice> {
        let plateau = plateau as f64;
        found(
            write_block_size,
            &BlockSize,
            Profile::Quick,
            |point, block| {
                let rate = 2e9 * (block.min(plateau) / plateau).sqrt();
                match point.level(PASS) {
                    Ok(Pass::WriteNew) if block >= 1_048_576.0 => rate / slower,
                    _ => rate,
                }
            },
        )
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
            let said = advice.because.sentence.to_string();
            let is_behind = said.contains("slower for new files");
            assert_eq!(is_behind, expected < plateau, "{advice:?}");
        }
        assert_eq!(advised_for_writing(1 << 30, 1.0), None);
    }

    #[test]
    fn the_usual_block_stays_unless_another_surely_gains() {
        let advised = |plateau: u64| {
            let plateau = plateau as f64;
            let rule = |evidence: &Evidence<'_>| block_size(evidence, Pass::ReadWarm);
            found(rule, &BlockSize, Profile::Quick, |_, block| {
                2e9 * (block.min(plateau) / plateau).sqrt()
            })
        };
        let large = advised(64 * KIB).expect("told");
        assert_eq!(large.value, (64 * KIB).into());
        assert!((large.gain.expect("it gains").value - 4.0).abs() < 0.1);
        // Smaller blocks are as fast as the usual ones, and no faster.
        let small = advised(2 * KIB).expect("told");
        assert_eq!((small.value, small.gain), ((4 * KIB).into(), None));
    }

    /// The advice of `rule` where `file.sync` took these times in ns.
    fn waited(
        rule: fn(&Evidence<'_>) -> Option<Advice>,
        times: [(Wait, Place, f64); 4],
    ) -> Option<Advice> {
        let points = times.map(|(way, place, ns)| {
            let point = Point::new().at(sync::METHOD, way).at(sync::PLACE, place);
            measured(point, &[(sync::LATENCY, ns)])
        });
        let (definition, machine) = (sync::WaitingWrites.definition(), machine());
        let results = [results(&definition, &machine, points.to_vec())];
        rule(&Evidence::new(&results))
    }

    #[test]
    fn a_service_waits_in_the_way_that_surely_costs_less() {
        let times = |fdatasync: f64, append: f64| {
            [
                (Wait::Fsync, Place::Overwrite, 200e3),
                (Wait::Fdatasync, Place::Overwrite, fdatasync),
                (Wait::Sync, Place::Overwrite, 205e3),
                (Wait::Fdatasync, Place::Append, append),
            ]
        };
        let cheaper = waited(safe_write, times(100e3, 300e3)).expect("told");
        assert_eq!(
            (cheaper.value, cheaper.usual),
            ("fdatasync".into(), "fsync".into())
        );
        assert!((cheaper.gain.expect("it gains").value - 2.0).abs() < 0.01);
        let dearer = waited(safe_write, times(230e3, 300e3)).expect("told");
        assert_eq!((dearer.value, dearer.gain), ("fsync".into(), None));
        let allocated = waited(log_blocks, times(100e3, 300e3)).expect("told");
        assert_eq!(allocated.value, "allocated".into());
        assert!((allocated.gain.expect("it gains").value - 3.0).abs() < 0.01);
        let appended = waited(log_blocks, times(100e3, 90e3)).expect("told");
        assert_eq!((appended.value, appended.gain), ("appended".into(), None));
    }

    #[test]
    fn threads_are_told_to_wait_together_where_that_surely_gains() {
        let waits = |shared: f64| {
            let at = |wait, rate| {
                let point = Point::new().at(group_commit::WAIT, wait);
                let point = point.at(group_commit::WRITERS, Count(16));
                measured(point, &[(group_commit::RATE, rate)])
            };
            let points = vec![
                at(group_commit::Wait::Own, 2e3),
                at(group_commit::Wait::Shared, shared),
            ];
            let definition = group_commit::GroupCommit.definition();
            let machine = machine();
            let results = [results(&definition, &machine, points)];
            log_wait(&Evidence::new(&results)).expect("told")
        };
        let gains = waits(1e4);
        assert_eq!((gains.value, gains.usual), ("shared".into(), "own".into()));
        assert!((gains.gain.expect("it gains").value - 5.0).abs() < 0.01);
        let loses = waits(1e3);
        assert_eq!((loses.value, loses.gain), ("own".into(), None));
    }

    #[test]
    fn large_reads_go_past_the_page_cache_only_where_that_is_faster() {
        let read = |direct: f64| {
            found(
                large_reads,
                &engine::Engines,
                Profile::Quick,
                |point, _| match point.level(engine::THROUGH) {
                    Ok(Through::Direct) => direct,
                    _ => 4e9,
                },
            )
        };
        let faster = read(6e9).expect("told");
        assert_eq!(
            (faster.value, faster.usual),
            ("direct".into(), "page_cache".into())
        );
        assert!((faster.gain.expect("it gains").value - 1.5).abs() < 0.01);
        let slower = read(1e9).expect("told");
        assert_eq!((slower.value, slower.gain), ("page_cache".into(), None));
    }

    #[test]
    fn files_are_mapped_from_the_smallest_block_that_gains() {
        // A block of 512 KiB: 56 µs mapped, 62 µs read; one of 64 KiB: 33 against 17.
        let advice = advised(30.0, 0.05).expect("told");
        assert_eq!(
            (advice.value, advice.usual),
            ((512 * KIB).into(), "never".into())
        );
        assert!((advice.gain.expect("it gains").value - 62.4 / 56.2).abs() < 0.01);
    }

    #[test]
    fn files_are_never_mapped_where_the_largest_block_is_read_faster() {
        let advice = advised(30.0, 0.2).expect("told");
        assert_eq!((advice.value, advice.gain), ("never".into(), None));
    }
}
