//! `threads.inversion`: a thread of low priority holds up one of high priority, and the remedies.

use super::kind::UserThreads;
use crate::estimates::certain_if;
use crate::figures::{linear, names};
use crate::prelude::*;
use instrument::figure::{FigureKind, FigurePoint, Series};

pub(crate) struct Inversion;

pub(super) const PROTOCOL: AxisOf<Protocol> = AxisOf::new("protocol", "protocol");

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    None,
    Inheritance,
    Ceiling,
    Decay,
    DecayShort,
}

// Times since C has the lock.
pub(super) const LOW_ENDS: Metric = Metric::time("low_ends", "C ends");
pub(super) const HIGH_BEGINS: Metric = Metric::time("high_begins", "A wants the lock");
pub(super) const HIGH_LOCKS: Metric = Metric::time("high_locks", "A has the lock");
pub(super) const HIGH_ENDS: Metric = Metric::time("high_ends", "A ends");
pub(super) const MIDDLE_BEGINS: Metric = Metric::time("middle_begins", "B begins");
pub(super) const MIDDLE_ENDS: Metric = Metric::time("middle_ends", "B ends");

pub(super) const MIDDLE_OVERTAKES: Metric = Metric::fact(
    "middle_overtakes",
    "runs in which B ends before A",
    Unit::Share,
);

const DESIGN: Design = Design {
    id: "threads.inversion",
    title: "Priority inversion",
    question: "Can a thread of low priority hold up one of high priority, and what helps?",
    method: "Three preemptive user threads on one worker compute equally long, several slices \
             each. C (GREEN, the lowest priority) takes a lock and computes inside. Then A (RED, \
             the highest) starts and wants the lock, and B (ORANGE) starts and wants nothing. \
             Each thread records when it begins, when it has the lock and when it has ended. All \
             times count from the moment at which C has the lock. The lock has no protocol, \
             priority inheritance (the owner runs at the priority of the highest waiting thread), \
             or a priority ceiling (the owner runs at the highest priority at once). decay: the \
             lock has no protocol, and each tick takes one priority level from the running thread, \
             unless it holds the lock. This is what the report calls a priority ceiling. decay short: \
             the same, and C computes for less than two slices. With the other protocols, priorities \
             do not decay.",
    source: "Report D, Priority Inversion",
    axes: &[PROTOCOL.axis()],
    metrics: &[
        LOW_ENDS,
        HIGH_BEGINS,
        HIGH_LOCKS,
        HIGH_ENDS,
        MIDDLE_BEGINS,
        MIDDLE_ENDS,
        MIDDLE_OVERTAKES,
    ],
};

impl Experiment for Inversion {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, _: &Setting) -> Vec<Point> {
        [Point::new()].by(PROTOCOL, Protocol::ALL)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let order = |protocol: &Protocol| order(results, *protocol);
        Protocol::ALL.iter().filter_map(order).collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        results.points.iter().filter_map(timeline).collect()
    }
}

impl Protocol {
    /// True if each tick takes a priority level from the running thread.
    pub(super) fn decays(self) -> bool {
        matches!(self, Self::Decay | Self::DecayShort)
    }

    /// The beginning of a sentence, and the title of a figure.
    fn remedy(self) -> &'static str {
        match self {
            Self::None => "Without a remedy",
            Self::Inheritance => "With priority inheritance",
            Self::Ceiling => "With a priority ceiling",
            Self::Decay => "With priorities that decay",
            Self::DecayShort => "With priorities that decay and a short section",
        }
    }
}

fn order(results: &Results, protocol: Protocol) -> Option<Finding> {
    let result = results.at(&[PROTOCOL.at(protocol)])?;
    let mut ends = [("A", HIGH_ENDS), ("B", MIDDLE_ENDS), ("C", LOW_ENDS)]
        .into_iter()
        .map(|(thread, metric)| Some((thread, result.sound(metric)?)))
        .collect::<Option<Vec<_>>>()?;
    ends.sort_by(|(_, one), (_, other)| one.centre.total_cmp(&other.centre));
    let apart = ends.windows(2).all(|pair| {
        let intervals = pair[0].1.interval.zip(pair[1].1.interval);
        intervals.is_some_and(|(earlier, later)| earlier.high < later.low)
    });
    let names: Vec<_> = ends.iter().map(|(thread, _)| *thread).collect();
    let place = |wanted| names.iter().position(|thread| *thread == wanted);
    let meaning = match (protocol.decays(), place("B") < place("A")) {
        (false, true) => "B of middle priority, which does not want the lock, delays both",
        (false, false) => "it waits for C alone",
        (true, true) => "B and C take turns until B ends, and A waits for both",
        (true, false) => "B and C take turns until C leaves the lock",
    };
    let said = sentence!(
        "{remedy}, thread A of the highest priority waits {wait} for the lock that C of the lowest priority \
         has: {meaning} (they end in the order {order}).",
        remedy = protocol.remedy(),
        order = names.join(", "),
        wait = wait(result)?,
    );
    let grade = certain_if(apart);
    let finding = Finding::new(&format!("order_{protocol}"), said);
    Some(finding.graded(grade).weighing(0.2))
}

fn wait(result: &PointResult) -> Option<Quantity> {
    let wait_ns = result.sound(HIGH_LOCKS)?.centre - result.sound(HIGH_BEGINS)?.centre;
    Some(Quantity::nanoseconds(wait_ns))
}

/// The states of each thread, as the mean of all runs. One worker runs one thread at a time.
fn timeline(result: &PointResult) -> Option<Figure> {
    let protocol = result.point.level(PROTOCOL).ok()?;
    let at = |state: &str, metric: Metric| {
        Some(FigurePoint {
            x: state.into(),
            estimate: result.sound(metric)?.clone(),
            doubtful: result.is_doubtful(metric.name),
        })
    };
    let lane = |label: &str, states: Vec<Option<FigurePoint>>| {
        Some(Series {
            label: label.into(),
            points: states.into_iter().collect::<Option<_>>()?,
        })
    };
    let start = FigurePoint {
        x: "runs".into(),
        estimate: Estimate {
            centre: 0.0,
            interval: None,
            raw: None,
            by_process: Vec::new(),
            ..result.sound(LOW_ENDS)?.clone()
        },
        doubtful: false,
    };
    let moment = |metric| Some(result.sound(metric)?.centre);
    let low_ends = moment(LOW_ENDS)?;
    let held_up = moment(MIDDLE_BEGINS)? < low_ends;
    let middle_ends_first = moment(MIDDLE_ENDS)? < low_ends;
    // C holds the lock from the start. B holds it up, whole or in turns.
    let next_to_middle = if protocol.decays() {
        "takes turns"
    } else {
        "ready"
    };
    let mut low = vec![Some(start)];
    if held_up {
        low.push(at(next_to_middle, MIDDLE_BEGINS));
    }
    if held_up && middle_ends_first {
        low.push(at("runs", MIDDLE_ENDS));
    }
    low.push(at("", LOW_ENDS));
    let high = vec![
        at("waits for the lock", HIGH_BEGINS),
        at("runs", HIGH_LOCKS),
        at("", HIGH_ENDS),
    ];
    let middle = match (protocol.decays(), middle_ends_first) {
        (true, true) => vec![at("takes turns", MIDDLE_BEGINS)],
        // A, of a higher priority, runs from the end of C on.
        (true, false) => vec![
            at("takes turns", MIDDLE_BEGINS),
            at("ready", HIGH_LOCKS),
            at("runs", HIGH_ENDS),
        ],
        (false, _) => vec![at("runs", MIDDLE_BEGINS)],
    };
    let middle = middle.into_iter().chain([at("", MIDDLE_ENDS)]).collect();
    Some(Figure {
        key: format!("timeline_{protocol}"),
        title: protocol.remedy().into(),
        kind: FigureKind::Timeline,
        x: names("state"),
        y: linear("time since C has the lock", Unit::Nanoseconds),
        series: vec![
            lane("C, GREEN, holds the lock", low)?,
            lane("A, RED", high)?,
            lane("B, ORANGE", middle)?,
        ],
        marks: Vec::new(),
    })
}
