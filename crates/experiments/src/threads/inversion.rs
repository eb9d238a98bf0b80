//! `threads.inversion`: whether a thread of low priority can hold up one of high priority.

use super::measure;
use crate::figures::{linear, names};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureKind, FigurePoint, Series};
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::Unit;
use instrument::results::{Estimate, PointResult, Results};
use instrument::sampler::Sampler;

/// Whether a thread of low priority can hold up one of high priority.
pub(crate) struct Inversion;

pub(super) const PROTOCOL: &str = "protocol";
pub(super) const NONE: &str = "none";
pub(super) const INHERITANCE: &str = "inheritance";
pub(super) const CEILING: &str = "ceiling";

const LOW_ENDS: &str = "low_ends";
const HIGH_BEGINS: &str = "high_begins";
const HIGH_LOCKS: &str = "high_locks";
pub(super) const HIGH_ENDS: &str = "high_ends";
const MIDDLE_BEGINS: &str = "middle_begins";
pub(super) const MIDDLE_ENDS: &str = "middle_ends";
pub(super) const MIDDLE_OVERTAKES: &str = "middle_overtakes";

/// What happens, counted from when C has the lock.
pub(super) const MOMENTS: [(&str, &str); 6] = [
    (LOW_ENDS, "C ends"),
    (HIGH_BEGINS, "A wants the lock"),
    (HIGH_LOCKS, "A has the lock"),
    (HIGH_ENDS, "A ends"),
    (MIDDLE_BEGINS, "B begins"),
    (MIDDLE_ENDS, "B ends"),
];

impl Experiment for Inversion {
    fn id(&self) -> &'static str {
        "threads.inversion"
    }

    fn definition(&self) -> Definition {
        let moments = MOMENTS
            .iter()
            .map(|(name, title)| Metric::new(name, title, Unit::Nanoseconds, Better::Lower));
        let overtakes = Metric::new(
            MIDDLE_OVERTAKES,
            "runs in which B ends before A",
            Unit::Share,
            Better::Neither,
        );
        Definition {
            id: self.id().into(),
            title: "Priority inversion".into(),
            question: "Can a thread of low priority hold up one of high priority, and what helps?"
                .into(),
            method: "Three preemptive user threads on one worker compute for as long as each \
                     other, several slices. C (GREEN, the lowest priority) takes a lock and \
                     computes inside. Then A (RED, the highest) starts, which wants the lock, and \
                     B (ORANGE), which wants nothing. Each notes the time at which it begins, has \
                     the lock and has ended; all times count from when C has the lock. The lock \
                     has no protocol, priority inheritance (who holds it has the priority of the \
                     highest who waits), or a priority ceiling (who holds it has the highest \
                     priority at once). Priorities do not fall with time."
                .into(),
            source: "Report D, section 3.4".into(),
            axes: vec![Axis::choice(PROTOCOL, "protocol")],
            metrics: moments.chain([overtakes]).collect(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, _: &Setting) -> Vec<Point> {
        [NONE, INHERITANCE, CEILING]
            .map(|protocol| Point::new().with(PROTOCOL, protocol))
            .into()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        measure::inversion(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [NONE, INHERITANCE, CEILING]
            .iter()
            .filter_map(|protocol| order(results, protocol))
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        results.points.iter().filter_map(timeline).collect()
    }
}

/// A moment at a point, if it was measured.
fn moment<'r>(result: &'r PointResult, metric: &str) -> Option<&'r Estimate> {
    result
        .estimate(metric)
        .filter(|estimate| estimate.is_sound())
}

/// The order in which the threads end.
fn order(results: &Results, protocol: &str) -> Option<Finding> {
    let result = results.at(&[(PROTOCOL, protocol.into())])?;
    let mut ends = [("A", HIGH_ENDS), ("B", MIDDLE_ENDS), ("C", LOW_ENDS)]
        .into_iter()
        .map(|(thread, metric)| Some((thread, moment(result, metric)?)))
        .collect::<Option<Vec<_>>>()?;
    ends.sort_by(|(_, one), (_, other)| one.centre.total_cmp(&other.centre));
    let apart = ends.windows(2).all(|pair| {
        let intervals = pair[0].1.interval.zip(pair[1].1.interval);
        intervals.is_some_and(|(earlier, later)| earlier.high < later.low)
    });
    let names: Vec<_> = ends.iter().map(|(thread, _)| *thread).collect();
    let remedy = match protocol {
        NONE => "Without a remedy",
        INHERITANCE => "With priority inheritance",
        _ => "With a priority ceiling",
    };
    let overtaken = ends.iter().position(|(thread, _)| *thread == "B")
        < ends.iter().position(|(thread, _)| *thread == "A");
    let meaning = if overtaken {
        "B, which wants nothing of A, holds it up"
    } else {
        "A waits for C alone"
    };
    let template = format!(
        "{remedy} the threads end in the order {}: {meaning}. A, of the highest priority, gets the \
         lock {{wait}} after it wanted it.",
        names.join(", ")
    );
    let wait = wait(result)?;
    let grade = if apart { Grade::Certain } else { Grade::Likely };
    Some(
        Finding::new(&format!("order_{protocol}"), &template)
            .given("wait", wait, Unit::Nanoseconds)
            .graded(grade)
            .weighing(if protocol == NONE { 0.6 } else { 0.55 }),
    )
}

/// How long A waits for the lock.
fn wait(result: &PointResult) -> Option<f64> {
    Some(moment(result, HIGH_LOCKS)?.centre - moment(result, HIGH_BEGINS)?.centre)
}

/// What each thread does from when to when, as the mean of all runs. One worker runs one thread at
/// a time, so that C, which holds the lock from the start, is held up while B runs.
fn timeline(result: &PointResult) -> Option<Figure> {
    let protocol = result.point.choice(PROTOCOL).ok()?;
    let at = |state: &str, metric: &str| {
        Some(FigurePoint {
            x: state.into(),
            estimate: moment(result, metric)?.clone(),
            doubtful: result.is_doubtful(metric),
        })
    };
    let lane = |label: &str, states: Option<Vec<FigurePoint>>| {
        Some(Series {
            label: label.into(),
            points: states?,
        })
    };
    let held_up = moment(result, MIDDLE_BEGINS)?.centre < moment(result, LOW_ENDS)?.centre;
    let start = FigurePoint {
        x: "runs".into(),
        estimate: Estimate {
            centre: 0.0,
            interval: None,
            raw: None,
            by_process: Vec::new(),
            ..moment(result, LOW_ENDS)?.clone()
        },
        doubtful: false,
    };
    let low = if held_up {
        vec![
            Some(start),
            at("ready", MIDDLE_BEGINS),
            at("runs", MIDDLE_ENDS),
            at("", LOW_ENDS),
        ]
    } else {
        vec![Some(start), at("", LOW_ENDS)]
    };
    let high = vec![
        at("waits for the lock", HIGH_BEGINS),
        at("runs", HIGH_LOCKS),
        at("", HIGH_ENDS),
    ];
    let middle = vec![at("runs", MIDDLE_BEGINS), at("", MIDDLE_ENDS)];
    Some(Figure {
        key: format!("timeline_{protocol}"),
        title: match protocol {
            NONE => "Without a remedy".into(),
            INHERITANCE => "With priority inheritance".into(),
            _ => "With a priority ceiling".into(),
        },
        kind: FigureKind::Timeline,
        x: names("state"),
        y: linear("time since C has the lock", Unit::Nanoseconds),
        series: vec![
            lane("C, GREEN, holds the lock", low.into_iter().collect())?,
            lane("A, RED", high.into_iter().collect())?,
            lane("B, ORANGE", middle.into_iter().collect())?,
        ],
        marks: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::{
        HIGH_BEGINS, HIGH_ENDS, HIGH_LOCKS, INHERITANCE, Inversion, LOW_ENDS, MIDDLE_BEGINS,
        MIDDLE_ENDS, NONE, PROTOCOL,
    };
    use crate::made_up::{machine, result, results};
    use instrument::experiment::Experiment;
    use instrument::figure::FigureKind;
    use instrument::finding::Grade;
    use instrument::point::Point;
    use instrument::results::PointResult;

    fn at(protocol: &str, moments: [f64; 6]) -> PointResult {
        let names = [
            LOW_ENDS,
            HIGH_BEGINS,
            HIGH_LOCKS,
            HIGH_ENDS,
            MIDDLE_BEGINS,
            MIDDLE_ENDS,
        ];
        let moments: Vec<_> = names.into_iter().zip(moments).collect();
        result(Point::new().with(PROTOCOL, protocol), &moments)
    }

    #[test]
    fn the_order_of_ending_is_found() {
        let (definition, machine) = (Inversion.definition(), machine());
        let points = vec![
            at(NONE, [2e6, 1e4, 2.1e6, 3e6, 2e4, 1e6]),
            at(INHERITANCE, [1e6, 1e4, 1.1e6, 2e6, 2.1e6, 3e6]),
        ];
        let results = results(&definition, &machine, points);
        let findings = Inversion.findings(&results);
        assert!(
            findings[0].template.contains("order B, C, A"),
            "{findings:?}"
        );
        assert!(
            findings[1].template.contains("order C, A, B"),
            "{findings:?}"
        );
        assert!(
            findings
                .iter()
                .all(|finding| finding.grade == Grade::Certain)
        );

        let figures = Inversion.figures(&results);
        assert!(
            figures
                .iter()
                .all(|figure| figure.kind == FigureKind::Timeline)
        );
        let states = |figure: usize, lane: usize| -> Vec<String> {
            let points = &figures[figure].series[lane].points;
            points.iter().map(|point| point.x.to_string()).collect()
        };
        assert_eq!(states(0, 0), ["runs", "ready", "runs", ""]);
        assert_eq!(states(1, 0), ["runs", ""]);
    }

    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    #[test]
    fn every_protocol_gives_its_order_here() {
        use crate::made_up::{measure, setting};
        use instrument::plan::Profile;
        use instrument::sample::Reading;

        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for point in Inversion.points(&setting(Profile::Quick)) {
            let (samples, _) = measure(&Inversion, &point, scratch.path()).expect("it works here");
            let overtakes = samples
                .iter()
                .filter(|sample| sample.metric == super::MIDDLE_OVERTAKES);
            let expected = f64::from(u8::from(point.choice(PROTOCOL) == Ok(NONE)));
            for sample in overtakes {
                assert_eq!(sample.reading, Reading::Value(expected), "{point}");
            }
        }
    }
}
