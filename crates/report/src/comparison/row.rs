//! One metric at one point, on both sides.

use instrument::experiment::{Better, Definition, Metric};
use instrument::point::Point;
use instrument::statistics::Interval;

/// One metric at one point, on both sides.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The experiment.
    pub definition: &'a Definition,
    /// The point.
    pub point: &'a Point,
    /// The metric.
    pub metric: &'a Metric,
    /// What the first side gave.
    pub a: Value,
    /// What the second side gave.
    pub b: Value,
    /// How much better the second side is: 1.05 means 5 % faster, whichever way the metric counts.
    pub ratio: f64,
    /// Its 95 % confidence interval; `None` where no spread is known.
    pub interval: Option<Interval>,
    /// Differences up to this do not count: 0.02 for 2 %.
    pub margin: f64,
    /// The p-value of "no more than the margin", adjusted for all rows; `None` where untested.
    pub adjusted_p: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
    /// Whether a warning touches the metric in any session.
    pub doubtful: bool,
}

/// What one side gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The geometric mean of its sessions, in the metric's unit.
    pub centre: f64,
    /// Each session.
    pub sessions: Vec<f64>,
}

/// Whether the second side is better.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Better, by more than the margin.
    Faster,
    /// Worse, by more than the margin.
    Slower,
    /// The same within the margin.
    Equivalent,
    /// These sessions do not tell.
    Inconclusive(Resolution),
    /// One side's numbers came without their spread, so that there is nothing to test.
    Untested,
}

/// What would settle a row that is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// About so many sessions on each side, if the difference stays what it seems.
    Sessions(usize),
    /// More sessions than anyone runs: the difference lies at the margin itself.
    AtTheMargin,
    /// Several sessions, since here there is nothing to tell the spread by.
    Spread,
    /// Longer sessions, since here a single process stands for one.
    Longer,
}

/// Where the spread comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// From session to session, as it should.
    Sessions,
    /// From process to process within one session each: what differs between sessions is not in it, so
    /// that there are intervals and no verdicts.
    Processes,
    /// Nowhere: one side was reported without it.
    Unknown,
}

impl Row<'_> {
    /// How large the difference is, whichever way it goes.
    pub fn size(&self) -> f64 {
        self.ratio.ln().abs()
    }

    /// How large the difference is at least, by its interval: negative where that holds 1.
    pub(super) fn certain_size(&self) -> f64 {
        self.interval.map_or(f64::NEG_INFINITY, |interval| {
            self.size() - (interval.high / interval.low).ln() / 2.0
        })
    }
}

impl Verdict {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive(_) => "inconclusive",
            Self::Untested => "not tested",
        }
    }
}

impl Resolution {
    /// What would settle it, in words.
    pub fn words(self) -> String {
        match self {
            Self::Sessions(count) => format!("about {count} sessions would tell"),
            Self::AtTheMargin => "at the margin itself".into(),
            Self::Spread => "more sessions would tell".into(),
            Self::Longer => "longer sessions would tell, of more than one process".into(),
        }
    }
}

/// The logarithm of `value` so that more is better.
pub(super) fn merit(metric: &Metric, value: f64) -> f64 {
    match metric.better {
        Better::Lower => -value.ln(),
        Better::Higher | Better::Neither => value.ln(),
    }
}
