//! Findings and figures of `file.sum`.

use super::{BY_CPU, METHOD, Method, STATE, State, THREADS, THROUGHPUT};
use crate::estimates::{by_ratio, found, grade, pooled, ratio, ratios, value_at};
use crate::figures::{curves, logarithmic};
use crate::file::{BLOCK_SIZE, FILE_SIZE};
use crate::judging::NEAR_BEST;
use crate::prelude::*;
use crate::subjects::WARM_READ;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    found([
        fastest(results, State::Warm),
        mapping(results),
        mapping_whole(results),
        fastest(results, State::Cold),
    ])
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut lines: Vec<&Point> = Vec::new();
    for point in results.points.iter().map(|it| &it.point) {
        if lines.iter().all(|known| others(known) != others(point)) {
            lines.push(point);
        }
    }
    let of = |metric: Metric, title: &str| {
        let series = lines.iter().filter_map(|point| {
            let label = format!("{}, {}", point.level(STATE).ok()?, manner(point)?);
            Some(results.series(&label, metric, THREADS, &others(point)))
        });
        let scale = logarithmic("bytes per second", Unit::BytesPerSecond);
        curves(metric, title, (THREADS, scale), series.collect())
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

/// All points in one state, the fastest first.
fn ranked<'r>(results: &'r Results, state: State) -> Vec<Ranked<'r>> {
    let points = results.points.iter();
    let points = points.filter(|it| it.point.level(STATE) == Ok(state));
    let mut ranked: Vec<_> = points.filter_map(Ranked::of).collect();
    ranked.sort_by(|one, other| other.throughput.centre.total_cmp(&one.throughput.centre));
    ranked
}

/// The fastest of several threads and the fastest of one. Chance decides between those that are alike.
pub(in crate::file) fn best_two<'r>(results: &'r Results, state: State) -> Option<[Ranked<'r>; 2]> {
    let ranked = ranked(results, state);
    let several = ranked.iter().find(|it| it.threads > Count(1))?;
    let one = ranked.iter().find(|it| it.threads == Count(1))?;
    Some([*several, *one])
}

/// The fewest of several threads over which no others gain more than [`NEAR_BEST`], and the fastest of one.
pub(in crate::file) fn fewest_threads<'r>(
    results: &'r Results,
    state: State,
) -> Option<[Ranked<'r>; 2]> {
    let [_, one] = best_two(results, state)?;
    let several = ranked(results, state).into_iter();
    let several = several.filter(|it| it.threads > Count(1));
    let several: Vec<_> = several.map(|it| (it, it.throughput)).collect();
    let curve = Curve::within(NEAR_BEST, &several, Better::Higher);
    let (fewest, _) = curve.good().min_by_key(|(it, _)| it.threads)?;
    Some([fewest, one])
}

fn fastest(results: &Results, state: State) -> Option<Finding> {
    let [best, best_alone] = best_two(results, state)?;
    let (several, one) = (best.throughput, best_alone.throughput);
    let gain = ratio(several, one)?;
    let (key, file, weight) = match state {
        State::Warm => ("fastest_warm", "A cached file", 0.7),
        State::Cold => ("fastest_cold", "An uncached file", 0.65),
    };
    let verdict = match gain.interval {
        Some(interval) if interval.low > 1.0 => sentence!(", {gain} as fast"),
        Some(interval) if interval.high < 1.0 => {
            sentence!(", {gain} as fast: threads do not help")
        }
        _ => return None,
    };
    let size = best_alone.result.point.level(FILE_SIZE).ok()?;
    let said = sentence!(
        "{file} of {size} is read and summed at {one} by one thread ({manner_alone}) and at {several} \
         by {threads} threads ({manner}){verdict}.",
        threads = best.threads,
        manner = best.manner()?,
        manner_alone = best_alone.manner()?,
    );
    let mut finding = Finding::new(key, said);
    if state == State::Warm {
        let manner = best_alone.manner()?;
        let conditions = format!("one thread that sums ({manner}) and a file of {size}");
        finding = finding.about(WARM_READ, one, conditions);
    }
    Some(finding.weighing(weight))
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
    let Some(most) = results
        .levels(THREADS)
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
    pooled(results.levels(THREADS).into_iter().map(of))
}

/// The throughput of a warm file that is read, by block size: a curve for each method and number of threads.
pub(in crate::file) fn warm_by_block<'r>(results: &'r Results) -> Vec<Vec<(Bytes, &'r Estimate)>> {
    let methods = [Method::Pread, Method::Seek];
    let counts = results.levels(THREADS).into_iter();
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
        "One thread sums a cached file that is mapped as a whole {gain} as fast as in mappings of \
         {block}."
    );
    Some(by_ratio("mapping_whole", said, &gain).weighing(0.4))
}

/// Reading against mapping, by one thread, in the smallest and the largest blocks.
fn mapping(results: &Results) -> Option<Finding> {
    let of = |method| by_one_thread(results, method);
    let (map, read) = (of(Method::Mmap), of(Method::Pread));
    let (&(smallest, _), &(largest, _)) = (read.first()?, read.last()?);
    let ratios = ratios(&map, &read);
    let (small, large) = (value_at(&ratios, smallest)?, value_at(&ratios, largest)?);
    let in_large = if largest > smallest {
        sentence!(" and {large} as fast in blocks of {largest}")
    } else {
        Sentence::default()
    };
    let said = sentence!(
        "One thread that sums a cached file by mmap of each block instead of pread is {small} as fast \
         in blocks of {smallest}{in_large}."
    );
    let grade = grade(&small, 1.0).max(grade(&large, 1.0));
    Some(Finding::new("mapping", said).graded(grade).weighing(0.6))
}
