//! What the exchanges mean, and how they are drawn.

use super::super::placement::{ONE_CORE, PLACEMENT, TWO_CORES};
use super::mechanism::Mechanism;
use super::{BANDWIDTH, MECHANISM, MESSAGE, ROUND_TRIP};
use crate::estimates::{WithEstimate, differs_from, estimated, grade, ratio};
use crate::figures::{bars, curves, logarithmic, names};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

/// The most that counts as a short message: what an eventfd carries.
const SHORT_BYTES: u64 = 8;

/// All findings, the most telling first.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    let findings = [
        quickest_answer(results, TWO_CORES),
        quickest_answer(results, ONE_CORE),
        widest_stream(results, TWO_CORES),
        widest_stream(results, ONE_CORE),
        cores(results),
        spinning(results),
    ];
    findings.into_iter().flatten().collect()
}

/// The smallest round trips side by side, and streams by the size of their messages.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let round_trips = [ONE_CORE, TWO_CORES].map(|placement| {
        let mut line = results.series(
            placement,
            ROUND_TRIP,
            MECHANISM,
            &[(PLACEMENT, placement.into())],
        );
        // The smallest message of each means comes first.
        let mut seen = Vec::new();
        line.points.retain(|point| {
            let is_first = !seen.contains(&point.x);
            seen.push(point.x.clone());
            is_first
        });
        line
    });
    let streams = Mechanism::ALL.into_iter().flat_map(|means| {
        [ONE_CORE, TWO_CORES].map(|placement| {
            let where_ = [
                (MECHANISM, means.name().into()),
                (PLACEMENT, placement.into()),
            ];
            let label = format!("{}, {placement}", means.name());
            results.series(&label, BANDWIDTH, MESSAGE, &where_)
        })
    });
    let streams = streams.filter(|line| !line.points.is_empty()).collect();
    let round_trip_axes = (names("means"), logarithmic("round trip", Unit::Nanoseconds));
    let stream_axes = (
        logarithmic("message", Unit::Bytes),
        logarithmic("bandwidth", Unit::BytesPerSecond),
    );
    vec![
        bars(
            ROUND_TRIP,
            "A question and its answer, of a few bytes",
            round_trip_axes,
            round_trips.into(),
        ),
        curves(
            BANDWIDTH,
            "Bandwidth by the size of the messages",
            stream_axes,
            streams,
            Vec::new(),
        ),
    ]
}

/// The sound estimates of a metric, with the means and the size of the message of each.
fn of<'r>(
    results: &'r Results,
    placement: &str,
    metric: &str,
) -> Vec<(Mechanism, u64, &'r Estimate)> {
    let level = [(PLACEMENT, placement.into())];
    let points = results.points.iter().filter(|it| it.point.matches(&level));
    points
        .filter_map(|result| {
            let means = Mechanism::named(result.point.choice(MECHANISM).ok()?).ok()?;
            let estimate = result.estimate(metric).filter(|it| it.is_sound())?;
            Some((means, result.point.number(MESSAGE).ok()?, estimate))
        })
        .collect()
}

/// Round trips of messages that are no larger than the word or counter which is all that some carry.
fn short_round_trips<'r>(results: &'r Results, placement: &str) -> Vec<(Mechanism, &'r Estimate)> {
    let all = of(results, placement, ROUND_TRIP).into_iter();
    all.filter(|(_, message, _)| *message <= SHORT_BYTES)
        .map(|(means, _, estimate)| (means, estimate))
        .collect()
}

fn round_trip<'r>(results: &'r Results, means: Mechanism, placement: &str) -> Option<&'r Estimate> {
    let all = short_round_trips(results, placement);
    let found = all.into_iter().find(|(of, _)| *of == means);
    found.map(|(_, estimate)| estimate)
}

/// The means with the quickest answer, and how much slower the next is.
fn quickest_answer(results: &Results, placement: &str) -> Option<Finding> {
    let mut all = short_round_trips(results, placement);
    all.sort_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre));
    let [(first, best), (second, next), ..] = all[..] else {
        return None;
    };
    let times = ratio(next, best)?;
    let template = format!(
        "On {placement}, a short question and its answer take least by {}: {{best}}. By the next, {}, \
         they take {{next}}, {{times}} as long.",
        first.name(),
        second.name()
    );
    let finding = Finding::new(&key("quickest", placement), &template)
        .with("best", &estimated(best), Unit::Nanoseconds)
        .with("next", &estimated(next), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.6))
}

/// The means with the widest stream, and how much wider it is than the next.
fn widest_stream(results: &Results, placement: &str) -> Option<Finding> {
    let mut all = of(results, placement, BANDWIDTH);
    all.sort_by(|(.., a), (.., b)| b.centre.total_cmp(&a.centre));
    let (first, size, best) = *all.first()?;
    let (second, _, next) = *all.iter().find(|(means, ..)| *means != first)?;
    let times = ratio(best, next)?;
    let template = format!(
        "On {placement}, data flows most quickly by {}: {{best}} in messages of {{size}}, {{times}} \
         as much as by the next, {}.",
        first.name(),
        second.name()
    );
    let finding = Finding::new(&key("widest", placement), &template)
        .with("best", &estimated(best), Unit::BytesPerSecond)
        .given("size", size as f64, Unit::Bytes)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.55))
}

/// A key that is the same in every run.
fn key(of: &str, placement: &str) -> String {
    format!("{of}_{}", placement.replace(' ', "_"))
}

fn cores(results: &Results) -> Option<Finding> {
    let one = round_trip(results, Mechanism::Pipe, ONE_CORE)?;
    let two = round_trip(results, Mechanism::Pipe, TWO_CORES)?;
    let times = ratio(two, one)?;
    let template = "A question and its answer through pipes take {one} between two processes on one \
                    core and {two} on two cores, {times} as long.";
    let finding = Finding::new("cores", template)
        .with("one", &estimated(one), Unit::Nanoseconds)
        .with("two", &estimated(two), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.5))
}

/// What spinning costs where the other side needs the processor.
fn spinning(results: &Results) -> Option<Finding> {
    let spinning = round_trip(results, Mechanism::SharedMemory, ONE_CORE)?;
    let sleeping = round_trip(results, Mechanism::Futex, ONE_CORE)?;
    let times = ratio(spinning, sleeping)?;
    let template = "Who spins on a shared word while the other side needs the same core waits \
                    {spinning} for an answer, {times} as long as who sleeps (futex): spin only where \
                    each side has a core.";
    let finding = Finding::new("spinning", template)
        .with("spinning", &estimated(spinning), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    let follows = differs_from(&times, 1.0) && times.centre > 1.0;
    follows.then(|| finding.weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::super::{BANDWIDTH, Ipc, MECHANISM, MESSAGE, PLACEMENT, ROUND_TRIP};
    use crate::made_up::{costs, machine, result, results};
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::point::Point;
    use instrument::results::PointResult;

    fn point(means: &str, message: u64, placement: &str) -> Point {
        Point::new()
            .with(MECHANISM, means)
            .with(MESSAGE, message)
            .with(PLACEMENT, placement)
    }

    fn answer(means: &str, placement: &str, ns: f64) -> PointResult {
        costs(point(means, 1, placement), &[(ROUND_TRIP, ns)])
    }

    fn stream(means: &str, message: u64, rate: f64) -> PointResult {
        result(point(means, message, "two cores"), &[(BANDWIDTH, rate)])
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        let (definition, machine) = (Ipc.definition(), machine());
        Ipc.findings(&results(&definition, &machine, points))
    }

    #[test]
    fn the_quickest_means_is_named_and_told_apart_from_the_next() {
        let findings = findings(vec![
            answer("pipe", "two cores", 12_000.0),
            answer("shared memory", "two cores", 200.0),
            answer("TCP", "two cores", 30_000.0),
        ]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].key, "quickest_two_cores");
        assert!(findings[0].template.contains("by shared memory"));
        assert!(findings[0].template.contains("the next, pipe"));
        assert!((findings[0].numbers[2].value - 60.0).abs() < 0.1);
        assert_eq!(findings[0].grade, Grade::Certain);
    }

    #[test]
    fn two_that_cannot_be_told_apart_are_not() {
        let findings = findings(vec![
            answer("pipe", "one core", 3000.0),
            answer("eventfd", "one core", 3001.0),
        ]);
        assert_eq!(findings[0].grade, Grade::CannotBeTold);
    }

    #[test]
    fn the_widest_stream_is_set_against_another_means() {
        let findings = findings(vec![
            stream("pipe", 4096, 1e9),
            stream("pipe", 65536, 3e9),
            stream("Unix socket", 65536, 2e9),
        ]);
        assert!(findings[0].template.contains("by pipe"), "{findings:?}");
        assert!((findings[0].numbers[2].value - 1.5).abs() < 0.01);
    }

    #[test]
    fn spinning_on_one_core_is_advised_against() {
        let findings = findings(vec![
            answer("futex", "one core", 3000.0),
            answer("shared memory", "one core", 6e6),
        ]);
        assert!(findings.iter().any(|finding| finding.key == "spinning"));
    }

    #[test]
    fn figures_leave_out_what_was_not_measured() {
        let (definition, machine) = (Ipc.definition(), machine());
        let points = vec![stream("pipe", 4096, 1e9), answer("pipe", "one core", 3e3)];
        let figures = Ipc.figures(&results(&definition, &machine, points));
        assert_eq!(figures[0].series[0].points.len(), 1);
        assert_eq!(figures[1].series.len(), 1);
    }
}
