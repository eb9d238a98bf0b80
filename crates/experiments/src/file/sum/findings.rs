//! What the sums of a file mean.

use super::{BLOCK_SIZE, BY_CPU, COLD, FILE_SIZE, METHOD, STATE, THREADS, THROUGHPUT, WARM};
use crate::estimates::{WithEstimate, differs_from, estimated, grade, ratio, side_by_side};
use crate::figures::{curves, logarithmic};
use files::Method;
use instrument::figure::{Figure, Series};
use instrument::finding::Finding;
use instrument::point::{Level, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, PointResult, Results};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    [
        fastest(results, WARM),
        what_clock_says(results),
        mapping(results),
        fastest(results, COLD),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let of = |metric: &str, title: &str| {
        let mut series: Vec<Series> = Vec::new();
        for result in &results.points {
            let levels = of_line(&result.point);
            let label = label(&levels);
            if series.iter().all(|line| line.label != label) {
                series.push(results.series(&label, metric, THREADS, &levels));
            }
        }
        let axes = (
            logarithmic("threads", Unit::Count),
            logarithmic("bytes per second", Unit::BytesPerSecond),
        );
        curves(metric, title, axes, series, Vec::new())
    };
    vec![
        of(THROUGHPUT, "Bytes over wall time"),
        of(BY_CPU, "Bytes over processor time, which is no speed"),
    ]
}

/// All levels but the threads.
fn of_line(point: &Point) -> Vec<(&str, Level)> {
    let levels = point.levels().filter(|(axis, _)| *axis != THREADS);
    levels.map(|(axis, level)| (axis, level.clone())).collect()
}

fn label(levels: &[(&str, Level)]) -> String {
    let shown = levels.iter().filter(|(axis, _)| *axis != FILE_SIZE);
    let shown = shown.map(|(axis, level)| match level.number() {
        Some(bytes) if *axis == BLOCK_SIZE => Bytes(bytes).to_string(),
        _ => level.to_string(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The sound points of a state, the fastest first.
fn ranked<'r>(results: &'r Results, state: &str) -> Vec<(&'r PointResult, f64)> {
    let levels = [(STATE, state.into())];
    let points = results
        .points
        .iter()
        .filter(|result| result.point.matches(&levels));
    let mut ranked: Vec<_> = points
        .filter_map(|result| {
            let throughput = result.estimate(THROUGHPUT)?;
            throughput.is_sound().then_some((result, throughput.centre))
        })
        .collect();
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    ranked
}

fn threads(result: &PointResult) -> u64 {
    result.point.number(THREADS).unwrap_or(1)
}

/// The fastest of several threads and the fastest of one.
pub(in crate::file) fn best_two<'r>(
    results: &'r Results,
    state: &str,
) -> Option<[&'r PointResult; 2]> {
    let ranked = ranked(results, state);
    let several = ranked.iter().find(|(result, _)| threads(result) > 1)?;
    let one = ranked.iter().find(|(result, _)| threads(result) == 1)?;
    Some([several.0, one.0])
}

fn fastest(results: &Results, state: &str) -> Option<Finding> {
    let [several, one] = best_two(results, state)?;
    let throughput = |result: &'_ PointResult| result.estimate(THROUGHPUT).map(estimated);
    let gain = ratio(several.estimate(THROUGHPUT)?, one.estimate(THROUGHPUT)?)?;
    let how = |result: &PointResult| label(&of_line(&result.point)[1..]);
    let (key, what) = match state {
        WARM => ("fastest_warm", "A file in the page cache"),
        _ => ("fastest_cold", "A file that is not in the page cache"),
    };
    let verdict = match gain.interval {
        Some(interval) if interval.low > 1.0 => "threads help",
        Some(interval) if interval.high < 1.0 => "threads do not help",
        _ => "whether threads help cannot be told",
    };
    let template = format!(
        "{what} is summed at {{several}} by {{threads}} threads ({}) and at {{one}} by a single \
         one ({}): {{gain}} as fast by wall time, so {verdict} here.",
        how(several),
        how(one)
    );
    let finding = Finding::new(key, &template)
        .with("several", &throughput(several)?, Unit::BytesPerSecond)
        .with("one", &throughput(one)?, Unit::BytesPerSecond)
        .with("gain", &gain, Unit::Ratio)
        .given("threads", threads(several) as f64, Unit::Count);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.8))
}

/// What a program makes of the same runs that takes processor time for the time.
fn what_clock_says(results: &Results) -> Option<Finding> {
    let [several, _] = best_two(results, WARM)?;
    let mut levels = of_line(&several.point);
    levels.push((THREADS, 1.into()));
    let one = results.at(&levels)?;
    let by_wall = ratio(several.estimate(THROUGHPUT)?, one.estimate(THROUGHPUT)?)?;
    let by_cpu = ratio(several.estimate(BY_CPU)?, one.estimate(BY_CPU)?)?;
    let gains = by_wall.interval.map(|interval| interval.low > 1.0);
    let seems_to_gain = by_cpu.interval.map(|interval| interval.low > 1.0);
    let verdict = match (gains, seems_to_gain) {
        _ if !differs_from(&by_wall, 1.0) => "and whether threads help by wall time is not decided",
        (Some(true), Some(false)) => {
            "so a report that takes the one for the other finds that threads do not help, and one \
             that looks at a clock on the wall that they do"
        }
        _ => "and here both say the same of threads",
    };
    let template = format!(
        "Processor time adds up over threads and is no time to divide by: {{threads}} threads sum a \
         file {{by_wall}} as fast as one that works in the same way by wall time, and {{by_cpu}} as \
         fast by processor time, {verdict}."
    );
    let finding = Finding::new("wall_and_cpu", &template)
        .with("by_wall", &by_wall, Unit::Ratio)
        .with("by_cpu", &by_cpu, Unit::Ratio)
        .given("threads", threads(several) as f64, Unit::Count);
    Some(finding.graded(grade(&by_wall, 1.0)).weighing(0.4))
}

/// What one thread sums of a warm file, by block size.
pub(in crate::file) fn by_one_thread<'r>(
    results: &'r Results,
    method: Method,
) -> Vec<(u64, &'r Estimate)> {
    let levels = [
        (STATE, WARM.into()),
        (METHOD, method.name().into()),
        (THREADS, 1.into()),
    ];
    results.curve(THROUGHPUT, BLOCK_SIZE, &levels)
}

/// What one thread reads and maps in the smallest blocks that were measured both ways.
pub(in crate::file) fn by_smallest_blocks<'r>(results: &'r Results) -> Option<[&'r Estimate; 2]> {
    let of = |method| by_one_thread(results, method);
    let both = side_by_side(&of(Method::Pread), &of(Method::Mmap));
    let (_, read, mapped) = both.first()?;
    Some([read, mapped])
}

/// Reading against mapping, by one thread, in the smallest and the largest blocks.
fn mapping(results: &Results) -> Option<Finding> {
    let read = by_one_thread(results, Method::Pread);
    let map = by_one_thread(results, Method::Mmap);
    let at = |size: u64| {
        let of = |curve: &[(u64, _)]| curve.iter().position(|(other, _)| *other == size);
        ratio(map[of(&map)?].1, read[of(&read)?].1)
    };
    let (smallest, largest) = (read.first()?.0, read.last()?.0);
    let (small, large) = (at(smallest)?, at(largest)?);
    let template = "Mapping each block instead of reading it goes {small} as fast in blocks of \
                    {smallest} and {large} as fast in blocks of {largest}, by one thread.";
    let finding = Finding::new("mapping", template)
        .with("small", &small, Unit::Ratio)
        .with("large", &large, Unit::Ratio)
        .given("smallest", smallest as f64, Unit::Bytes)
        .given("largest", largest as f64, Unit::Bytes);
    let grade = grade(&small, 1.0).max(grade(&large, 1.0));
    Some(finding.graded(grade).weighing(0.6))
}
