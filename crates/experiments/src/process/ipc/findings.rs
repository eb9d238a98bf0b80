//! Findings and figures of `process.ipc`.

use super::{BANDWIDTH, MECHANISM, MESSAGE, Mechanism, ROUND_TRIP};
use crate::estimates::{found, grade, ratio};
use crate::figures::{bars, curves};
use crate::prelude::*;
use crate::process::{PLACEMENT, Placement};
use crate::subjects;

/// The largest short message: what an eventfd carries.
const SHORT: Bytes = Bytes(8);

/// All findings, the most important first.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    found([
        quickest_answer(results, Placement::TwoCores),
        quickest_answer(results, Placement::OneCore),
        widest_stream(results, Placement::TwoCores),
        widest_stream(results, Placement::OneCore),
        spinning(results),
    ])
}

/// The smallest round trips side by side, and streams by the size of their messages.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let round_trips = Placement::ALL.iter().map(|placement| {
        let levels = [PLACEMENT.at(*placement)];
        let mut line = results.series(placement.name(), ROUND_TRIP, MECHANISM, &levels);
        // The smallest message of each means comes first.
        let mut seen = Vec::new();
        line.points.retain(|point| {
            let is_first = !seen.contains(&point.x);
            seen.push(point.x.clone());
            is_first
        });
        line
    });
    let streams = Mechanism::ALL.iter().flat_map(|means| {
        Placement::ALL.iter().map(move |placement| {
            let levels = [MECHANISM.at(*means), PLACEMENT.at(*placement)];
            results.series(
                &format!("{means}, {placement}"),
                BANDWIDTH,
                MESSAGE,
                &levels,
            )
        })
    });
    let streams = streams.filter(|line| !line.points.is_empty()).collect();
    vec![
        bars(
            ROUND_TRIP,
            "Round trip of a short message",
            (MECHANISM, ROUND_TRIP),
            round_trips.collect(),
        ),
        curves(
            BANDWIDTH,
            "Bandwidth by message size",
            (MESSAGE, BANDWIDTH),
            streams,
        ),
    ]
}

/// The sound estimates of a metric by the size of the message.
pub(in crate::process) fn by_message<'r>(
    results: &'r Results,
    metric: Metric,
    means: Mechanism,
    placement: Placement,
) -> Vec<(Bytes, &'r Estimate)> {
    let levels = [MECHANISM.at(means), PLACEMENT.at(placement)];
    results.along(MESSAGE, metric, &levels)
}

/// The round trip of the smallest message, which is no larger than the word or counter that some
/// means carry.
pub(in crate::process) fn round_trip<'r>(
    results: &'r Results,
    means: Mechanism,
    placement: Placement,
) -> Option<&'r Estimate> {
    let (message, estimate) = *by_message(results, ROUND_TRIP, means, placement).first()?;
    (message <= SHORT).then_some(estimate)
}

/// The means with the quickest answer, and the ratio to the next.
fn quickest_answer(results: &Results, placement: Placement) -> Option<Finding> {
    let means = Mechanism::ALL.iter();
    let answer = |means: &Mechanism| Some((*means, round_trip(results, *means, placement)?));
    let mut all: Vec<_> = means.filter_map(answer).collect();
    all.sort_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre));
    let [(first, best), (second, next), ..] = all[..] else {
        return None;
    };
    let times = ratio(next, best)?;
    let [placed, one, other] = [placement.name(), first.name(), second.name()];
    let said = if times.differs_from(1.0) || times.interval.is_none() {
        sentence!(
            "Between two processes on {placed}, the round trip of a short message is shortest by {one}: \
             {best}. The next, {other}, takes {times} as long."
        )
    } else {
        sentence!(
            "Between two processes on {placed}, the round trip of a short message is shortest by {one} \
             and {other}: {best} and {next}."
        )
    };
    let conditions = conditions(first, placement);
    let finding = Finding::new(&key("quickest", placement), said)
        .with_number("times", times)
        .about(subjects::ROUND_TRIP, best, conditions);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.6))
}

/// All that a round trip depends on.
fn conditions(means: Mechanism, placement: Placement) -> String {
    format!("{} on {}", means.name(), placement.name())
}

/// The means with the widest stream, and the ratio to the next.
fn widest_stream(results: &Results, placement: Placement) -> Option<Finding> {
    let means = Mechanism::ALL.iter();
    let streams = means.flat_map(|means| {
        let streams = by_message(results, BANDWIDTH, *means, placement).into_iter();
        streams.map(|(size, stream)| (*means, size, stream))
    });
    let mut all: Vec<_> = streams.collect();
    all.sort_by(|(.., a), (.., b)| b.centre.total_cmp(&a.centre));
    let (first, size, best) = *all.first()?;
    let (second, _, next) = *all.iter().find(|(means, ..)| *means != first)?;
    let times = ratio(best, next)?;
    let [placed, one, other] = [placement.name(), first.name(), second.name()];
    let said = if times.differs_from(1.0) || times.interval.is_none() {
        sentence!(
            "Between two processes on {placed}, {one} has the highest bandwidth: {best} in messages of \
             {size}, {times} that of the next, {other}."
        )
    } else {
        sentence!(
            "Between two processes on {placed}, {one} and {other} have the highest bandwidth: {best} \
             and {next}."
        )
    };
    let finding = Finding::new(&key("widest", placement), said).with_number("times", times);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.55))
}

/// A key that is the same in every run.
fn key(of: &str, placement: Placement) -> String {
    format!("{of}_{}", placement.name().replace(' ', "_"))
}

/// The cost of spinning where the other side needs the processor.
fn spinning(results: &Results) -> Option<Finding> {
    let spinning = round_trip(results, Mechanism::SharedMemory, Placement::OneCore)?;
    let sleeping = round_trip(results, Mechanism::Futex, Placement::OneCore)?;
    let times = ratio(spinning, sleeping)?;
    let said = sentence!(
        "A process that spins for an answer from a process on the same core waits {spinning}, {times} \
         as long as with a futex: spin only if each has its own core."
    );
    let follows = times.differs_from(1.0) && times.value > 1.0;
    follows.then(|| Finding::new("spinning", said).weighing(0.65))
}
