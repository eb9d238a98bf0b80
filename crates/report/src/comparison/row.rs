//! One metric at one point, on both sides.

use crate::show::Word;
use crate::show::words::{EQUIVALENT, FASTER, INCONCLUSIVE, NOT_COMPARABLE, SLOWER, UNTESTED};
use instrument::experiment::{Better, Definition, Metric};
use instrument::point::Point;
use instrument::statistics::Interval;
use std::cmp::Ordering;

/// One metric at one point, on both sides.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The experiment.
    pub definition: &'a Definition,
    /// The point.
    pub point: &'a Point,
    /// The point of the second side, where that was measured on another operating system and has another
    /// point, or another meaning of it, for the same purpose.
    pub other_point: Option<OtherPoint<'a>>,
    /// The metric.
    pub metric: &'a Metric,
    /// The first side's value.
    pub a: Value,
    /// The second side's value.
    pub b: Value,
    /// Improvement of the second side: 1.05 means 5 % faster, for metrics of either direction.
    pub ratio: f64,
    /// Its 95 % confidence interval, or the range over all pairs of sessions where these are so far apart
    /// that their spread does not matter; `None` if the spread is unknown.
    pub interval: Option<Interval>,
    /// Differences up to this are ignored: 0.02 for 2 %.
    pub margin: f64,
    /// The p-value of "no more than the margin", adjusted for all rows; `None` if untested.
    pub adjusted_p: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The remedy for an inconclusive row.
    pub remedy: Option<Remedy>,
    /// True if a warning concerns the metric in any session.
    pub doubtful: bool,
    /// Number of sessions that were left out, since they were far worse than all others of their side.
    pub left_out: usize,
}

/// The point of another operating system that is compared with that of the first side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherPoint<'a> {
    /// The point.
    pub point: &'a Point,
    /// The difference of the two, as sentences.
    pub difference: &'static str,
}

/// The value of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The geometric mean of its sessions, in the metric's unit.
    pub centre: f64,
    /// The value of each session.
    pub sessions: Vec<f64>,
}

/// The verdict on the second side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better, by more than the margin.
    Faster,
    /// Worse, by more than the margin.
    Slower,
    /// The same within the margin.
    Equivalent,
    /// Different, by more than the margin, between sides that ran under different conditions, which
    /// may be the reason.
    NotComparable,
    /// Not decided by these sessions.
    Inconclusive,
    /// Not tested: one side has no spread.
    Untested,
}

/// The remedy for an inconclusive row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// About this many sessions on each side, if the difference stays as estimated.
    Sessions(usize),
    /// No practical number of sessions decides it: the difference lies at the margin itself.
    AtTheMargin,
    /// Several sessions: this row has no information on its spread.
    Spread,
}

/// Source of the spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Differences between sessions, as intended.
    Sessions,
    /// The outlook from one session on each side: intervals without verdicts. Those of older
    /// runs rest on differences between processes alone.
    Processes,
    /// No spread: one side was reported without it.
    Unknown,
}

impl Row<'_> {
    /// Size of the difference in either direction.
    pub fn size(&self) -> f64 {
        self.ratio.ln().abs()
    }

    /// Lower bound of the size, from the interval; negative if the interval includes 1.
    fn certain_size(&self) -> f64 {
        self.interval.map_or(f64::NEG_INFINITY, |interval| {
            interval.low.ln().max(-interval.high.ln())
        })
    }

    /// Order of display: the largest certain difference first, and what is neither decided nor known last.
    pub(super) fn by_certainty(&self, other: &Self) -> Ordering {
        let is_unknown = |row: &Self| row.verdict == Verdict::Inconclusive && row.is_vague();
        let certain = other.certain_size().total_cmp(&self.certain_size());
        (is_unknown(self).cmp(&is_unknown(other)))
            .then(certain)
            .then(other.size().total_cmp(&self.size()))
    }
}

impl Verdict {
    /// The word for the verdict.
    pub fn word(self) -> Word {
        match self {
            Self::Faster => FASTER,
            Self::Slower => SLOWER,
            Self::Equivalent => EQUIVALENT,
            Self::NotComparable => NOT_COMPARABLE,
            Self::Inconclusive => INCONCLUSIVE,
            Self::Untested => UNTESTED,
        }
    }
}

/// The logarithm of `value`, signed so that more is better.
pub(crate) fn merit(metric: &Metric, value: f64) -> f64 {
    towards_better(metric.better) * value.ln()
}

/// The sign of a change for the better.
pub(crate) fn towards_better(better: Better) -> f64 {
    match better {
        Better::Lower => -1.0,
        Better::Higher | Better::Neither => 1.0,
    }
}

#[cfg(test)]
impl<'a> Row<'a> {
    /// A row of a definition's first metric, whose interval reaches 2 % to both sides of `ratio`.
    pub(crate) fn made_up(definition: &'a Definition, point: &'a Point, ratio: f64) -> Self {
        let value = || Value {
            centre: 1.0,
            sessions: vec![1.0],
        };
        Self {
            definition,
            point,
            other_point: None,
            metric: &definition.metrics[0],
            a: value(),
            b: value(),
            ratio,
            interval: Interval::new(ratio * 0.98, ratio * 1.02),
            margin: 0.02,
            adjusted_p: None,
            verdict: Verdict::Equivalent,
            remedy: None,
            doubtful: false,
            left_out: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Verdict};
    use crate::made_up::definition;
    use instrument::point::Point;
    use instrument::statistics::Interval;

    #[test]
    fn certain_differences_come_first_and_undecided_values_that_are_not_known_last() {
        let definition = definition("process.made_up");
        let point = Point::new();
        let ordered = |verdict| {
            let intervals = [
                (1e-5, 1e-7, 0.000_93),
                (900.0, 1.2, 1e6),
                (1.1, 0.9, 1.3),
                (2.0, 1.5, 2.6),
            ];
            let mut rows = intervals.map(|(ratio, low, high)| Row {
                interval: Interval::new(low, high),
                verdict,
                ..Row::made_up(&definition, &point, ratio)
            });
            rows.sort_by(Row::by_certainty);
            rows.map(|row| row.ratio.to_string())
        };
        assert_eq!(ordered(Verdict::Slower), ["0.00001", "2", "900", "1.1"]);
        assert_eq!(
            ordered(Verdict::Inconclusive),
            ["2", "1.1", "0.00001", "900"]
        );
    }
}
