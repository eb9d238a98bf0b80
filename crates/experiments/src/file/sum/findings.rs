//! Findings and figures of `file.sum`.

use super::{BY_CPU, METHOD, Method, STATE, State, THREADS, THROUGHPUT};
use crate::estimates::{grade, pooled, ratio, ratios};
use crate::figures::{axis_of, curves, logarithmic};
use crate::file::{BLOCK_SIZE, FILE_SIZE, ratios_at_ends};
use crate::prelude::*;
use crate::subjects::WARM_READ;
use instrument::point::Level;
use instrument::results::PointResult;
use std::collections::BTreeSet;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    [
        fastest(results, State::Warm),
        by_both_clocks(results),
        mapping(results),
        mapping_whole(results),
        fastest(results, State::Cold),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut lines: Vec<&Point> = Vec::new();
    for point in results.points.iter().map(|it| &it.point) {
        if lines.iter().all(|known| others(known) != others(point)) {
            lines.push(point);
        }
    }
    let of = |metric: Metric<&'static str>, title: &str| {
        let series = lines.iter().filter_map(|point| {
            let label = format!("{}, {}", point.level(STATE).ok()?, manner(point)?);
            Some(results.series(&label, metric, THREADS, &others(point)))
        });
        let axes = (
            axis_of(THREADS),
            logarithmic("bytes per second", Unit::BytesPerSecond),
        );
        curves(metric, title, axes, series.collect(), Vec::new())
    };
    vec![
        of(THROUGHPUT, "Bytes over wall time"),
        of(BY_CPU, "Bytes over processor time, which is no speed"),
    ]
}

/// All levels of a point but the threads.
fn others(point: &Point) -> Vec<(&str, Level)> {
    let others = point.levels().filter(|(axis, _)| *axis != THREADS.name());
    others.map(|(axis, level)| (axis, level.clone())).collect()
}

/// The method and the blocks of a point, for readers.
fn manner(point: &Point) -> Option<String> {
    let (method, block) = (point.level(METHOD).ok()?, point.level(BLOCK_SIZE).ok()?);
    Some(format!("{method}, {block}"))
}

/// A point with its throughput, for comparisons.
#[derive(Clone, Copy)]
pub(in crate::file) struct Ranked<'r> {
    result: &'r PointResult,
    pub(in crate::file) threads: Count,
    pub(in crate::file) throughput: &'r Estimate,
}

impl<'r> Ranked<'r> {
    fn of(result: &'r PointResult) -> Option<Self> {
        Some(Self {
            result,
            threads: result.point.level(THREADS).ok()?,
            throughput: result.sound(THROUGHPUT)?,
        })
    }

    fn manner(self) -> Option<String> {
        manner(&self.result.point)
    }
}

/// The fastest of several threads and the fastest of one.
pub(in crate::file) fn best_two<'r>(results: &'r Results, state: State) -> Option<[Ranked<'r>; 2]> {
    let points = results.points.iter();
    let points = points.filter(|it| it.point.level(STATE) == Ok(state));
    let mut ranked: Vec<_> = points.filter_map(Ranked::of).collect();
    ranked.sort_by(|one, other| other.throughput.centre.total_cmp(&one.throughput.centre));
    let several = ranked.iter().find(|it| it.threads > Count(1))?;
    let one = ranked.iter().find(|it| it.threads == Count(1))?;
    Some([*several, *one])
}

fn fastest(results: &Results, state: State) -> Option<Finding> {
    let [best, best_alone] = best_two(results, state)?;
    let (several, one) = (best.throughput, best_alone.throughput);
    let gain = ratio(several, one)?;
    let (key, file) = match state {
        State::Warm => ("fastest_warm", "A file in the page cache"),
        State::Cold => ("fastest_cold", "A file that is not in the page cache"),
    };
    let verdict = match gain.interval {
        Some(interval) if interval.low > 1.0 => "threads help here",
        Some(interval) if interval.high < 1.0 => "threads do not help here",
        _ => "the measurement does not decide if threads help here",
    };
    let said = sentence!(
        "{file} is summed at {several} by {threads} threads ({manner}) and at {one} by a single \
         one ({manner_alone}): {gain} as fast by wall time, so {verdict}.",
        threads = best.threads,
        manner = best.manner()?,
        manner_alone = best_alone.manner()?,
    );
    let mut finding = Finding::new(key, said).graded(grade(&gain, 1.0));
    if state == State::Warm {
        let file = best_alone.result.point.level(FILE_SIZE).ok()?;
        let manner = best_alone.manner()?;
        let conditions = format!("one thread that sums ({manner}) and a file of {file}");
        finding = finding.about(WARM_READ, one, conditions);
    }
    Some(finding.weighing(0.8))
}

/// The gain from threads as a program sees it that divides by processor time.
fn by_both_clocks(results: &Results) -> Option<Finding> {
    let [several, _] = best_two(results, State::Warm)?;
    let by_one = several.result.point.clone().at(THREADS, Count(1));
    let one = results.points.iter().find(|it| it.point == by_one)?;
    let by_wall = ratio(several.throughput, one.estimate(THROUGHPUT)?)?;
    let by_cpu = ratio(several.result.estimate(BY_CPU)?, one.estimate(BY_CPU)?)?;
    let gains = by_wall.interval.map(|interval| interval.low > 1.0);
    let seems_to_gain = by_cpu.interval.map(|interval| interval.low > 1.0);
    let verdict = match (gains, seems_to_gain) {
        _ if !by_wall.differs_from(1.0) => "and by wall time it is not decided if threads help",
        (Some(true), Some(false)) => {
            "so a report by processor time finds that threads do not help, and one by wall time \
             that they do"
        }
        (Some(false), Some(true)) => {
            "so a report by processor time finds that threads help, and one by wall time that they \
             do not"
        }
        (Some(_), Some(_)) => "and both say the same of threads here",
        _ => "and whether threads help by processor time is not decided",
    };
    let said = sentence!(
        "By wall time, {threads} threads sum a file {by_wall} as fast as one does in the same \
         way. By processor time, which adds up over threads and is no elapsed time, they sum it \
         {by_cpu} as fast, {verdict}.",
        threads = several.threads,
    );
    let finding = Finding::new("wall_and_cpu", said).graded(grade(&by_wall, 1.0));
    Some(finding.weighing(0.4))
}

/// Throughput of one thread on a warm file, by block size.
pub(in crate::file) fn by_one_thread<'r>(
    results: &'r Results,
    method: Method,
) -> Vec<(Bytes, &'r Estimate)> {
    by_block(results, State::Warm, (method, Count(1)))
}

/// The throughput of one thread over that of the most threads that were measured, by block size, on a warm
/// file by pread.
pub(in crate::file) fn one_over_most_threads(results: &Results) -> Vec<(Bytes, Quantity)> {
    let Some(most) = counts(results)
        .last()
        .filter(|most| **most > Count(1))
        .copied()
    else {
        return Vec::new();
    };
    let by_most = by_block(results, State::Warm, (Method::Pread, most));
    ratios(&by_one_thread(results, Method::Pread), &by_most)
}

/// Throughput by block size for a method and a number of threads.
fn by_block<'r>(
    results: &'r Results,
    state: State,
    (method, threads): (Method, Count),
) -> Vec<(Bytes, &'r Estimate)> {
    let levels = [STATE.at(state), METHOD.at(method), THREADS.at(threads)];
    results.along(BLOCK_SIZE, THROUGHPUT, &levels)
}

/// The numbers of threads that were measured.
fn counts(results: &Results) -> BTreeSet<Count> {
    let points = results.points.iter();
    let counts = points.filter_map(|it| it.point.level(THREADS).ok());
    counts.collect()
}

/// The throughput by one method over that of as many threads by the other, by block size.
pub(in crate::file) fn over(
    results: &Results,
    state: State,
    methods: [Method; 2],
) -> Vec<(Bytes, Quantity)> {
    let of = |threads| {
        let [one, other] = methods.map(|method| by_block(results, state, (method, threads)));
        ratios(&one, &other)
    };
    pooled(counts(results).into_iter().map(of))
}

/// The throughput of a warm file that is read, by block size: a curve for each method and number of threads.
pub(in crate::file) fn warm_by_block<'r>(results: &'r Results) -> Vec<Vec<(Bytes, &'r Estimate)>> {
    let methods = [Method::Pread, Method::Seek];
    let counts = counts(results).into_iter();
    let manners = counts.flat_map(|threads| methods.map(|method| (method, threads)));
    let curves = manners.map(|manner| by_block(results, State::Warm, manner));
    curves.collect()
}

/// A file mapped as a whole and in the smallest blocks, by one thread, with the blocks.
pub(in crate::file) fn whole_and_small<'r>(
    results: &'r Results,
) -> Option<[(Bytes, &'r Estimate); 2]> {
    let curve = by_one_thread(results, Method::Mmap);
    let whole = *curve.last()?;
    let levels = [
        STATE.at(State::Warm),
        METHOD.at(Method::Mmap),
        BLOCK_SIZE.at(whole.0),
    ];
    let is_whole = results.at(&levels)?.point.level(FILE_SIZE) == Ok(whole.0);
    (is_whole && curve.len() > 1).then_some([whole, curve[0]])
}

/// One mapping of the whole file against many small ones.
fn mapping_whole(results: &Results) -> Option<Finding> {
    let [(_, whole), (block, small)] = whole_and_small(results)?;
    let gain = ratio(whole, small)?;
    let said = sentence!(
        "Mapped as a whole, a file is summed {gain} as fast as in mappings of {block}, by one thread."
    );
    let finding = Finding::new("mapping_whole", said).graded(grade(&gain, 1.0));
    Some(finding.weighing(0.4))
}

/// Reading against mapping, by one thread, in the smallest and the largest blocks.
fn mapping(results: &Results) -> Option<Finding> {
    let of = |method| by_one_thread(results, method);
    let (map, read) = (of(Method::Mmap), of(Method::Pread));
    let [(smallest, small), (largest, large)] = ratios_at_ends(&map, &read, &read)?;
    let said = sentence!(
        "Mapping each block instead of reading it is {small} as fast in blocks of {smallest} and \
         {large} as fast in blocks of {largest}, by one thread."
    );
    let grade = grade(&small, 1.0).max(grade(&large, 1.0));
    Some(Finding::new("mapping", said).graded(grade).weighing(0.6))
}
