//! What the three passes mean.

use super::super::FILE_SIZE;
use super::super::order::CHUNK_SIZE;
use super::way::{CALLS, CALLS_SYNC, MAPPING, STDIO, STDIO_UNBUFFERED, WAYS};
use super::{FROM_STORAGE, KEPT, READ, READ_AGAIN, REWRITE, WAY};
use crate::estimates::{WithEstimate, estimated, grade, known, ratio, ratio_within};
use crate::figures::{curves, logarithmic};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

/// The chunk size at which ways are compared.
const CHUNK: u64 = 64 << 10;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let found = [
        second_reading(results),
        waiting(results),
        reading_by_mapping(results),
        buffer(results),
    ];
    found.into_iter().flatten().collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let figure = |metric: &str, title: &str| {
        let line = |way: &str| results.series(way, metric, CHUNK_SIZE, &[(WAY, way.into())]);
        let axes = (
            logarithmic("chunk size", Unit::Bytes),
            logarithmic("time for a KiB", Unit::Nanoseconds),
        );
        curves(metric, title, axes, WAYS.map(line).into(), Vec::new())
    };
    vec![
        figure(READ, "Reading a cold file"),
        figure(REWRITE, "Writing over it"),
        figure(READ_AGAIN, "Reading it again"),
    ]
}

fn at<'r>(results: &'r Results, way: &str, chunk: u64, metric: &str) -> Option<&'r Estimate> {
    let point = results.at(&[(WAY, way.into()), (CHUNK_SIZE, chunk.into())])?;
    point
        .estimate(metric)
        .filter(|estimate| estimate.is_sound())
}

/// Whether dirty pages make the second reading slower.
fn second_reading(results: &Results) -> Option<Finding> {
    let of = |metric| at(results, CALLS, CHUNK, metric);
    let (first, second) = (of(READ)?, of(READ_AGAIN)?);
    let kept = estimated(of(KEPT)?);
    let times = ratio_within(second, first)?;
    let grade = grade(&times, 1.0);
    let verdict = match (grade, times.centre > 1.0) {
        (Grade::CannotBeTold, _) => "no difference can be told",
        (_, true) => "what was written had to be put on the device first",
        (_, false) => "what was still in memory helped",
    };
    let from = match of(FROM_STORAGE) {
        Some(_) => ", and {from} came from storage",
        None => "",
    };
    let template = format!(
        "After it was written over, a file is read again in {{times}} the time of the first, cold \
         reading: {verdict}. {{kept}} of it was in memory then{from}."
    );
    let mut finding = Finding::new("second_reading", &template)
        .with("times", &times, Unit::Ratio)
        .with("kept", &kept, Unit::Share);
    if let Some(from) = of(FROM_STORAGE) {
        finding = finding.with("from", &estimated(from), Unit::Share);
    }
    Some(finding.graded(grade).weighing(0.5))
}

fn waiting(results: &Results) -> Option<Finding> {
    let plain = at(results, CALLS, CHUNK, REWRITE)?;
    let waiting = at(results, CALLS_SYNC, CHUNK, REWRITE)?;
    let mapped = at(results, MAPPING, CHUNK, REWRITE)?;
    let times = ratio(waiting, plain)?;
    let mapped_times = ratio(mapped, plain)?;
    let template = "In chunks of 64 KiB, writing takes {plain} for each KiB; with O_SYNC it takes \
                    {times} as long, and by mmap with msync {mapped}.";
    let finding = Finding::new("waiting", template)
        .with("plain", &estimated(plain), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio)
        .with("mapped", &mapped_times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.55))
}

fn reading_by_mapping(results: &Results) -> Option<Finding> {
    let levels = |way: &'static str| results.at(&[(WAY, way.into()), (CHUNK_SIZE, CHUNK.into())]);
    // Of files of different sizes, different parts lie in the caches.
    let is_same_file = levels(MAPPING)?.point.get(FILE_SIZE) == levels(CALLS)?.point.get(FILE_SIZE);
    let calls = at(results, CALLS, CHUNK, READ)?;
    let mapped = at(results, MAPPING, CHUNK, READ)?;
    let times = ratio(mapped, calls)?;
    let template = "Read cold in chunks of 64 KiB, a file takes {calls} for each KiB by read, and \
                    {times} that by mmap and a copy.";
    let finding = Finding::new("mapping", template)
        .with("calls", &estimated(calls), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    let grade = match grade(&times, 1.0) {
        Grade::Certain if !is_same_file => Grade::Likely,
        grade => grade,
    };
    Some(finding.graded(grade).weighing(0.45))
}

/// What the stream's buffer does, at the smallest chunk.
fn buffer(results: &Results) -> Option<Finding> {
    let curve = results.curve(REWRITE, CHUNK_SIZE, &[(WAY, STDIO.into())]);
    let (chunk, buffered) = *curve.first()?;
    let unbuffered = at(results, STDIO_UNBUFFERED, chunk, REWRITE)?;
    let calls = at(results, CALLS, chunk, REWRITE)?;
    let times = ratio(buffered, unbuffered)?;
    let over_calls = ratio(buffered, calls)?;
    let template = "In chunks of {chunk}, writing through a stream takes {buffered} for each KiB: \
                    {times} as long as without its buffer, {over_calls} as long as by write.";
    let finding = Finding::new("buffer", template)
        .given("chunk", chunk as f64, Unit::Bytes)
        .with("buffered", &estimated(buffered), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio)
        .with("over_calls", &over_calls, Unit::Ratio);
    Some(finding.graded(known(&[&times, &over_calls])).weighing(0.4))
}

#[cfg(test)]
mod tests {
    use super::super::{MEMORY, NOT_LIMITED, RewritePasses};
    use super::*;
    use crate::made_up::{cost_result, machine, results, value};
    use instrument::experiment::Experiment;
    use instrument::point::Point;
    use instrument::results::PointResult;

    fn costs(way: &str, read: f64, rewrite: f64, again: f64) -> PointResult {
        let point = Point::new()
            .with(WAY, way)
            .with(CHUNK_SIZE, CHUNK)
            .with(FILE_SIZE, 1 << 25)
            .with(MEMORY, NOT_LIMITED);
        let costs = [
            (READ, read, 1.0),
            (REWRITE, rewrite, 1.0),
            (READ_AGAIN, again, 1.0),
            (KEPT, 0.5, 1.0),
        ];
        cost_result(&RewritePasses, &point, &costs)
    }

    #[test]
    fn the_ways_are_compared() {
        let (definition, machine) = (RewritePasses.definition(), machine());
        let points = vec![
            costs(STDIO, 400.0, 300.0, 400.0),
            costs(STDIO_UNBUFFERED, 400.0, 200.0, 400.0),
            costs(CALLS, 400.0, 200.0, 600.0),
            costs(CALLS_SYNC, 400.0, 2000.0, 400.0),
            costs(MAPPING, 800.0, 1000.0, 400.0),
        ];
        let found = RewritePasses.findings(&results(&definition, &machine, points));
        let near = |key, name, expected: f64| {
            let value = value(&found, key, name);
            assert!(
                (value / expected - 1.0).abs() < 0.01,
                "{key} {name}: {value}"
            );
        };
        near("second_reading", "times", 1.5);
        near("waiting", "times", 10.0);
        near("waiting", "mapped", 5.0);
        near("mapping", "times", 2.0);
        near("buffer", "times", 1.5);
        assert!(found[0].template.contains("on the device first"));
        assert_eq!(
            RewritePasses.findings(&results(&definition, &machine, Vec::new())),
            []
        );
    }
}
