//! Brings the sessions of one machine to one clock, so that its steps are no differences.

use super::row::Row;
use super::sessions::Sessions;
use super::{Question, Side, Verdict};
use crate::show::gigahertz;
use instrument::experiment::Metric;
use instrument::quantity::Unit;
use instrument::run_clock::RunClock;
use instrument::statistics::summary::median;
use record::Run;
use std::collections::BTreeSet;

/// Clocks within this share of each other are alike: the reference loops do not distinguish them.
const ALIKE: f64 = 0.01;

/// The clock of each session, and the highest of all.
#[derive(Clone, Debug)]
pub(super) struct OneClock {
    /// In Hz.
    pub hz: f64,
    /// The highest clock that each session of A, of B and of the baseline sustained, in Hz.
    pub of_sessions: [Vec<f64>; 3],
}

/// The growth with the duration of a cycle of costs whose own sessions do not show it: the least and the
/// most that a cost can have.
pub(super) const UNKNOWN_SLOPES: [f64; 2] = [0.0, 1.0];

impl OneClock {
    /// `None` if the clocks are alike or one is not known, and for different machines, whose clock is part
    /// of what differs.
    pub fn of(question: &Question<'_>) -> Option<Self> {
        let sides = [Some(question.a), Some(question.b), question.baseline];
        let known = || sides.into_iter().flatten();
        let machines: BTreeSet<&str> = known().flat_map(Side::machines).collect();
        if machines.len() > 1 || known().any(Side::is_reported) {
            return None;
        }
        let clocks = |side: Option<&Side>| -> Option<Vec<f64>> {
            let runs = side.map_or(&[][..], |side| &side.runs);
            runs.iter().map(highest_hz).collect()
        };
        let [a, b, baseline] = sides.map(clocks);
        let of_sessions = [a?, b?, baseline?];
        let all = || of_sessions.iter().flatten().copied();
        let hz = all().reduce(f64::max)?;
        let lowest = all().reduce(f64::min)?;
        (hz > lowest * (1.0 + ALIKE)).then_some(Self { hz, of_sessions })
    }

    /// Brings the sessions to this clock by the growth that they show, or by `unknown_slope`.
    pub fn bring(&self, sides: [&mut Sessions; 3], metric: &Metric, unknown_slope: f64) {
        let slopes = sides
            .iter()
            .flat_map(|side| side.clock_slopes.iter().flatten());
        let slopes: Vec<f64> = slopes.copied().collect();
        let slope = median(&slopes).unwrap_or(unknown_slope);
        for side in sides {
            let gains: Vec<f64> = (side.clocks_hz.iter().flatten())
                .map(|hz| slope * (self.hz / hz).ln())
                .collect();
            side.improve(&gains, metric.better);
        }
    }

    /// The sentence on the clocks for readers. `before` are the rows as measured, `after` those at one clock.
    pub fn text(&self, before: &[Row<'_>], after: &[Row<'_>]) -> String {
        let [a, b, _] = &self.of_sessions;
        let clocks = match (median(a), median(b)) {
            (Some(a), Some(b)) if a > b * (1.0 + ALIKE) => faster("A", "B", a, b),
            (Some(a), Some(b)) if b > a * (1.0 + ALIKE) => faster("B", "A", b, a),
            _ => "The processor's clock differed between sessions".to_owned(),
        };
        let differences: Vec<Verdict> = (before.iter().zip(after))
            .filter(|(before, _)| matches!(before.verdict, Verdict::Faster | Verdict::Slower))
            .map(|(_, after)| after.verdict)
            .collect();
        let all = differences.len();
        let count = |those: &[Verdict]| differences.iter().filter(|it| those.contains(it)).count();
        let open = count(&[Verdict::NotComparable]);
        let explained = count(&[Verdict::Equivalent, Verdict::Inconclusive]);
        let explains = match all {
            0 => String::new(),
            all => format!(": that explains {explained} of {all} differences"),
        };
        let may_explain = match open {
            0 => String::new(),
            open => format!(", and may explain {open} more"),
        };
        let hz = gigahertz(self.hz);
        format!("{clocks}{explains}{may_explain}. Values are compared at {hz}.")
    }
}

/// The highest clock that `run` sustained, in Hz; `None` if it is not known or its cores are of several types.
fn highest_hz(run: &Run) -> Option<f64> {
    let points = run.measured().flat_map(|record| &record.points);
    let batches: Vec<_> = points.flat_map(|point| &point.batches).collect();
    match RunClock::of(&batches, &run.machine)?.cores.as_slice() {
        [core] => core.levels.first()?.hz,
        _ => None,
    }
}

fn faster(one: &str, other: &str, high: f64, low: f64) -> String {
    format!(
        "{one}'s processor ran {} faster than {other}'s ({} and {})",
        Unit::Share.show(high / low - 1.0, 2),
        gigahertz(high),
        gigahertz(low)
    )
}

/// The rows at one clock, from those with the least and with the most growth that is possible where none is
/// known: where the two do not agree, the clock may be the reason.
pub(super) fn agreed<'a>(least: Vec<Row<'a>>, most: Vec<Row<'a>>) -> Vec<Row<'a>> {
    let rows = least.into_iter().zip(most);
    rows.map(|(least, most)| match (least.verdict, most.verdict) {
        (Verdict::Inconclusive, _) => least,
        (_, Verdict::Inconclusive) => Row {
            verdict: most.verdict,
            remedy: most.remedy,
            ..least
        },
        (one, other) if one == other => least,
        _ => Row {
            verdict: Verdict::NotComparable,
            ..least
        },
    })
    .collect()
}
